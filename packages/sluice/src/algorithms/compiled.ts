import { type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step } from './algorithm.ts'
import { fromMicroTokens } from './decimal.ts'

/** Makes a limit of a plan. Plans of buckets are not frozen: states have plans too, and both must have one shape to be compared fast. */
export function compiled<P, S>(
  algorithm: Algorithm<P, S>,
  plan: P,
  capacity: MicroTokens,
  window: Micros,
  extra?: { readonly phased: boolean; readonly ramped?: true },
): CompiledLimit<P, S> {
  return Object.freeze({ algorithm, plan, capacity: fromMicroTokens(capacity), windowMs: toMillis(window), phased: false, ...extra })
}

/**
 * Creates a step whose charged state is written to `next`. Pass fractions such as 0.5 in `next`: the JavaScript engine then stores its
 * numbers as doubles from the start.
 */
export function stepOf<S>(next: S): Step<S> {
  return { outcome: 'allowed', retryAfter: 0, remaining: 0, replenishAfter: 0, resetAfter: 0, state: undefined, next }
}
