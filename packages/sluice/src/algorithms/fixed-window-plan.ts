import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO } from './decimal.ts'
import { alignedEnd } from './window.ts'

/**
 * When windows begin. `clock`: at multiples of their length since 1970. `first`: at a key's first charge. `key`: at an offset for each key,
 * so that keys reset at different times.
 */
export type Align = 'clock' | 'first' | 'key'

/**
 * For `ramp` microseconds after a reset (0: no ramp), the limit grows by `n` micro-tokens every `m` microseconds, a fraction in lowest
 * terms.
 */
export interface FixedWindowPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly align: Align
  readonly ramp: Micros
  readonly n: number
  readonly m: Micros
}

/** The end of the window at `now`, for a key without a state. */
export function freshEnd({ align, window }: FixedWindowPlan, now: Micros, phase: number): Micros {
  if (align === 'first') return now + window
  return alignedEnd(window, now, align === 'key' ? shiftOf(window, phase) : 0)
}

/** floor(phase * window / 2^32). Exact even if the product exceeds 2^53. */
export function shiftOf(window: Micros, phase: number): Micros {
  const whole = Math.floor(window / 4_294_967_296)
  const part = window - whole * 4_294_967_296
  const high = Math.floor(part / 65_536)
  const first = phase * high
  const quotient = Math.floor(first / 65_536)
  const carried = (first - quotient * 65_536) * 65_536 + phase * (part - high * 65_536)
  return phase * whole + quotient + Math.floor(carried / 4_294_967_296)
}

/** The most micro-tokens that a window may admit until `elapsed` microseconds after its start. */
export function budget(plan: FixedWindowPlan, elapsed: Micros): MicroTokens {
  if (plan.ramp === 0 || elapsed >= plan.ramp) return plan.limit
  return Math.min(plan.limit, Math.max(MICRO, Math.floor((Math.max(0, elapsed) * plan.n) / plan.m)))
}

/** Microseconds after the window's start at which the ramp first admits `used` micro-tokens. */
export function rampTo(plan: FixedWindowPlan, used: MicroTokens): Micros {
  return plan.ramp === 0 || used <= MICRO ? 0 : Math.ceil((used * plan.m) / plan.n)
}
