import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../src/testing/random.ts'
import { SEED } from './arbitraries.ts'
import { type LawCase, TABLE } from './cases.ts'
import { Held } from './held.ts'
import { draws } from '../draws.ts'

/** In all, at least a million where all are drawn. */
const DECISIONS = Math.ceil(draws(1_000_000, 20_000) / TABLE.flatMap(([, { cases }]) => cases).length)
const START = 1_763_692_800_123_456
const YEAR = 31_557_600_000_000
/**
 * The latest time of a trace, in the year 2060. A window of a hundred years that begins ten years later would end where microseconds are no
 * longer exact.
 */
const END = 2_840_000_000_000_000

/** The next time of a trace: the same, a few microseconds or a part of a window later, the instant of a change, years later, or earlier. */
function next(now: number, windowMs: number, { retryAfter, replenishAfter, resetAfter }: Held['step'], random: () => number): number {
  const window = windowMs * 1_000
  const kind = random()
  if (kind < 0.2) return now
  if (kind < 0.3) return now + Math.floor(random() * 4)
  if (kind < 0.55) return now + Math.floor(random() * window * 0.05)
  if (kind < 0.7) return now + Math.floor(random() * window)
  if (kind < 0.76) return now + Math.max(0, retryAfter - 1)
  if (kind < 0.82) return now + retryAfter
  if (kind < 0.86) return now + replenishAfter
  if (kind < 0.9) return now + resetAfter - (random() < 0.5 ? 1 : 0)
  if (kind < 0.93) return now + Math.floor(random() * 3 * window)
  if (kind < 0.931) return now + Math.floor(random() * 3 * YEAR)
  if (kind < 0.96) return now - Math.floor(random() * window * 0.1)
  if (kind < 0.98) return now - Math.floor(random() * 1.5 * window)
  return now + Math.floor(random() * 1_000)
}

function costOf(capacity: number, random: () => number): number {
  const kind = random()
  if (kind < 0.4) return 1_000_000
  if (kind < 0.5) return capacity
  if (kind < 0.65) return 1_000_000 * (1 + Math.floor(random() * (capacity / 4_000_000)))
  if (kind < 0.9) return 1 + Math.floor(random() * capacity * 0.3)
  if (kind < 0.98) return 1 + Math.floor(random() * capacity)
  return capacity + 1 + Math.floor(random() * capacity)
}

/**
 * Compares decisions of the library's algorithm with those of the oracle, which is an independent exact computation. Returns the first few
 * that differ, with what led to them, and how often each outcome was met.
 */
function compare({ limit, phase, oracle }: LawCase, seed: number) {
  const random = seeded(seed)
  const held = new Held(limit, phase)
  let exact = oracle()
  const capacity = Math.round(limit.capacity * 1_000_000)
  let now = START
  let dropped = 0
  const found: string[] = []
  const outcomes = { allowed: 0, denied: 0, impossible: 0 }
  for (let made = 0; made < DECISIONS && found.length < 3; made += 1) {
    now = Math.max(next(now, limit.windowMs, held.step, random), dropped)
    if (now > END || now < START / 2) {
      now = START
      held.drop()
      exact = oracle()
    }
    // A store may drop an expired state, and that must change no decision. After a drop, the time of the trace does not go back, because
    // then the drop would matter.
    if (now >= held.expiresAt && random() < 0.5) {
      held.drop()
      dropped = now
    }
    const cost = costOf(capacity, random)
    outcomes[held.decide(now, cost)] += 1
    if (held.step.outcome === 'allowed') dropped = 0
    const { outcome, remaining, retryAfter, replenishAfter, resetAfter } = held.step
    const expected = exact.decide(now, BigInt(cost))
    if (
      outcome !== expected.outcome ||
      remaining !== expected.remaining ||
      retryAfter !== expected.retryAfter ||
      replenishAfter !== expected.replenishAfter ||
      resetAfter !== expected.resetAfter
    ) {
      const seen = { outcome, remaining, retryAfter, replenishAfter, resetAfter }
      found.push(`decision ${made} at ${now}, cost ${cost}: ${JSON.stringify(seen)}, exactly ${JSON.stringify(expected)}`)
    }
  }
  return { found, outcomes }
}

describe.each(TABLE)('law 5: decisions of the %s equal exact rational arithmetic', (_, { cases }) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const { found, outcomes } = compare(one, SEED)
    expect(found).toEqual([])
    for (const count of Object.values(outcomes)) expect(count).toBeGreaterThan(DECISIONS / 200)
  })
})

describe.each(TABLE)('law 5: short traces of the %s, shrunk where one differs', (_, { cases }) => {
  it('equal exact rational arithmetic', () => {
    const step = fc.record({ move: fc.double({ min: -1, max: 3, noNaN: true }), share: fc.double({ min: 0, max: 1.2, noNaN: true }) })
    fc.assert(
      fc.property(fc.constantFrom(...cases.map(({ name }) => name)), fc.array(step, { maxLength: 30 }), (name, trace) => {
        const { limit, phase, oracle } = cases.find((one) => one.name === name) as LawCase
        const [held, exact] = [new Held(limit, phase), oracle()]
        let now = START
        for (const { move, share } of trace) {
          now = Math.min(END, Math.max(START / 2, now + Math.round(move * limit.windowMs * 1_000)))
          const cost = Math.max(1, Math.round(share * limit.capacity * 1_000_000))
          held.decide(now, cost)
          expect(held.step).toMatchObject({ ...exact.decide(now, BigInt(cost)) })
        }
      }),
      { seed: SEED, numRuns: draws(500, 50) },
    )
  })
})
