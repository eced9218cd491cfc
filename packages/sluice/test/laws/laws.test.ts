import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { applyGroup as drive } from '../../src/algorithms/group.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { SEED, START } from './arbitraries.ts'
import { ALGORITHMS, type LawCase, TABLE } from './cases.ts'
import { applyGroup } from './driver.ts'
import { draws } from '../draws.ts'

/** How far time moves in one step of a trace, in windows of the limit. */
const moves = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: 0, max: 0.2, noNaN: true }) },
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.double({ min: 0, max: 1.5, noNaN: true }) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 100, noNaN: true }) },
)
const shares = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: 0, max: 0.1, noNaN: true }) },
  { weight: 3, arbitrary: fc.constant('token' as const) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(1) },
)
const steps = fc.array(fc.record({ move: moves, share: shares }), { minLength: 1, maxLength: 40, size: 'medium' })

const TOKEN = 1_000_000

/**
 * Adds windows to a time, at most to the year 2060. A window of a hundred years that begins ten years later would end where microseconds
 * are no longer exact.
 */
const later = (now: number, { windowMs }: AnyLimit, windows: number): number =>
  Math.min(now + Math.round(windowMs * 1_000 * windows), 2_840_000_000_000_000)

/** Micro-tokens, at most the capacity. */
function costOf(limit: AnyLimit, part: number | 'token'): number {
  const all = capacityOf(limit)
  return part === 'token' ? Math.min(TOKEN, all) : Math.max(1, Math.round(part * all))
}

const capacityOf = ({ capacity }: AnyLimit): number => Math.round(capacity * TOKEN)
const micros = ({ windowMs }: AnyLimit, share: number): number => Math.round(windowMs * 1_000 * share)

/** A key under one limit. A test can decide calls, inspect the state, and compare it with the initial state. */
function keyOf({ limit, phase }: LawCase) {
  let state: unknown
  let expiresAt = 0
  const inspect = (now: number, cost: number, from: unknown) => {
    const { outcome, calls, writes } = drive([from], [{ slot: 0, limit, cost, phase }], now)
    const [call] = calls
    if (call === undefined) throw new Error('no verdict')
    const [written] = writes.map((write) => limit.algorithm.codec.encodeState(write.state))
    return { ...call, outcome, written }
  }
  return {
    inspect: (now: number, cost: number) => inspect(now, cost, state),
    fresh: (now: number, cost: number) => inspect(now, cost, undefined),
    decide: (now: number, cost: number) => {
      const answer = inspect(now, cost, state)
      if (answer.written === undefined) return answer
      state = limit.algorithm.codec.decodeState(answer.written)
      expiresAt = limit.algorithm.expiresAt(limit.plan, state)
      return answer
    },
    get expiresAt() {
      return expiresAt
    },
    get state() {
      return state
    },
  }
}

/** Draws a case by its name, so that the report of a counterexample can be read. */
const nameOf = (cases: readonly LawCase[]) => fc.constantFrom(...cases.map(({ name }) => name))
const named = (cases: readonly LawCase[], name: string): LawCase => cases.find((one) => one.name === name) as LawCase

describe.each(TABLE)('law 1 on the %s: a denied request consumes nothing, of no limit in its group', (_, { ten }) => {
  it.each(TABLE)('with a %s in the same group, in whatever order', (_name, other) => {
    const [wide, narrow] = [ten(), other.ten()]
    const spent = applyGroup([undefined], [{ slot: 0, limit: narrow, cost: 10 }], START).writes[0]?.state
    const wideCall = { slot: 0, limit: wide, cost: 5 }
    const narrowCall = { slot: 1, limit: narrow, cost: 1 }
    for (const calls of [
      [wideCall, narrowCall],
      [narrowCall, wideCall],
    ]) {
      const result = applyGroup([undefined, spent], calls, START)
      expect(result).toMatchObject({ outcome: 'denied', writes: [] })
      const [first, second] = calls[0] === wideCall ? result.calls : result.calls.toReversed()
      expect(first).toMatchObject({ outcome: 'allowed', remaining: 10, resetAfter: 0 })
      expect(second).toMatchObject({ outcome: 'denied', remaining: 0 })
    }
  })

  it('sees the same state twice in order', () => {
    const calls = (...costs: number[]) => costs.map((cost) => ({ slot: 0, limit: ten(), cost }))
    expect(applyGroup([undefined], calls(6, 6), START)).toMatchObject({ outcome: 'impossible', writes: [] })
    const both = applyGroup([undefined], calls(4, 6), START)
    expect(both).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 6 }, { remaining: 0 }] })
    expect(both.writes).toHaveLength(1)
    const spent = applyGroup([undefined], calls(8), START).writes[0]?.state
    const three = applyGroup([spent], calls(1, 1, 1), START)
    expect(three).toMatchObject({
      outcome: 'denied',
      writes: [],
      calls: [{ outcome: 'allowed' }, { outcome: 'allowed' }, { outcome: 'denied' }],
    })
    for (const call of three.calls) expect(call.remaining).toBe(2)
    expect(applyGroup([undefined], calls(0.1, 9.9), START).outcome).toBe('allowed')
  })
})

