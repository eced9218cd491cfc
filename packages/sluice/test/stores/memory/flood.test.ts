import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../../src/index.ts'
import type { OnPressure } from '../../../src/stores/memory/pressure.ts'
import { manualClock } from '../../../src/time/manual.ts'

const CAPACITY = 12_000
const WATCHED = 10_000

/** Empties the watched keys' buckets, then brings a hundred times as many new keys as there is room for, while time passes. */
function flood(onPressure: OnPressure | undefined) {
  const clock = manualClock()
  const store = memoryStore({ maxKeys: CAPACITY, clock, ...(onPressure === undefined ? {} : { onPressure }) })
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }), store, clock })
  for (let key = 0; key < WATCHED; key += 1) expect(limiter.checkSync(`watched${key}`).outcome).toBe('allowed')
  const outcomes = { allowed: 0, denied: 0, impossible: 0, undecided: 0 }
  let most = 0
  let early = 0
  for (let key = 0; key < 100 * CAPACITY; key += 1) {
    // All of it takes less than the hour after which a watched key may pass.
    if (key % 1_000 === 0) clock.advance(1_000)
    outcomes[limiter.checkSync(`flood${key}`).outcome] += 1
    most = Math.max(most, store.size)
    if (key % 97 === 0 && limiter.checkSync(`watched${(key / 97) % WATCHED}`).allowed) early += 1
  }
  for (let key = 0; key < WATCHED; key += 1) if (limiter.checkSync(`watched${key}`).allowed) early += 1
  return { clock, limiter, outcomes, most, early }
}

describe('a flood of a hundred times as many keys as there is room for', () => {
  it.each([undefined, 'deny', 'shared', 'allow'] as const)(
    'with onPressure %s no denied key passes before its time, and memory is bounded',
    (onPressure) => {
      const { clock, limiter, outcomes, most, early } = flood(onPressure)
      expect(early).toBe(0)
      expect(most).toBe(CAPACITY)
      // There was room for so many; overflow states start empty and refill once an hour.
      expect(outcomes.allowed).toBe(CAPACITY - WATCHED)
      const rest = 100 * CAPACITY - (CAPACITY - WATCHED)
      expect(outcomes[onPressure === 'shared' ? 'denied' : 'undecided']).toBe(rest)
      clock.advance(3_600_000)
      for (let key = 0; key < WATCHED; key += 1) expect(limiter.checkSync(`watched${key}`).allowed).toBe(true)
    },
    60_000,
  )

  it('says what stood in for the key: overflow is a reason, and the decision is degraded', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onPressure: 'shared', clock })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 2 }), store, clock })
    expect(await limiter.check('first')).toMatchObject({ outcome: 'allowed' })
    expect(await limiter.check('second')).toMatchObject({
      outcome: 'denied',
      reason: 'overflow',
      retryAfterMs: 1_000,
      degraded: { kind: 'memory', executed: 'no' },
    })
    clock.advance(999)
    expect(await limiter.check('first', { cost: 1.999 })).toMatchObject({ outcome: 'allowed' })
    expect(await limiter.check('second')).toMatchObject({ outcome: 'denied', reason: 'overflow' })
    clock.advance(1)
    expect(await limiter.check('second')).toMatchObject({ outcome: 'allowed', degraded: { kind: 'memory' } })
    expect(await limiter.check('second')).toMatchObject({ outcome: 'denied', reason: 'overflow' })
  })
})
