import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import type { Decided, GroupVerdict } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { systemTime } from '../../time/system.ts'
import { audit, type TraceEntry } from '../audit.ts'
import { QUICK } from '../limits.ts'
import type { Bench } from './bench.ts'
import * as verbs from '../store-verbs.ts'

export function ownClock(bench: Bench): void {
  const { tags } = bench
  const leastMs = bench.short ? 50 : 300
  describe('on its own clock', () => {
    it('is ready', () => bench.store.ready())

    it.each(tags)('law 5: with %s no interval of store time admits more than its envelope', async (tag) => {
      const [key, limit] = [bench.fresh(), QUICK[tag]]
      const seen: TraceEntry[] = []
      const start = systemTime.monotonic()
      let admitted = 0
      // Goes on until a refill was seen, because that takes longer on a busy machine.
      const goesOn = (): boolean => {
        const passed = systemTime.monotonic() - start
        return passed < leastMs || (admitted <= 20 && passed < 10_000)
      }
      const caller = async (): Promise<void> => {
        while (goesOn()) {
          const [verdict] = await verbs.decide(bench.store, [{ calls: [bench.call(key, limit)] }])
          const { at, outcome } = verdict as Decided
          const allowed = outcome === 'allowed'
          seen.push({ at, cost: 1, allowed })
          if (allowed) admitted += 1
          else await new Promise<void>((resolve) => void systemTime.after(0, resolve))
        }
      }
      await Promise.all(Array.from({ length: 8 }, caller))
      expect(audit(seen, limit).overGrant).toBe(0)
      expect(admitted).toBeGreaterThan(20)
    })

    it('takes, gives back and blocks at its own time', async (context) => {
      const { store } = bench
      context.skip(!tags.includes('tb') || !bench.can('adjust', 'block'), 'the store has no adjust or no block')
      const hour = 3_600_000_000
      const call = { ...bench.call(bench.fresh(), tokenBucket({ rate: '1/h', burst: 20 })), cost: 1_000_000 }
      const peek = async (): Promise<Decided> => (await verbs.peek(store, [{ calls: [call] }]))[0] as Decided
      /** When the bucket is full again, or when the block ends. */
      const endOf = ({ at, calls: [view] }: Decided): Micros => at + (view?.blockedFor ?? view?.resetAfter ?? 0)
      const between = (from: Decided, to: Decided, length: Micros): boolean[] => [
        endOf(to) >= from.at + length,
        endOf(to) <= to.at + length,
      ]
      const before = await peek()
      await verbs.adjust(store, [call], [-5_000_000])
      const taken = await peek()
      expect(between(before, taken, 5 * hour)).toEqual([true, true])
      await verbs.adjust(store, [call], [3_000_000])
      const refunded = await peek()
      expect(endOf(refunded)).toBe(endOf(taken) - 3 * hour)
      await verbs.block(store, [call.id], hour)
      expect(between(refunded, await peek(), hour)).toEqual([true, true])
    })

    it('fails, unexecuted, once the deadline has passed or the caller has left', async (context) => {
      const { store } = bench
      context.skip(store.capabilities.clock === 'caller', 'a store in this process answers at once: there is nothing to wait for')
      const calls = tags.slice(0, 1).map((tag) => bench.call(bench.fresh(), QUICK[tag]))
      const late = await failureOf(store.decide([{ calls }], { deadline: systemTime.monotonic() - 1 }))
      expect(late).toMatchObject({ kind: 'timeout', executed: 'no' })
      const left = await failureOf(store.decide([{ calls }], { signal: AbortSignal.abort() }))
      expect(left).toMatchObject({ kind: 'aborted', executed: 'no' })
      expect((await verbs.decide(store, [{ calls }], { deadline: systemTime.monotonic() + 5_000 }))[0]?.outcome).toBe('allowed')
    })
  })
}

/** Undefined if the store decided. */
function failureOf(answer: Promise<readonly GroupVerdict[]>): Promise<unknown> {
  return answer.then(
    ([verdict]) => verdict?.failure,
    (error: unknown) => error,
  )
}