describe.each(TABLE)('law 2 on the %s: a cost above the capacity is impossible, not later', (_, { cases }) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const above = capacityOf(one.limit) + 1
    const key = keyOf(one)
    expect(key.decide(START, above)).toMatchObject({ outcome: 'impossible', retryAfter: 0, resetAfter: 0, written: undefined })
    for (let filled = 0; filled < 3; filled += 1) key.decide(START, costOf(one.limit, 1 / 3))
    const [before, now] = [key.inspect(START, 1), START + micros(one.limit, 0.01)]
    expect(key.decide(now, above)).toMatchObject({ outcome: 'impossible', retryAfter: 0, written: undefined })
    expect(key.inspect(START, 1)).toEqual(before)
  })
})

describe.each(TABLE)('law 3 on the %s: a clock that goes back', (_, { cases }) => {
  const back = fc.double({ min: 0, max: 2, noNaN: true })

  it('mints nothing: what would be denied before the step is denied after it', () => {
    fc.assert(
      fc.property(nameOf(cases), steps, back, shares, (name, trace, step, part) => {
        const one = named(cases, name)
        const key = keyOf(one)
        let now = START
        for (const { move, share } of trace) key.decide((now = later(now, one.limit, move)), costOf(one.limit, share))
        const cost = costOf(one.limit, part)
        const there = key.inspect(now, cost)
        // If the state has expired at `now`, a store would have dropped it, so there is nothing to compare.
        if (now >= key.expiresAt) return
        const earlier = key.inspect(Math.max(0, now - micros(one.limit, step)), cost)
        if (there.outcome === 'denied') expect(earlier.outcome).toBe('denied')
        if (earlier.outcome === there.outcome) expect(earlier.remaining).toBeLessThanOrEqual(there.remaining)
      }),
      { seed: SEED, numRuns: draws(1_000, 50) },
    )
  })

  it('locks for no longer than the step, and what is charged back there counts for no more than it would now', () => {
    fc.assert(
      fc.property(nameOf(cases), steps, back, shares, (name, trace, step, part) => {
        const one = named(cases, name)
        const [key, steady] = [keyOf(one), keyOf(one)]
        let now = START
        for (const { move, share } of trace) {
          now = later(now, one.limit, move)
          key.decide(now, costOf(one.limit, share))
          steady.decide(now, costOf(one.limit, share))
        }
        if (now >= key.expiresAt) return
        const cost = costOf(one.limit, part)
        const earlier = Math.max(0, now - micros(one.limit, step))
        expect(earlier + key.inspect(earlier, cost).retryAfter).toBeLessThanOrEqual(now + key.inspect(now, cost).retryAfter)
        if (key.decide(earlier, cost).outcome === 'allowed') steady.decide(now, cost)
        expect(key.inspect(now, cost).remaining).toBeGreaterThanOrEqual(steady.inspect(now, cost).remaining)
        expect(key.inspect(now, cost).retryAfter).toBeLessThanOrEqual(steady.inspect(now, cost).retryAfter)
      }),
      { seed: SEED, numRuns: draws(1_000, 50) },
    )
  })
})

