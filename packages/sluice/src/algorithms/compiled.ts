import { type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { fromMicroTokens } from './decimal.ts'

/**
 * Makes a limit from a plan. Plans of buckets are not frozen, because the plans inside of states are not: comparing two plans is faster if
 * all have one shape.
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
 * Creates a step. `next` is the object into which the kernel writes a charged state. Pass fractions such as 0.5 in it: then the JavaScript
 * engine stores its numbers as doubles from the start.
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
