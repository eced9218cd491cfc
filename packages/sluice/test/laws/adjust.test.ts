import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { applyGroup } from '../../src/algorithms/group.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { SEED } from './arbitraries.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { type LawCase, TABLE } from './cases.ts'
import { MIDNIGHT } from './traces/trace.ts'
import { draws } from '../draws.ts'

const S = 1_000_000

/** A key whose state a test can charge and adjust. `numbers` are the numbers of its state. */
function keyOf(limit: AnyLimit, phase = 0) {
  const { algorithm, plan } = limit
  let state: unknown
  const decide = (now: number, cost: number) => applyGroup([state], [{ slot: 0, limit, cost, phase }], now)
  return {
    charge: (now: number, cost: number) => {
      const result = decide(now, cost)
      if (result.writes[0] !== undefined) ({ state } = result.writes[0])
      return result.outcome
    },
    adjust: (now: number, amount: number, receipt?: number) => {
      state = algorithm.adjust(plan, state, now, amount, phase, receipt)
    },
    left: (now: number) => algorithm.view(plan, state, now, phase),
    fits: (now: number, cost: number) => decide(now, cost).outcome === 'allowed',
    wait: (now: number, cost: number) => decide(now, cost).calls[0]?.retryAfter as number,
    get expiresAt() {
      return algorithm.expiresAt(plan, state)
    },
    get numbers() {
      return state === undefined ? undefined : algorithm.codec.encodeState(state)
    },
  }
}

const capacityOf = (limit: AnyLimit): number => Math.round(limit.capacity * S)
const share = fc.double({ min: 0, max: 1, noNaN: true })
const part = (limit: AnyLimit, of: number): number => Math.max(1, Math.round(of * capacityOf(limit)))
/** Draws a case by its name, so that the report of a counterexample can be read. */
const nameOf = (cases: readonly LawCase[]) => fc.constantFrom(...cases.map(({ name }) => name))
const named = (cases: readonly LawCase[], name: string): LawCase => cases.find((one) => one.name === name) as LawCase

describe.each(TABLE)('adjusting a %s', (_, { cases, ten }) => {
  it('gives back and takes unconditionally', () => {
    const key = keyOf(ten())
    key.charge(MIDNIGHT, 8 * S)
    key.adjust(MIDNIGHT, 5 * S)
    expect(key.left(MIDNIGHT).remaining).toBe(7)
    key.adjust(MIDNIGHT, -4 * S)
    expect(key.left(MIDNIGHT).remaining).toBe(3)
    key.adjust(MIDNIGHT, -4 * S)
    expect(key.left(MIDNIGHT).remaining).toBe(0)
    expect(key.fits(MIDNIGHT, 1)).toBe(false)
  })

  it('takes from a key that was never seen, and from one that is spent', () => {
    const key = keyOf(ten())
    key.adjust(MIDNIGHT, -3 * S)
    expect(key.left(MIDNIGHT).remaining).toBe(7)
    const later = MIDNIGHT + 60 * S
    key.adjust(later, -2 * S)
    expect(key.left(later).remaining).toBe(8)
  })

  it('leaves no state where all is given back, and none where none was', () => {
    const key = keyOf(ten())
    key.adjust(MIDNIGHT, 5 * S)
    expect(key.numbers).toBeUndefined()
    key.charge(MIDNIGHT, 5 * S)
    key.adjust(MIDNIGHT, 5 * S)
    expect(key.numbers).toBeUndefined()
  })

  it('never lifts above fresh, never sinks below one capacity under empty', () => {
    fc.assert(
      fc.property(nameOf(cases), share, share, share, fc.boolean(), (name, charged, amount, wait, twice) => {
        const { limit, phase } = named(cases, name)
        const [lifted, sunk] = [keyOf(limit, phase), keyOf(limit, phase)]
        const now = MIDNIGHT + Math.round(wait * limit.windowMs * 1_000)
        for (const key of [lifted, sunk]) key.charge(MIDNIGHT, part(limit, charged))
        lifted.adjust(now, 3 * part(limit, amount))
        expect(lifted.left(now).remaining).toBeLessThanOrEqual(Math.floor(limit.capacity))
        expect(lifted.fits(now, capacityOf(limit) + 1)).toBe(false)
        for (let times = 0; times < (twice ? 2 : 1); times += 1) sunk.adjust(now, -9 * capacityOf(limit))
        const least = sunk.numbers
        sunk.adjust(now, -1)
        expect(sunk.numbers).toEqual(least)
        // The key now owes one capacity. If one capacity is given back, the key is just empty, and one micro-token more is the first that
        // passes.
        sunk.adjust(now, capacityOf(limit))
        expect(sunk.fits(now, 1)).toBe(false)
        sunk.adjust(now, 1)
        // In a ramp not all of the limit is there yet.
        if (!name.includes('ramp')) expect(sunk.fits(now, 1)).toBe(true)
        expect(sunk.fits(now, 2)).toBe(false)
      }),
      { seed: SEED, numRuns: draws(400, 100) },
    )
  })

  it('giving back a charge and charging it again is as if nothing had been done', () => {
    fc.assert(
      fc.property(nameOf(cases), share, share, share, (name, before, charged, wait) => {
        const { limit, phase } = named(cases, name)
        const key = keyOf(limit, phase)
        key.charge(MIDNIGHT, part(limit, before * 0.5))
        const now = MIDNIGHT + Math.round(wait * limit.windowMs * 500)
        const cost = part(limit, charged * 0.5)
        if (key.charge(now, cost) !== 'allowed') return
        const [seen, next] = [key.left(now), key.wait(now, capacityOf(limit))]
        for (const receipt of [undefined, now]) {
          key.adjust(now, cost, receipt)
          expect(key.charge(now, cost)).toBe('allowed')
          expect(key.left(now)).toEqual(seen)
          expect(key.wait(now, capacityOf(limit))).toBe(next)
        }
      }),
      { seed: SEED, numRuns: draws(400, 100) },
    )
  })

  it('does not touch the state it is given', () => {
    const { algorithm, plan } = ten()
    const charged = applyGroup([undefined], [{ slot: 0, limit: ten(), cost: 5 * S, phase: 0 }], MIDNIGHT).writes[0]?.state
    const numbers = algorithm.codec.encodeState(charged)
    for (const amount of [2 * S, -2 * S, 9 * S]) {
      const made = algorithm.adjust(plan, charged, MIDNIGHT + 1, amount, 0)
      expect(made).not.toBe(charged)
      expect(algorithm.codec.encodeState(charged)).toEqual(numbers)
    }
  })
})

