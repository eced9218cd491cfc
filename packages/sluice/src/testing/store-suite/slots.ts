import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { concurrency } from '../../algorithms/concurrency.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import type { Call, CallGroup } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { seeded } from '../random.ts'
import { type Answer, type Bench, START } from './bench.ts'

const SECOND: Micros = 1_000_000
const HOLD: Micros = 10 * SECOND
const NO_HOLD = 'the store has no hold'

export function slotsOf(bench: Bench): void {
  const { call, fresh, list, sameState } = bench
  const offered = (): boolean => bench.store.capabilities.groupOptions?.includes('hold') === true && bench.can('release')
  const slots = (limit: number): AnyLimit => concurrency({ limit, holdMs: HOLD / 1_000 })
  const acquire = async (calls: readonly Call[], id: string, now: Micros, micros?: Micros): Promise<Answer> => {
    const group: CallGroup = { calls, options: { hold: micros === undefined ? { id } : { id, micros } } }
    const [answer] = await list([group], now)
    return answer as Answer
  }
  const outcomeOf = async (...args: Parameters<typeof acquire>): Promise<string> => (await acquire(...args)).outcome
  const release = async (one: Call, holder: string, now: Micros): Promise<void> => {
    await bench.change([{ kind: 'release', call: one, holder }], now)
    await sameState(one.id)
  }

  describe('slots', () => {
    it('are held by as many as the limit says, and free when they are given back', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const one = call(fresh(), slots(2))
      expect(await acquire([one], 'a', START)).toMatchObject({
        outcome: 'allowed',
        calls: [{ remaining: 1, grant: { until: START + HOLD } }],
      })
      expect(await outcomeOf([one], 'b', START)).toBe('allowed')
      expect(await acquire([one], 'c', START)).toMatchObject({ outcome: 'denied', calls: [{ remaining: 0, retryAfter: HOLD }] })
      await release(one, 'a', START + 1)
      expect(await outcomeOf([one], 'c', START + 1)).toBe('allowed')
      expect(await outcomeOf([one], 'd', START + 1)).toBe('denied')
      await sameState(one.id)
    })

    it('a slot counter whose TTL every INCR renews never heals: each hold ends by itself, whatever others do', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const one = call(fresh(), slots(2))
      await acquire([one], 'died', START)
      // A busy key: holders take slots, give them back and are denied.
      for (let turn = 1; turn < 10; turn += 1) {
        expect(await outcomeOf([one], `busy ${turn}`, START + turn * SECOND)).toBe('allowed')
        expect(await outcomeOf([one], 'too many', START + turn * SECOND)).toBe('denied')
        await release(one, `busy ${turn}`, START + turn * SECOND + 1)
      }
      await acquire([one], 'last', START + HOLD - 2)
      expect(await outcomeOf([one], 'next', START + HOLD - 1)).toBe('denied')
      expect(await outcomeOf([one], 'next', START + HOLD)).toBe('allowed')
    })

    it('with the same id are one slot, and a repeated acquire does not make the hold longer', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const one = call(fresh(), slots(2))
      const { calls: first } = await acquire([one], 'a', START)
      for (let turn = 1; turn < 5; turn += 1) {
        const again = await acquire([one], 'a', START + turn * SECOND)
        expect([again.outcome, again.calls[0]?.remaining]).toEqual(['allowed', 1])
        expect(again.calls[0]?.grant).toEqual({ ...first[0]?.grant, again: true })
      }
      expect(await acquire([one], 'a', START + HOLD)).toMatchObject({ calls: [{ grant: { until: START + 2 * HOLD } }] })
    })

    it('are given back once, and only by their holder: released twice, late, or for another id, nothing changes', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const one = call(fresh(), slots(2))
      await release(one, 'nobody', START)
      await acquire([one], 'a', START)
      await acquire([one], 'b', START)
      await release(one, 'c', START + 1)
      expect(await outcomeOf([one], 'c', START + 1)).toBe('denied')
      await release(one, 'a', START + 2)
      await release(one, 'a', START + 3)
      expect(await acquire([one], 'c', START + 3)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
      await release(one, 'b', START + HOLD + 1)
      expect(await acquire([one], 'd', START + HOLD + 1)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
    })

    it('have fencing numbers that grow with every grant, also within one microsecond and when the clock steps back', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const one = call(fresh(), slots(3))
      const fences: number[] = []
      const take = async (id: string, now: Micros): Promise<void> => {
        fences.push((await acquire([one], id, now)).calls[0]?.grant?.fence ?? 0)
      }
      for (const id of ['a', 'b', 'c']) await take(id, START)
      await release(one, 'a', START)
      await take('d', START - SECOND)
      expect(fences).toEqual([START, START + 1, START + 2, START + 3])
      await release(one, 'd', START + SECOND)
      await take('e', START + SECOND)
      expect(fences.at(-1)).toBe(START + SECOND)
    })

    it('raised and then rejected, and not given back: never; slots are taken with the other limits of a group, or not at all', async (context) => {
      context.skip(!offered() || !bench.tags.includes('tb'), `${NO_HOLD}, or no token bucket`)
      const key = fresh()
      const [held, bucket] = [call(key, slots(2)), call(key, tokenBucket({ rate: '1/s', burst: 3 }))]
      expect(await outcomeOf([bucket, held], 'a', START)).toBe('allowed')
      expect(await outcomeOf([held, bucket], 'b', START)).toBe('allowed')
      expect(await outcomeOf([bucket, held], 'c', START)).toBe('denied')
      await release(held, 'a', START)
      expect(await outcomeOf([bucket, held], 'd', START)).toBe('allowed')
      await release(held, 'b', START)
      // No token is left, so no slot is taken.
      expect(await acquire([held, bucket], 'e', START)).toMatchObject({ outcome: 'denied', calls: [{ remaining: 1 }, { remaining: 0 }] })
      for (const { id } of [held, bucket]) await sameState(id)
    })

    it('of a group over several keys are taken all or none, and a holder keeps what it had before', async (context) => {
      context.skip(!offered() || !bench.tags.includes('tb'), `${NO_HOLD}, or no token bucket`)
      const held = call(`${fresh()}a`, slots(2))
      const [full, empty] = ['b', 'c'].map((end) => call(`${fresh()}${end}`, tokenBucket({ rate: '1/d', burst: 1 }))) as [Call, Call]
      await acquire([empty], 'x', START)
      expect(await acquire([held, full, empty], 'a', START + 1)).toMatchObject({ outcome: 'denied' })
      expect(await bench.peek([held], START + 2)).toMatchObject({ calls: [{ remaining: 2 }] })
      expect(await outcomeOf([full, held], 'a', START + 3)).toBe('allowed')
      expect(await outcomeOf([held, empty], 'a', START + 4)).toBe('denied')
      expect(await bench.peek([held], START + 5)).toMatchObject({ calls: [{ remaining: 1 }] })
    })

    it('a lowered limit evicts nobody, and admits nobody until enough have gone (law 7)', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const key = fresh()
      const [three, one, five] = [call(key, slots(3)), call(key, slots(1)), call(key, slots(5))]
      for (const id of ['a', 'b', 'c']) await acquire([three], id, START)
      expect(await acquire([one], 'd', START + 1)).toMatchObject({ outcome: 'denied', calls: [{ remaining: 0 }] })
      for (const id of ['a', 'b']) {
        await release(one, id, START + 2)
        expect(await outcomeOf([one], 'd', START + 2)).toBe('denied')
      }
      expect(await acquire([five], 'e', START + 3)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 3 }] })
      await release(five, 'c', START + 4)
      await release(five, 'e', START + 4)
      expect(await outcomeOf([one], 'd', START + 4)).toBe('allowed')
    })

    it('are not given back early or late when the clock steps back (law 3)', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const one = call(fresh(), slots(1))
      await acquire([one], 'a', START)
      expect(await outcomeOf([one], 'b', START - 3_600 * SECOND)).toBe('denied')
      expect(await outcomeOf([one], 'b', START + HOLD - 1)).toBe('denied')
      expect(await acquire([one], 'b', START + HOLD)).toMatchObject({ calls: [{ grant: { until: START + 2 * HOLD } }] })
    })

    it('have holds of the length that the holder requests, and costs of several slots', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const key = fresh()
      const [one, three] = [call(key, slots(4)), call(key, slots(4), 3)]
      await acquire([three], 'long', START, 60 * SECOND)
      await acquire([one], 'short', START, SECOND)
      expect(await acquire([one], 'c', START)).toMatchObject({ outcome: 'denied', retryAfter: SECOND })
      expect(await acquire([three], 'c', START + SECOND)).toMatchObject({ outcome: 'denied', retryAfter: 59 * SECOND })
      expect(await outcomeOf([call(key, slots(4), 5)], 'c', START)).toBe('impossible')
      await release(one, 'long', START + 2 * SECOND)
      expect(await outcomeOf([three], 'c', START + 2 * SECOND)).toBe('allowed')
    })

    it('stay held when they are refunded or penalized, and a block denies them', async (context) => {
      context.skip(!offered() || !bench.can('adjust', 'block', 'unblock'), `${NO_HOLD}, or no adjust or block`)
      const one = call(fresh(), slots(1))
      await acquire([one], 'a', START)
      await bench.adjust(one, 1, START)
      await bench.adjust(one, -1, START)
      expect(await outcomeOf([one], 'b', START)).toBe('denied')
      await bench.block(one.id, SECOND, START)
      await release(one, 'a', START)
      expect(await acquire([one], 'b', START)).toMatchObject({ outcome: 'denied', retryAfter: SECOND, calls: [{ blockedFor: SECOND }] })
      await bench.block(one.id, null, START)
      expect(await outcomeOf([one], 'b', START)).toBe('allowed')
    })

    it('of a flood of holders are bounded, and nobody else loses a slot by it', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const limit = slots(100)
      const [flooded, other] = [call(fresh(), limit), call(fresh(), limit)]
      const groups = Array.from({ length: 300 }, (_, index): CallGroup => ({ calls: [flooded], options: { hold: { id: `${index}` } } }))
      const answers = await list(groups, START)
      expect(answers.filter(({ outcome }) => outcome === 'allowed')).toHaveLength(100)
      expect(await acquire([other], 'a', START)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 99 }] })
      await sameState(flooded.id)
    })

    it('are peeked at without being taken', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const one = call(fresh(), slots(1))
      expect(await bench.peek([one], START)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 1 }] })
      await acquire([one], 'a', START)
      expect(await bench.peek([one], START)).toMatchObject({ outcome: 'denied', calls: [{ remaining: 0 }] })
    })

    it('are never held by more than the limit, by random traces: holders that die, limits that change, time that steps back', async (context) => {
      context.skip(!offered(), NO_HOLD)
      const random = seeded(13)
      const pick = (count: number): number => Math.floor(random() * count)
      const keys = [fresh(), fresh()]
      const limits = [slots(3), slots(5), concurrency({ limit: 4, holdMs: 2_000 })]
      const live = new Map<string, { cost: number; until: Micros }>()
      let [now, latest, allowed, denied] = [START, START, 0, 0]
      for (let turn = 0; turn < (bench.short ? 150 : 1_500); turn += 1) {
        now += random() < 0.1 ? -pick(2 * SECOND) : pick(4) * pick(500_000)
        latest = Math.max(latest, now)
        const [key, limit] = [keys[pick(2)] as string, limits[pick(20) % 3] as AnyLimit]
        const id = `h${pick(12)}`
        const one = call(key, limit, 1 + (pick(6) === 0 ? 1 : 0))
        if (random() < 0.4) {
          await release(one, id, now)
          live.delete(`${key} ${id}`)
          continue
        }
        const used = (): number =>
          [...live].reduce((sum, [name, { cost, until }]) => sum + (name.startsWith(`${key} `) && until > latest ? cost : 0), 0)
        const { outcome, calls } = await acquire([one], id, now)
        if (outcome === 'denied') denied += 1
        if (outcome !== 'allowed') continue
        allowed += 1
        const { until = 0 } = calls[0]?.grant ?? {}
        const held = live.get(`${key} ${id}`)
        if (held === undefined || held.until <= latest) {
          live.set(`${key} ${id}`, { cost: one.cost, until })
          expect(used()).toBeLessThanOrEqual(limit.capacity * 1_000_000)
        }
      }
      for (const key of keys) await sameState(call(key, limits[0] as AnyLimit).id)
      expect(Math.min(allowed, denied)).toBeGreaterThan(bench.short ? 20 : 200)
    })
  })
}
