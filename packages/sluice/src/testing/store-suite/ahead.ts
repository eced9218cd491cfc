import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import type { Call, CallGroup } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { audit, type TraceEntry } from '../audit.ts'
import { seeded } from '../random.ts'
import { type Answer, type Bench, START } from './bench.ts'

const SECOND: Micros = 1_000_000
const TRACE = 400

export function aheadOf(bench: Bench): void {
  const { call, decide, fresh, list, sameState } = bench
  const offered = (): boolean => bench.store.capabilities.groupOptions?.includes('maxWait') === true
  const wait = async (calls: readonly Call[], seconds: number, now: Micros): Promise<Answer> => {
    const group: CallGroup = { calls, options: { maxWait: seconds * SECOND } }
    const [answer] = await list([group], now)
    return answer as Answer
  }
  const leave = async (one: Call, { calls: [verdict] }: Answer, now: Micros): Promise<void> => {
    await bench.change([{ kind: 'leave', call: one, after: verdict?.after }], now)
  }

  describe.runIf(bench.tags.includes('tb'))('waits that are charged ahead', () => {
    it('queue behind each other, up to the longest wait', async (context) => {
      context.skip(!offered(), 'the store has no maxWait')
      const one = call(fresh(), tokenBucket({ rate: '1/s', burst: 2 }))
      const waits: (number | undefined)[] = []
      for (let index = 0; index < 5; index += 1) waits.push((await wait([one], 3, START)).retryAfter)
      expect(waits).toEqual([undefined, undefined, SECOND, 2 * SECOND, 3 * SECOND])
      expect(await wait([one], 3, START)).toMatchObject({ outcome: 'denied', retryAfter: SECOND })
      expect(await wait([one], 3, START + SECOND - 1)).toMatchObject({ outcome: 'denied', retryAfter: 1 })
      expect(await wait([one], 3, START + SECOND)).toMatchObject({ outcome: 'allowed', retryAfter: 3 * SECOND })
      await sameState(one.id)
    })

    it('are a debt to everybody else: nothing remains, and the wait counts from the real level', async (context) => {
      context.skip(!offered(), 'the store has no maxWait')
      const one = call(fresh(), tokenBucket({ rate: '1/s', burst: 2 }), 2)
      await wait([one], 10, START)
      await wait([one], 10, START)
      expect(await decide([one], START)).toMatchObject({ outcome: 'denied', retryAfter: 4 * SECOND, calls: [{ remaining: 0 }] })
    })

    it('are impossible above the burst, and denied by a block', async (context) => {
      context.skip(!offered() || !bench.can('block'), 'the store has no maxWait, or no block')
      const bucket = tokenBucket({ rate: '1/s', burst: 2 })
      expect((await wait([call(fresh(), bucket, 3)], 60, START)).outcome).toBe('impossible')
      const blocked = call(fresh(), bucket)
      await bench.block(blocked.id, 5 * SECOND, START)
      expect(await wait([blocked], 60, START)).toMatchObject({ outcome: 'denied', retryAfter: 5 * SECOND })
    })

    it('of a group are those of its slowest limit, and a group that is denied charges nothing', async (context) => {
      context.skip(!offered(), 'the store has no maxWait')
      const key = fresh()
      const fast = call(`${key}:fast`, tokenBucket({ rate: '10/s', burst: 1 }))
      const slow = call(`${key}:slow`, tokenBucket({ rate: '1/s', burst: 1 }))
      await wait([fast, slow], 3, START)
      expect(await wait([fast, slow], 3, START)).toMatchObject({ outcome: 'allowed', retryAfter: SECOND })
      for (let index = 0; index < 2; index += 1) await wait([slow], 3, START)
      expect(await wait([fast, slow], 3, START)).toMatchObject({ outcome: 'denied', retryAfter: SECOND })
      for (const { id } of [fast, slow]) await sameState(id)
    })

    it('count from the latest time that the state has seen, if the clock steps back', async (context) => {
      context.skip(!offered(), 'the store has no maxWait')
      const one = call(fresh(), tokenBucket({ rate: '1/s', burst: 1 }))
      await decide([one], START)
      expect(await wait([one], 1, START - SECOND)).toMatchObject({ outcome: 'allowed', retryAfter: 2 * SECOND })
      expect(await wait([one], 1, START - SECOND)).toMatchObject({ outcome: 'denied', retryAfter: 2 * SECOND })
      await sameState(one.id)
    })

    it('add up where a group has a state twice', async (context) => {
      context.skip(!offered(), 'the store has no maxWait')
      const bucket = tokenBucket({ rate: '1/s', burst: 3 })
      const one = call(fresh(), bucket, 1)
      const two = { ...one, cost: 2 * one.cost }
      await wait([one, two], 10, START)
      expect(await wait([one, two], 10, START)).toMatchObject({ outcome: 'allowed', retryAfter: 3 * SECOND })
      expect((await wait([two, two], 60, START)).outcome).toBe('impossible')
      expect(await wait([two, one], 5, START)).toMatchObject({ outcome: 'denied', retryAfter: SECOND })
      await sameState(one.id)
    })

    it('give back what nobody charged after them', async (context) => {
      context.skip(!offered() || !bench.can('leave'), 'the store has no maxWait')
      const one = call(fresh(), tokenBucket({ rate: '1/s', burst: 1 }))
      await wait([one], 10, START)
      const second = await wait([one], 10, START)
      const third = await wait([one], 10, START)
      expect(third.retryAfter).toBe(2 * SECOND)
      // The third group's turn was computed with the second's charge. So the second gets back only its charge less what was charged after
      // it: nothing.
      await leave(one, second, START)
      expect((await wait([one], 10, START)).retryAfter).toBe(3 * SECOND)
      const fifth = await wait([one], 10, START)
      await leave(one, fifth, START)
      await sameState(one.id)
      expect((await wait([one], 10, START)).retryAfter).toBe(4 * SECOND)
      // The third group starts at second 2, and the last at second 4. The two tokens refilled between them leave no room in the bucket of
      // one, so nothing is given back.
      await leave(one, third, START + 2 * SECOND)
      await sameState(one.id)
      expect((await wait([one], 10, START + 2 * SECOND)).retryAfter).toBe(3 * SECOND)
    })

    it('give back tokens that were there as far as the bucket had room for them since', async (context) => {
      context.skip(!offered() || !bench.can('leave'), 'the store has no maxWait')
      const key = fresh()
      const bucket = tokenBucket({ rate: '1/s', burst: 4 })
      const [one, two, four] = [1, 2, 4].map((cost) => call(key, bucket, cost)) as [Call, Call, Call]
      const first = await wait([two], 10, START)
      await wait([two], 10, START)
      expect((await wait([one], 10, START)).retryAfter).toBe(SECOND)
      // With the first charge alone, the bucket would hold three of its four tokens at second 1, when the last call starts. So it has room
      // for one, which is given back.
      await leave(two, first, START)
      await sameState(one.id)
      expect((await wait([one], 10, START)).retryAfter).toBe(SECOND)
      const last = await wait([four], 10, START + 2 * SECOND)
      expect(last.retryAfter).toBe(3 * SECOND)
      // Without the charge of four tokens, the bucket would have been full at second 5, and the call of one would have left three. So
      // three of the four are given back.
      await decide([one], START + 6 * SECOND)
      await leave(four, last, START + 6 * SECOND)
      await sameState(one.id)
      expect(await decide([four], START + 6 * SECOND)).toMatchObject({ outcome: 'denied', retryAfter: SECOND })
    })

    it('give back nothing after a reset or a change of the limit', async (context) => {
      context.skip(!offered() || !bench.can('leave', 'reset'), 'the store has no maxWait, or no reset')
      const key = fresh()
      const one = call(key, tokenBucket({ rate: '1/s', burst: 1 }))
      const other = call(key, tokenBucket({ rate: '2/s', burst: 1 }))
      await wait([one], 10, START)
      const second = await wait([one], 10, START)
      await bench.change([{ kind: 'reset', id: one.id }], START)
      await leave(one, second, START)
      expect((await wait([one], 10, START)).retryAfter).toBeUndefined()
      const third = await wait([one], 10, START)
      await wait([other], 10, START)
      await leave(one, third, START)
      await leave(other, third, START)
      await sameState(one.id)
    })

    it('admit no more than the limit by the instants at which work starts, whoever leaves', async (context) => {
      context.skip(!offered() || !bench.can('leave'), 'the store has no maxWait')
      const random = seeded(13)
      const pick = (count: number): number => Math.floor(random() * count)
      const limit = tokenBucket({ rate: '7/3s', burst: 4 })
      const key = fresh()
      const entries: (TraceEntry & { readonly left?: true })[] = []
      let now = START
      const waiting: { readonly one: Call; readonly answer: Answer; readonly entry: TraceEntry; readonly starts: Micros }[] = []
      const steps = bench.short ? TRACE / 4 : TRACE
      for (let made = 0; made < steps; made += 1) {
        now += pick(4) * pick(400_000)
        const one = call(key, limit, 1 + pick(3))
        if (pick(5) === 0 && waiting.length > 0) {
          const [gone] = waiting.splice(pick(waiting.length), 1) as [(typeof waiting)[number]]
          if (gone.starts <= now) continue
          await leave(gone.one, gone.answer, now)
          entries.splice(entries.indexOf(gone.entry), 1)
          continue
        }
        const answer = pick(3) === 0 ? await decide([one], now) : await wait([one], pick(6), now)
        const { outcome, retryAfter = 0 } = answer
        if (outcome !== 'allowed') continue
        const entry = { at: now + retryAfter, cost: one.cost / 1_000_000, allowed: true }
        entries.push(entry)
        if (retryAfter > 0) waiting.push({ one, answer, entry, starts: now + retryAfter })
      }
      await sameState(call(key, limit).id)
      expect(entries.length).toBeGreaterThan(steps / 4)
      const inOrder = entries.toSorted((a, b) => a.at - b.at)
      expect(audit(inOrder, limit).overGrant).toBeLessThanOrEqual(0)
    })
  })
}