describe('a refund with a receipt', () => {
  it('does nothing once the bucket has had the time to fill since the charge', () => {
    const key = keyOf(tokenBucket({ rate: '1/s', burst: 10 }))
    key.charge(MIDNIGHT, 5 * S)
    key.charge(MIDNIGHT + 10 * S, 10 * S)
    key.adjust(MIDNIGHT + 10 * S, 5 * S, MIDNIGHT)
    expect(key.left(MIDNIGHT + 10 * S).remaining).toBe(0)
    key.adjust(MIDNIGHT + 10 * S, 5 * S, MIDNIGHT + 1)
    expect(key.left(MIDNIGHT + 10 * S).remaining).toBe(5)
  })

  it('does nothing once the fixed window of the charge has ended', () => {
    const key = keyOf(fixedWindow({ limit: 10, window: '10s' }))
    key.charge(MIDNIGHT + 9 * S, 5 * S)
    key.charge(MIDNIGHT + 11 * S, 5 * S)
    key.adjust(MIDNIGHT + 12 * S, 5 * S, MIDNIGHT + 10 * S - 1)
    expect(key.left(MIDNIGHT + 12 * S).remaining).toBe(5)
    key.adjust(MIDNIGHT + 12 * S, 3 * S, MIDNIGHT + 10 * S)
    expect(key.left(MIDNIGHT + 12 * S).remaining).toBe(8)
    key.adjust(MIDNIGHT + 20 * S, 3 * S, MIDNIGHT + 11 * S)
    expect(key.left(MIDNIGHT + 20 * S).remaining).toBe(10)
  })

  it('goes to the window of the counter that the charge was in, and nowhere once both have passed', () => {
    const key = keyOf(slidingWindowCounter({ limit: 10, window: '10s' }))
    key.charge(MIDNIGHT + 9 * S, 4 * S)
    key.charge(MIDNIGHT + 11 * S, 5 * S)
    expect(key.numbers?.slice(1, 3)).toEqual([5 * S, 4 * S])
    key.adjust(MIDNIGHT + 12 * S, 1 * S, MIDNIGHT + 9 * S)
    expect(key.numbers?.slice(1, 3)).toEqual([5 * S, 3 * S])
    key.adjust(MIDNIGHT + 12 * S, 1 * S, MIDNIGHT - 1)
    expect(key.numbers?.slice(1, 3)).toEqual([5 * S, 3 * S])
    key.adjust(MIDNIGHT + 12 * S, 1 * S, MIDNIGHT + 10 * S)
    expect(key.numbers?.slice(1, 3)).toEqual([4 * S, 3 * S])
    key.adjust(MIDNIGHT + 12 * S, 1 * S, MIDNIGHT + 11 * S)
    expect(key.numbers?.slice(1, 3)).toEqual([3 * S, 3 * S])
    // Without one: first from this window, then from the one before.
    key.adjust(MIDNIGHT + 12 * S, 5 * S)
    expect(key.numbers?.slice(1, 3)).toEqual([0, 1 * S])
    expect(key.left(MIDNIGHT + 12 * S).resetAfter).toBe(8 * S)
    expect(key.expiresAt).toBe(MIDNIGHT + 20 * S)
  })

  it('goes to the entry of the log that the charge made, and nowhere once that has left the window', () => {
    const key = keyOf(slidingWindowLog({ limit: 10, window: '10s' }))
    key.charge(MIDNIGHT, 2 * S)
    key.charge(MIDNIGHT + 4 * S, 3 * S)
    key.charge(MIDNIGHT + 8 * S, 5 * S)
    key.adjust(MIDNIGHT + 9 * S, 2 * S, MIDNIGHT + 4 * S)
    expect(key.numbers).toEqual([10 * S, 0, MIDNIGHT, 2 * S, MIDNIGHT + 4 * S, 1 * S, MIDNIGHT + 8 * S, 5 * S])
    key.adjust(MIDNIGHT + 10 * S, 2 * S, MIDNIGHT)
    expect(key.left(MIDNIGHT + 10 * S).remaining).toBe(4)
    key.adjust(MIDNIGHT + 10 * S, 1 * S, MIDNIGHT + 4 * S)
    expect(key.numbers?.slice(2)).toEqual([MIDNIGHT, 2 * S, MIDNIGHT + 8 * S, 5 * S])
    // Without a receipt, the newest entries are reduced first. An entry that has left the window is not reduced.
    key.adjust(MIDNIGHT + 10 * S, 9 * S)
    expect(key.numbers?.slice(2)).toEqual([MIDNIGHT, 2 * S])
    key.adjust(MIDNIGHT + 10 * S, 9 * S)
    expect(key.numbers?.slice(2)).toEqual([MIDNIGHT, 2 * S])
  })
})
