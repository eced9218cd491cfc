import { expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../../src/index.ts'
import type { OnFull } from '../../../src/stores/memory/decide.ts'
import { manualClock } from '../../../src/time/manual.ts'

/** Empties the buckets of the watched keys. Then calls a hundred times as many new keys as there is room for, while time passes. */
function flood(onFull: OnFull | undefined, capacity: number, watched: number) {
  const clock = manualClock()
  const store = memoryStore({ maxKeys: capacity, clock, ...(onFull === undefined ? {} : { onFull }) })
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }), store, clock })
  for (let key = 0; key < watched; key += 1) expect(limiter.checkSync(`watched${key}`).outcome).toBe('allowed')
  const outcomes = { allowed: 0, denied: 0, impossible: 0, undecided: 0 }
  let most = 0
  let early = 0
  for (let key = 0; key < 100 * capacity; key += 1) {
    // The whole flood takes less than an hour. Only after that hour may a watched key pass again.
    if (key % 1_000 === 0) clock.advance(1_000)
    outcomes[limiter.checkSync(`flood${key}`).outcome] += 1
    most = Math.max(most, store.size)
    if (key % 97 === 0 && limiter.checkSync(`watched${(key / 97) % watched}`).allowed) early += 1
  }
  for (let key = 0; key < watched; key += 1) if (limiter.checkSync(`watched${key}`).allowed) early += 1
  return { clock, limiter, outcomes, most, early }
}

/** Registers a test for each value of `onFull`: a flood of a hundred times as many new keys as there is room for. */
export function floods(capacity: number, watched: number): void {
  it.each([undefined, 'deny', 'shared', 'allow'] as const)(
    'with onFull %s no denied key passes before its time, and memory is bounded',
    (onFull) => {
      const { clock, limiter, outcomes, most, early } = flood(onFull, capacity, watched)
      expect(early).toBe(0)
      expect(most).toBe(capacity)
      // New keys pass only as long as there is room. After that, overflow states start empty and refill one token an hour.
      expect(outcomes.allowed).toBe(capacity - watched)
      const rest = 100 * capacity - (capacity - watched)
      expect(outcomes[onFull === 'shared' ? 'denied' : 'undecided']).toBe(rest)
      clock.advance(3_600_000)
      for (let key = 0; key < watched; key += 1) expect(limiter.checkSync(`watched${key}`).allowed).toBe(true)
    },
    60_000,
  )
}