describe.each(TABLE)('law 4 on the %s: waiting retryAfter is enough', (_, { cases, ten }) => {
  it('and a microsecond less is not; replenishAfter and resetAfter are as exact', () => {
    fc.assert(
      fc.property(nameOf(cases), steps, (name, trace) => {
        const one = named(cases, name)
        const key = keyOf(one)
        let now = START
        for (const { move, share } of trace) {
          now = later(now, one.limit, move)
          const cost = costOf(one.limit, share)
          const result = key.decide(now, cost)
          if (result.outcome === 'denied') {
            expect(key.inspect(now + result.retryAfter, cost).outcome).toBe('allowed')
            expect(key.inspect(now + result.retryAfter - 1, cost).outcome).toBe('denied')
          }
          const all = capacityOf(one.limit)
          const more = (result.remaining + 1) * TOKEN
          if (more <= all) {
            expect(key.inspect(now + result.replenishAfter, more).outcome).toBe('allowed')
            expect(key.inspect(now + result.replenishAfter - 1, more).outcome).toBe('denied')
          } else expect(result.replenishAfter).toBe(result.resetAfter)
          const at = now + result.resetAfter
          expect(key.inspect(at, all)).toEqual(key.fresh(at, all))
          if (result.resetAfter > 0) expect(key.inspect(at - 1, all).outcome).toBe('denied')
        }
      }),
      { seed: SEED, numRuns: draws(200, 25) },
    )
  })

  it('in a group the longest of the waits is', () => {
    for (const other of ALGORITHMS) {
      const limits = [ten(), other.ten()]
      const states = limits.map(
        (limit, slot) => applyGroup([undefined], [{ slot: 0, limit, cost: 10 - 4 * slot }], START + slot * 70_000).writes[0]?.state,
      )
      const calls = limits.map((limit, slot) => ({ slot, limit, cost: 5 }))
      const now = START + 100_000
      const denied = applyGroup(states, calls, now)
      const wait = Math.max(...denied.calls.map(({ retryAfter }) => retryAfter))
      expect(denied.outcome).toBe('denied')
      expect(applyGroup(states, calls, now + wait).outcome).toBe('allowed')
      expect(applyGroup(states, calls, now + wait - 1).outcome).toBe('denied')
    }
  })
})

describe.each(TABLE)('law 5 on the %s: no interval admits more than its envelope', (_, { cases }) => {
  it('on clocks that go back and forth', () => {
    const jumps = fc.oneof({ weight: 8, arbitrary: moves }, { weight: 1, arbitrary: fc.double({ min: -1.5, max: 0, noNaN: true }) })
    const trace = fc.array(fc.record({ move: jumps, share: shares }), { minLength: 1, maxLength: 150, size: 'large' })
    let admitted = 0
    fc.assert(
      fc.property(nameOf(cases), trace, (name, wanted) => {
        const one = named(cases, name)
        const key = keyOf(one)
        let now = START
        let latest = 0
        // The audit computes with floating-point numbers. For a large capacity, costs are whole tokens, so that these numbers stay exact.
        const unit = one.limit.capacity > 1e9 ? TOKEN : 1
        const seen: TraceEntry[] = wanted.map(({ move, share }) => {
          now = later(now, one.limit, move)
          const cost = Math.min(Math.ceil(costOf(one.limit, share) / unit) * unit, capacityOf(one.limit))
          const allowed = key.decide(now, cost).outcome === 'allowed'
          // If the clock has gone back, store time stays at that of the last charge (law 3).
          if (allowed) latest = Math.max(latest, now)
          return { at: allowed ? latest : now, cost: cost / TOKEN, allowed }
        })
        admitted += seen.filter(({ allowed }) => allowed).length
        expect(audit(seen, one.limit).overGrant).toBe(0)
      }),
      { seed: SEED, numRuns: draws(300, 25) },
    )
    expect(admitted).toBeGreaterThan(draws(3_000, 400))
  })
})

describe.each(TABLE)('law 6 on the %s: a state lives until it equals the initial state', (_, { tag, cases }) => {
  it('from its expiry on, and not a microsecond before', () => {
    fc.assert(
      fc.property(nameOf(cases), steps, (name, trace) => {
        const one = named(cases, name)
        const key = keyOf(one)
        let now = START
        for (const { move, share } of trace) key.decide((now = later(now, one.limit, move)), costOf(one.limit, share))
        const all = capacityOf(one.limit)
        for (const cost of [all, 1]) expect(key.inspect(key.expiresAt, cost)).toEqual(key.fresh(key.expiresAt, cost))
        // A fixed window is remembered after its end for the key's other limits (law 7). For its own limit it equals the initial state from
        // its end on.
        const { end = key.expiresAt } = tag === 'fw' ? (key.state as { end: number }) : {}
        expect(key.inspect(end, all)).toEqual(key.fresh(end, all))
        expect(key.inspect(end - 1, all).outcome).toBe('denied')
      }),
      { seed: SEED, numRuns: draws(500, 30) },
    )
  })
})
