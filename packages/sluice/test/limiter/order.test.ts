import { describe, expect, it } from 'vitest'
import { createOrder } from '../../src/limiter/order.ts'
import { manualClock } from '../../src/time/manual.ts'

/**
 * An order of callers. `next` returns when the next caller starts, if its turn is `startMs` from now and the store's reply took `tookMs`.
 */
function ordered() {
  const clock = manualClock()
  const order = createOrder(clock)
  let instant = 0
  const next = (startMs: number, tookMs: number, key = 'k', step = 1): number => order.startOf(key, (instant += step), startMs, tookMs)
  return { clock, order, next }
}

describe('the order of callers of a key', () => {
  it('a caller starts with the one before it if the reply of that one was late', () => {
    const { next } = ordered()
    expect([next(10, 1), next(1_030, 1_000), next(200, 1), next(1_020, 1), next(1_031, 1)]).toEqual([10, 1_030, 1_030, 1_030, 1_031])
  })

  it('a caller does not wait for one that the clock of the store has left far behind, but a small step changes no order', () => {
    const { next } = ordered()
    expect([next(60_000, 5), next(10, 1), next(60_000, 5), next(59_960, 1), next(59_950, 1)]).toEqual([60_000, 10, 60_000, 60_000, 60_000])
  })

  it('an instant before the last one begins anew: the key was reset, or somebody left', () => {
    const { next } = ordered()
    expect([next(1_000, 1_000), next(500, 1, 'k', -1), next(480, 1)]).toEqual([1_000, 500, 500])
  })

  it('moves a start by the lateness of the one before and a step of 50 ms, and no further', () => {
    expect([60, 60.5].map((at) => [ordered(), at] as const).map(([{ next }, at]) => [next(at, 10), next(0, 1)][1])).toEqual([60, 0])
    const { next } = ordered()
    // The second caller starts far earlier than the first, and does not wait for it. So the first does not delay the third one either.
    expect([next(60_000, 5), next(100, 1), next(40, 1), next(90, 1)]).toEqual([60_000, 100, 40, 90])
  })

  it('a caller that was moved may hold up others as long as the one that moved it', () => {
    const { next } = ordered()
    expect([next(1_000, 1_000), next(100, 1), next(50, 1)]).toEqual([1_000, 1_000, 1_000])
  })

  it('keys do not wait for each other, and only those that wait are kept, and few more', () => {
    const { clock, order, next } = ordered()
    expect([next(1_000, 1_000, 'a'), next(10, 1, 'b'), next(0, 1_000, 'c'), next(0, 1, 'c')]).toEqual([1_000, 10, 0, 0])
    expect(order.size).toBe(2)
    for (let turn = 0; turn < 1_000; turn += 1) {
      clock.advance(2)
      expect(next(clock.monotonic() + 1, 1, `${turn}`)).toBe(clock.monotonic() + 1)
      expect(order.size).toBeLessThanOrEqual(64)
    }
    for (let turn = 0; turn < 200; turn += 1) expect(next(100_000, 1, `waits ${turn}`)).toBe(100_000)
    expect(order.size).toBeGreaterThanOrEqual(200)
    for (let turn = 0; turn < 1_000; turn += 1) {
      clock.advance(2)
      next(clock.monotonic() + 1, 1, `${turn}`)
      expect(order.size).toBeLessThanOrEqual(2 * 265)
    }
    clock.advance(100_000)
    for (let turn = 0; turn < 400; turn += 1) next(clock.monotonic() + 1 + turn / 1_000, 1, `last ${turn}`)
    expect(order.size).toBeLessThanOrEqual(400 + 64)
  })
})
