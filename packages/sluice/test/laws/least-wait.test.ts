import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { type FixedWindowPlan, freshEnd, rampTo } from '../../src/algorithms/fixed-window-plan.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { applyGroup } from '../../src/algorithms/group.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import type { FixedWindowState } from '../../src/algorithms/window-turns.ts'
import { MIDNIGHT } from './traces/trace.ts'
import { type Random, randomOf } from './turn-pairs.ts'
import { draws } from '../draws.ts'

const MICRO = 1_000_000

/** One key. It tells what a call would be answered at any later instant if nobody called before. */
class Key {
  state: unknown
  expiresAt = 0
  readonly #phase: number

  constructor(phase: number) {
    this.#phase = phase
  }

  call(limit: AnyLimit, cost: number, now: number) {
    const result = applyGroup([this.at(now)], [{ slot: 0, limit, cost, phase: this.#phase }], now)
    for (const { state } of result.writes) this.#write(limit, state)
    return result
  }

  adjust(limit: AnyLimit, amount: number, now: number): void {
    const { algorithm, plan } = limit
    const state = this.at(now)
    const adopted = state === undefined ? undefined : algorithm.adopt(plan, state, now, this.#phase)
    this.#write(limit, algorithm.adjust(plan, adopted, now, amount, this.#phase))
  }

  passes(limit: AnyLimit, cost: number, now: number): boolean {
    return applyGroup([this.at(now)], [{ slot: 0, limit, cost, phase: this.#phase }], now).outcome === 'allowed'
  }

  at(now: number): unknown {
    return now < this.expiresAt ? this.state : undefined
  }

  #write(limit: AnyLimit, state: unknown): void {
    this.state = state
    this.expiresAt = state === undefined ? 0 : limit.algorithm.expiresAt(limit.plan, state)
  }
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T
}

/**
 * The instants at which a cost may begin to fit: where a fixed window, the next one, or a part of one begins, and where a ramp reaches the
 * cost.
 */
function turnsOfWindow(plan: FixedWindowPlan, state: FixedWindowState | undefined, cost: number, now: number, phase: number): number[] {
  const { end, count, window } = state ?? { end: now, count: 0, window: plan.window }
  const starts = [end, now]
  for (const part of [1, 4, 16, 64]) starts.push(end + Math.ceil(window / part))
  for (let part = Math.max(0, Math.floor((now - end + window) / plan.window) - 1), many = 0; many < 6; part += 1, many += 1) {
    starts.push(end - window + part * plan.window, end + part * plan.window)
  }
  const grid = starts.map((start) => freshEnd(plan, start, phase)).flatMap((own) => [own - plan.window, own, own + plan.window])
  const ramps = [0, rampTo(plan, cost), rampTo(plan, count + cost), rampTo(plan, (count % plan.limit) + cost)]
  return [...starts, ...grid].flatMap((start) => ramps.map((ramp) => start + ramp))
}

/** The instant from which a cost passes, as halving finds it. */
function halved(passes: (at: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Calls a key under limits of different lengths in turn. At each denial, tries every instant at which the call might pass. Returns how many
 * denials there were.
 */
function audited(limits: readonly AnyLimit[], random: Random, phase: number): number {
  const key = new Key(phase)
  const lengths = limits.map(({ plan }) => (plan as { window: number }).window)
  let now = MIDNIGHT + random(2 ** 31)
  let denials = 0
  for (let step = 0; step < 25; step += 1) {
    const length = pick(random, lengths)
    now += pick(random, [0, 1, 1_000, random(length), random(length), length - 1, length, length + 1, Math.floor(length / 50), 2 * length])
    const limit = pick(random, limits)
    const plan = limit.plan as { limit: number }
    const cost = Math.max(
      1,
      pick(random, [1, MICRO, plan.limit, Math.ceil(plan.limit / 2), random(plan.limit), Math.ceil(plan.limit / 10)]),
    )
    if (random(6) === 0) {
      key.adjust(limit, (random(3) === 0 ? 1 : -1) * cost, now)
      continue
    }
    const { outcome, retryAfter = 0 } = key.call(limit, cost, now)
    if (outcome !== 'denied') continue
    denials += 1
    const until = now + retryAfter
    const passes = (at: number): boolean => key.passes(limit, cost, at)
    expect(passes(until)).toBe(true)
    const probed = [until - 1, halved(passes, now, until), ...Array.from({ length: 8 }, () => now + random(retryAfter))]
    if (limit.algorithm.tag === 'fw') {
      probed.push(...turnsOfWindow(limit.plan as FixedWindowPlan, key.at(now) as FixedWindowState | undefined, cost, now, phase))
    }
    const earlier = probed.flatMap((at) => [at - 1, at, at + 1]).filter((at) => at >= now && at < until && passes(at))
    expect({ step, wait: retryAfter, earlier: earlier.map((at) => at - now) }).toEqual({ step, wait: retryAfter, earlier: [] })
  }
  return denials
}

const LENGTHS = [1_000, 1_800, 900, 700, 60, 7, 1.234567].map((seconds) => Math.round(seconds * MICRO))

function ramped(random: Random): AnyLimit {
  const length = pick(random, LENGTHS)
  const align = pick(random, ['clock', 'key', 'first'] as const)
  const ramp = Math.ceil(length / pick(random, [1.05, 1.3, 2, 3, 10]) / 1_000) * 1_000
  const limit = pick(random, [1, 2, 6, 12, 100, 128])
  return fixedWindow({ limit, window: `${length}us`, align, ...(align === 'first' || ramp >= length ? {} : { ramp: `${ramp}us` }) })
}

function counter(random: Random): AnyLimit {
  const window = `${pick(random, [...LENGTHS, 1_999_999_999, 6_570, 10_000_001])}us`
  return slidingWindowCounter({ limit: pick(random, [1, 3, 10, 40, 100]), window })
}

describe('law 4: retryAfter is the least instant, after changes of the plan too', () => {
  it.each([
    ['fixed windows with ramps', ramped],
    ['counters', counter],
  ] as const)('%s', (_, limitOf) => {
    let denials = 0
    for (let seed = 0; seed < draws(100, 30); seed += 1) {
      const random = randomOf(seed)
      denials += audited([limitOf(random), limitOf(random), limitOf(random)], random, 2 * random(2 ** 31))
    }
    expect(denials).toBeGreaterThan(draws(500, 150))
  })

  it('of a ramped window whose longer plan is forgotten before it would have begun', () => {
    const phase = 326_296_843
    const ramp = fixedWindow({ limit: 6, window: '900s', align: 'key', ramp: '700s' })
    const long = fixedWindow({ limit: 12, window: '1800s', align: 'first' })
    const key = new Key(phase)
    const start = 1_767_289_754_662_577
    key.call(ramp, 6 * MICRO, start - 1_000)
    key.adjust(long, -513_265, start)
    const now = start + 1_800_000_001
    const { outcome, retryAfter = 0 } = key.call(ramp, 3 * MICRO, now)
    expect(outcome).toBe('denied')
    expect(key.passes(ramp, 3 * MICRO, now + retryAfter)).toBe(true)
    for (let wait = 0; wait < retryAfter; wait += 100_000) expect([wait, key.passes(ramp, 3 * MICRO, now + wait)]).toEqual([wait, false])
  })

  it('of a counter within a longer window whose parts leave some of it over', () => {
    const long = slidingWindowCounter({ limit: 40, window: '1999999999us' })
    const short = slidingWindowCounter({ limit: 10, window: '6570us' })
    const key = new Key(0)
    const end = Math.ceil(MIDNIGHT / 1_999_999_999) * 1_999_999_999
    key.call(long, 9 * MICRO, end - 1)
    key.call(long, 4 * MICRO, end + 1)
    // In the current window, what was charged in the previous one leaves no room. In the next window there is room from its start on.
    expect(key.call(short, 6 * MICRO, end + 2)).toMatchObject({ outcome: 'denied', retryAfter: 1_999_999_997 })
    expect(key.passes(short, 6 * MICRO, end + 1_999_999_999)).toBe(true)
  })
})
