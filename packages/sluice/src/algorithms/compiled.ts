import { type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { fromMicroTokens } from './decimal.ts'

/**
 * Makes a limit from a plan. The JavaScript engine compares two plans faster if both have the same internal shape, which freezing would
 * change. The plans inside of states of token buckets are not frozen. So the plans of their limits are not frozen either.
 */
export function compiled<P, S>(
  algorithm: Algorithm<P, S>,
  plan: P,
  capacity: MicroTokens,
  window: Micros,
  extra?: { readonly phased: boolean; readonly ramped?: true },
): CompiledLimit<P, S> {
  const figures = { capacity: fromMicroTokens(capacity), windowMs: toMillis(window) }
  return Object.freeze({ algorithm, plan, ...figures, phased: false, ...extra })
}

/**
 * Creates the object that a kernel fills with its decisions. The kernel writes the charged state into `next`. Pass fractions such as 0.5 in
 * `next`: then the JavaScript engine stores its numbers as doubles from the start.
 */
export function stepOf<S>(next: S): Step<S> {
  return { outcome: 'allowed', retryAfter: 0, remaining: 0, replenishAfter: 0, resetAfter: 0, state: undefined, next }
}

/** Freezes an algorithm. Passing an object literal to this function also gives its methods the parameter types of `Algorithm`. */
export function kernel<P, S>(algorithm: Algorithm<P, S>): Algorithm<P, S> {
  return Object.freeze(algorithm)
}

/** A view whose numbers are to be overwritten. */
export function emptyView(): View {
  return { remaining: 0, replenishAfter: 0, resetAfter: 0 }
}
