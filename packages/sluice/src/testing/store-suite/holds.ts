import { describe, expect, it } from 'vitest'
import { concurrency } from '../../algorithms/concurrency.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import type { HoldReport } from '../../algorithms/settle-hold.ts'
import type { Call } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { TENS } from '../limits.ts'
import { seeded } from '../random.ts'
import { type Answer, type Bench, START } from './bench.ts'
import { heldGroup, recordOf, settlementOf } from './held.ts'

const SECOND: Micros = 1_000_000
const MINUTE = 60 * SECOND
const TRACE = 300

export function holdsOf(bench: Bench): void {
  const { call, decide, fresh, list, sameState, tags } = bench
  const offered = (): boolean => bench.store.capabilities.groupOptions?.includes('hold') === true && bench.can('settle', 'extend')
  const why = 'the store has no holds'
  /** Algorithms of limits that one hold may charge. */
  const together = bench.options.holdsWithoutLogs === true ? tags.filter((tag) => tag !== 'sl') : tags
  const reserve = async (calls: readonly Call[], id: string, now: Micros, seconds = 60): Promise<Answer> =>
    (await list([heldGroup(calls, id, seconds * SECOND)], now))[0] as Answer
  const settle = async (calls: readonly Call[], id: string, tokens: number | undefined, now: Micros): Promise<HoldReport> => {
    const [result] = await bench.change([settlementOf(calls, id, tokens === undefined ? undefined : tokens * 1_000_000)], now)
    return result?.hold as HoldReport
  }
  const extend = async (calls: readonly Call[], id: string, seconds: number, now: Micros): Promise<HoldReport> => {
    const [{ id: state }] = calls as readonly [Call]
    const change = { kind: 'extend', id: recordOf(state.key, id), calls, holder: id, micros: seconds * SECOND } as const
    return (await bench.change([change], now))[0]?.hold as HoldReport
  }
  const remainingOf = async (one: Call, now: Micros): Promise<number | undefined> =>
    (await bench.peek([{ ...one, cost: 1_000_000 }], now)).calls[0]?.remaining

  describe('holds', () => {
    describe.each(tags)('%s', (tag) => {
      const limit = TENS[tag]

      it('charge at once, and give back what was not used, once', async (context) => {
        context.skip(!offered(), why)
        const one = call(fresh(), limit, 6)
        expect((await reserve([one], 'a', START)).outcome).toBe('allowed')
        expect(await remainingOf(one, START)).toBe(4)
        expect(await settle([one], 'a', 2, START)).toMatchObject({ status: 'settled', parts: [{ held: 6_000_000, charged: 2_000_000 }] })
        await sameState(one.id)
        expect(await remainingOf(one, START)).toBe(8)
        for (const tokens of [0, 100, undefined]) {
          expect(await settle([one], 'a', tokens, START + MINUTE)).toMatchObject({ status: 'settled', repeated: true })
        }
        await sameState(one.id)
      })

      it('charge what was used more, as far as one capacity below empty, and report the rest', async (context) => {
        context.skip(!offered(), why)
        const one = call(fresh(), limit, 6)
        await reserve([one], 'a', START)
        expect(await settle([one], 'a', 100, START)).toMatchObject({ parts: [{ charged: 20_000_000, overage: 80_000_000 }] })
        await sameState(one.id)
        expect(await remainingOf(one, START)).toBe(0)
        expect(await settle([one], 'a', 0, START)).toMatchObject({ repeated: true, parts: [{ charged: 20_000_000, overage: 80_000_000 }] })
        await sameState(one.id)
      })

      it('that are repeated charge nothing, and a hold without a settlement stays spent', async (context) => {
        context.skip(!offered(), why)
        const one = call(fresh(), limit, 6)
        await reserve([one], 'a', START)
        const again = await reserve([one], 'a', START + 1)
        // `resetAfter` is the time until the end of the record, which is kept for a minute after the hold's end.
        expect(again.calls[1]).toMatchObject({ outcome: 'denied', record: { at: START }, resetAfter: 2 * MINUTE - 1 })
        await sameState(one.id)
        expect(await settle([one], 'a', 0, START + 60 * SECOND)).toMatchObject({ status: 'expired' })
        await sameState(one.id)
        expect(await settle([one], 'a', 0, START + 2 * MINUTE)).toMatchObject({ status: 'unknown', parts: [undefined] })
        expect((await reserve([one], 'a', START + 2 * MINUTE)).outcome).toBe('allowed')
      })

      it('settle without a number leaves what was held, and gives nothing back later', async (context) => {
        context.skip(!offered(), why)
        const one = call(fresh(), limit, 6)
        await reserve([one], 'a', START)
        expect(await settle([one], 'a', undefined, START)).toMatchObject({ status: 'settled', parts: [{ charged: 6_000_000 }] })
        await settle([one], 'a', 0, START)
        await sameState(one.id)
        expect(await remainingOf(one, START)).toBe(4)
      })
    })

    it('over several limits are charged and settled together', async (context) => {
      context.skip(!offered(), why)
      const key = fresh()
      const all = together.map((tag) => call(key, TENS[tag], 6))
      expect((await reserve(all, 'a', START)).outcome).toBe('allowed')
      expect((await reserve(all, 'b', START)).outcome).toBe('denied')
      expect(await settle(all, 'b', 0, START)).toMatchObject({ status: 'unknown' })
      expect((await settle(all, 'a', 1, START)).parts).toHaveLength(together.length)
      for (const { id } of all) await sameState(id)
      expect((await reserve(all, 'b', START)).outcome).toBe('allowed')
    })

    it('give nothing back for another key, for a limit that they did not charge, or after a reset', async (context) => {
      context.skip(!offered() || !bench.can('reset'), why)
      const [mine, other] = [call(fresh(), TENS.tb, 6), call(fresh(), TENS.tb, 6)]
      await decide([other], START)
      await reserve([mine], 'a', START)
      expect(await settle([other], 'a', 0, START)).toMatchObject({ status: 'unknown' })
      await sameState(other.id)
      await bench.change([{ kind: 'reset', id: mine.id }], START)
      await settle([mine], 'a', 0, START)
      await sameState(mine.id)
      expect(await remainingOf(mine, START)).toBe(10)
    })

    it('of a log report what was taken back of them alone, also when that takes the log back in time (law 3)', async (context) => {
      context.skip(!offered() || !tags.includes('sl'), why)
      const one = call(fresh(), TENS.sl, 6)
      // Under this limit the log keeps its entries for a longer window.
      await reserve([{ ...one, limit: slidingWindowLog({ limit: 10, window: '10s' }) }], 'a', START)
      await reserve([one], 'b', START + 2 * SECOND)
      expect(await settle([one], 'b', 0, START + SECOND / 2)).toMatchObject({ parts: [{ held: 6_000_000, charged: 0 }] })
      await sameState(one.id)
    })

    it('are extended while they are open, and not after', async (context) => {
      context.skip(!offered(), why)
      const one = call(fresh(), TENS.tb, 6)
      await reserve([one], 'a', START, 1)
      expect(await extend([one], 'a', 5, START + SECOND - 1)).toMatchObject({ status: 'open', expires: START + 6 * SECOND - 1 })
      expect(await extend([one], 'a', 1, START + SECOND)).toMatchObject({ status: 'open', expires: START + 6 * SECOND - 1 })
      expect(await extend([one], 'a', 5, START + 6 * SECOND - 1)).toMatchObject({ status: 'expired' })
      expect(await settle([one], 'a', 0, START + 6 * SECOND)).toMatchObject({ status: 'expired' })
      expect(await extend([one], 'none', 5, START)).toMatchObject({ status: 'unknown', expires: 0 })
    })

    it('have slots that end when they end: extended with them, given back with them, and never taken anew', async (context) => {
      context.skip(!offered() || !bench.can('release'), why)
      const key = fresh()
      const [slot, bucket] = [call(key, concurrency({ limit: 2, holdMs: 10_000 })), call(key, TENS.tb)]
      const heldNow = async (now: Micros): Promise<number> => 2 - ((await bench.peek([slot], now)).calls[0]?.remaining ?? 0)
      for (const id of ['a', 'b']) await reserve([slot, bucket], id, START, 2)
      expect(await extend([slot, bucket], 'a', 6, START + SECOND)).toMatchObject({ status: 'open', expires: START + 7 * SECOND })
      await sameState(slot.id)
      // A shorter extension does not move the hold's end. An extended slot keeps its fencing number.
      expect(await extend([slot, bucket], 'a', 1, START + SECOND)).toMatchObject({ status: 'open', expires: START + 7 * SECOND })
      expect(await list([{ calls: [slot], options: { hold: { id: 'a' } } }], START + SECOND)).toMatchObject([
        { calls: [{ grant: { until: START + 7 * SECOND, fence: START, again: true } }] },
      ])
      expect([await heldNow(START + 2 * SECOND), await heldNow(START + 7 * SECOND - 1)]).toEqual([1, 1])
      // The slot of the open hold was given back. An extension does not take it again.
      await bench.change([{ kind: 'release', call: slot, holder: 'a' }], START + 3 * SECOND)
      expect(await extend([slot, bucket], 'a', 9, START + 3 * SECOND)).toMatchObject({ status: 'open', expires: START + 12 * SECOND })
      expect(await heldNow(START + 3 * SECOND)).toBe(0)
      await reserve([slot, bucket], 'c', START + 3 * SECOND, 2)
      expect(await extend([bucket], 'c', 4, START + 4 * SECOND)).toMatchObject({ status: 'open' })
      expect(await heldNow(START + 5 * SECOND)).toBe(0)
      await reserve([slot, bucket], 'd', START + 5 * SECOND, 2)
      await extend([slot, bucket], 'd', 60, START + 6 * SECOND)
      await settle([slot, bucket], 'd', 1, START + 20 * SECOND)
      expect(await heldNow(START + 20 * SECOND)).toBe(0)
      for (const { id } of [slot, bucket]) await sameState(id)
    })

    it('of many callers at once follow the reference, whoever settles when', async (context) => {
      context.skip(!offered(), why)
      const random = seeded(2_026)
      const pick = (count: number): number => Math.floor(random() * count)
      const key = fresh()
      const open: { readonly calls: readonly Call[]; readonly id: string }[] = []
      let now = START
      for (let made = 0; made < (bench.short ? TRACE / 3 : TRACE); made += 1) {
        now += pick(4) * pick(300_000)
        const some = together.filter(() => pick(2) === 0)
        const calls = (some.length === 0 ? together : some).map((tag) => call(key, TENS[tag], 1 + pick(6)))
        const kind = pick(10)
        const held = open[pick(open.length)]
        if (kind < 4) {
          open.push({ calls, id: `t${made}` })
          await reserve(calls, `t${made}`, now, 1 + pick(4))
        } else if (kind < 8 && held !== undefined) await settle(held.calls, held.id, pick(6) === 0 ? undefined : pick(30) / 2, now)
        else if (kind === 8 && held !== undefined) await extend(held.calls, held.id, 1 + pick(3), now)
        else await decide(calls, now)
        if (open.length > 12) open.shift()
      }
      for (const tag of together) await sameState(call(key, TENS[tag]).id)
    })
  })
}
