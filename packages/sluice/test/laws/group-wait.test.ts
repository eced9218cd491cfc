import { expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { applyGroup, type GroupCall } from '../../src/algorithms/group.ts'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { seeded } from '../../src/testing/random.ts'
import { draws } from '../draws.ts'

/** So short that every microsecond of many windows can be tried. */
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '3/100us', burst: 4 }),
  tokenBucket({ rate: '7/90us', burst: 3 }),
  fixedWindow({ limit: 5, window: '100us', ramp: '90us' }),
  fixedWindow({ limit: 4, window: '70us', ramp: '40us' }),
  fixedWindow({ limit: 6, window: '130us', ramp: '129us', align: 'key' }),
  fixedWindow({ limit: 3, window: '60us' }),
  fixedWindow({ limit: 3, window: '60us', align: 'first' }),
  slidingWindowCounter({ limit: 3, window: '80us' }),
  slidingWindowLog({ limit: 4, window: '120us' }),
]
const START = 1_763_692_800_123_456
/** Longer than every window and every block, many times. */
const HORIZON = 3_000

it('X5: the wait of a denied group is the least instant at which all its calls would pass, found by trying every microsecond', () => {
  const random = seeded(5)
  const pick = (count: number): number => Math.floor(random() * count)
  let [denied, longer, absent] = [0, 0, 0]
  for (let made = 0; made < draws(1_500, 250); made += 1) {
    const now = START + pick(1_000_000)
    const size = 1 + pick(3)
    const calls = Array.from({ length: size }, (_, slot): GroupCall => {
      return { slot, limit: LIMITS[pick(LIMITS.length)] as AnyLimit, cost: 1_000_000 * (1 + pick(3)), phase: pick(2 ** 32) }
    })
    const states = calls.map((call): unknown => {
      let state: unknown
      for (let times = pick(6); times > 0; times -= 1) {
        const { writes } = applyGroup([state], [{ ...call, slot: 0 }], now - pick(60))
        if (writes[0] !== undefined) ({ state } = writes[0])
      }
      return state
    })
    const blocks = calls.map(() => (pick(5) === 0 ? now + pick(300) : 0))
    const twice = pick(4) === 0 ? [...calls, calls[0] as GroupCall] : calls
    const passes = (at: number): boolean => applyGroup(states, twice, at, blocks).outcome === 'allowed'
    const result = applyGroup(states, twice, now, blocks)
    if (result.outcome !== 'denied') {
      expect(result.retryAfter).toBeUndefined()
      continue
    }
    denied += 1
    let least = 0
    while (least < HORIZON && !passes(now + least)) least += 1
    if (result.retryAfter === undefined) {
      // The search for the wait ends after sixteen rounds, which go beyond many windows. So a group without a wait passes only much later,
      // or hardly ever.
      absent += 1
      expect(least).toBeGreaterThan(500)
      continue
    }
    if (result.retryAfter < HORIZON) expect(result.retryAfter).toBe(least)
    else expect(least).toBe(HORIZON)
    if (result.retryAfter > Math.max(...result.calls.map((call) => call.retryAfter))) longer += 1
  }
  expect(denied).toBeGreaterThan(draws(500, 75))
  expect(longer).toBeGreaterThan(20)
  expect(absent).toBeLessThan(denied / 20)
})

it('X5: the wait of one call alone is its own, also behind a block', () => {
  for (const limit of LIMITS) {
    const call = { slot: 0, limit, cost: 2_000_000, phase: 77 }
    for (let until = 0; until < 300; until += 1) {
      const blocks = [START + until]
      const { outcome, retryAfter = 0, calls } = applyGroup([undefined], [call], START, blocks)
      if (outcome !== 'denied') continue
      expect(calls[0]?.retryAfter).toBe(retryAfter)
      expect(applyGroup([undefined], [call], START + retryAfter, blocks).outcome).toBe('allowed')
      expect(applyGroup([undefined], [call], START + retryAfter - 1, blocks).outcome).toBe('denied')
    }
  }
})
