import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { stateName } from '../../keys/encode.ts'
import type { Call } from '../../stores/store.ts'
import { seeded } from '../random.ts'
import { type Bench, START } from './bench.ts'

/** With ramps, by which a limit grows in each window: a call may pass, and be denied a moment later in the next window. */
const SHORT: readonly AnyLimit[] = [
  tokenBucket({ rate: '1/s', burst: 5 }),
  tokenBucket({ rate: '7/3s', burst: 4 }),
  fixedWindow({ limit: 10, window: '10s', ramp: '5s' }),
  fixedWindow({ limit: 6, window: '7s', ramp: '6999ms' }),
  fixedWindow({ limit: 5, window: '3s', ramp: '2s', align: 'key' }),
  fixedWindow({ limit: 5, window: '4s', align: 'first' }),
  slidingWindowCounter({ limit: 5, window: '3s' }),
  slidingWindowLog({ limit: 5, window: '5s' }),
]
const GROUPS = 60
const GROUPS_IF_SHORT = 30

/** The stated wait must be the shortest one after which all calls would pass (law 4). */
export function waitsOf(bench: Bench): void {
  const { decide, call, fresh, peek, tags } = bench
  const limits = SHORT.filter(({ algorithm }) => tags.some((tag) => tag === algorithm.tag))

  describe('X5: waits of groups (law 4)', () => {
    it('the wait of a group is enough for all its calls, and no shorter one is', async () => {
      const random = seeded(45)
      const pick = (count: number): number => Math.floor(random() * count)
      let [denied, found, longer] = [0, 0, 0]
      const groups = bench.short ? GROUPS_IF_SHORT : GROUPS
      for (let made = 0; made < groups; made += 1) {
        // Keys are fixed, because the hash of a key decides when its windows begin.
        const key = `wait${made}`
        const now = START + made * 100_000_000 + pick(30_000_000)
        const calls = Array.from({ length: 1 + pick(3) }, (_, index): Call => {
          return call(`${key}:${pick(2) * index}`, limits[pick(limits.length)] as AnyLimit, 1 + pick(3))
        })
        const names = calls.map(({ id }) => stateName(id))
        const group = names.map((name) => calls[names.indexOf(name)] as Call)
        // Some calls of the group are then denied, and others not.
        for (const one of group.slice(0, 1 + pick(group.length)))
          for (let times = pick(6); times > 0; times -= 1) await decide([one], now - pick(900_000))
        if (bench.can('block') && pick(4) === 0) {
          const { id } = group[pick(group.length)] as Call
          await bench.block(id, 1 + pick(9_000_000), now)
        }
        const answer = await decide(group, now)
        if (answer.outcome !== 'denied') continue
        denied += 1
        const { retryAfter, calls: parts } = answer
        if (retryAfter === undefined) continue
        found += 1
        if (retryAfter > Math.max(...parts.map((part) => part.retryAfter))) longer += 1
        const at = async (wait: number): Promise<string | undefined> => (await peek(group, now + wait)).outcome
        expect(await at(retryAfter)).toBe('allowed')
        for (const wait of [retryAfter - 1, pick(retryAfter), pick(retryAfter)]) expect(await at(Math.max(0, wait))).toBe('denied')
      }
      expect(denied).toBeGreaterThan(groups / 5)
      expect(found).toBeGreaterThan(denied / 2)
      // Only limits with a ramp make a group wait longer than each of its calls, and few of these groups do so without a block.
      if (tags.includes('fw') && bench.can('block')) expect(longer).toBeGreaterThan(0)
    })

    it('a bucket and a ramp: the example that reported too short a wait', async (context) => {
      context.skip(!tags.includes('fw') || !tags.includes('tb'), 'the store has no program for one of the two')
      const ramped = fixedWindow({ limit: 10, window: '10s', ramp: '5s' })
      const bucket = tokenBucket({ rate: '1/s', burst: 5 })
      const key = fresh()
      const start = Math.floor(START / 10_000_000) * 10_000_000
      await decide([call(key, bucket, 5)], start + 6_000_000)
      const group = [call(key, ramped, 5), call(key, bucket, 5)]
      const { retryAfter, calls } = await decide(group, start + 6_500_000)
      expect(calls[1]).toMatchObject({ outcome: 'denied', retryAfter: 4_500_000 })
      expect(retryAfter).toBe(6_000_000)
      expect(Math.max(...calls.map((each) => each.retryAfter))).toBeLessThan(6_000_000)
      const after = async (wait: number) => (await peek(group, start + 6_500_000 + wait)).outcome
      expect([await after(4_500_000), await after(5_999_999), await after(6_000_000)]).toEqual(['denied', 'denied', 'allowed'])
    })

    it('a block that ends in a ramp', async (context) => {
      context.skip(!tags.includes('fw') || !bench.can('block'), 'the store has no block, or no program for fixed windows')
      const ramped = fixedWindow({ limit: 10, window: '10s', ramp: '5s' })
      const one = call(fresh(), ramped, 5)
      const start = Math.floor(START / 10_000_000) * 10_000_000
      await bench.block(one.id, 4_000_000, start + 7_000_000)
      expect(await decide([one], start + 7_000_000)).toMatchObject({
        outcome: 'denied',
        retryAfter: 5_500_000,
        calls: [{ blockedFor: 4_000_000, retryAfter: 5_500_000 }],
      })
      expect((await peek([one], start + 12_499_999)).outcome).toBe('denied')
      expect((await decide([one], start + 12_500_000)).outcome).toBe('allowed')
    })

    it('is absent where no instant is found: two ramps that never let the same cost pass together', async (context) => {
      context.skip(!tags.includes('fw'), 'the store has no program for fixed windows')
      // Each limit allows five tokens only in the last tenth of its window; the windows are half a window apart.
      const ramped = fixedWindow({ limit: 5, window: '10s', ramp: '9s', align: 'key' })
      const one = call(fresh(), ramped, 5)
      const group = [
        { ...one, phase: 0 },
        { ...call(fresh(), ramped, 5), phase: 2 ** 31 },
      ]
      const answer = await decide(group, START)
      expect(answer.outcome).toBe('denied')
      expect(answer.retryAfter).toBeUndefined()
      for (let wait = 0; wait < 20_000_000; wait += 1_234_567) expect((await peek(group, START + wait)).outcome).toBe('denied')
    })
  })
}
