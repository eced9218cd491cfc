import { type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { fromMicroTokens } from './decimal.ts'

/** Makes a limit from a plan. Bucket plans are not frozen, like the plans in states: comparing objects of one shape is faster. */
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
 * Creates a step whose charged state is written to `next`. Pass fractions such as 0.5 in `next`: the JavaScript engine then stores its
 * numbers as doubles from the start.
 */
export function stepOf<S>(next: S): Step<S> {
  return { outcome: 'allowed', retryAfter: 0, remaining: 0, replenishAfter: 0, resetAfter: 0, state: undefined, next }
}

/** Freezes an algorithm. The contract types its parameters, so they are not annotated again. */
export function kernel<P, S>(algorithm: Algorithm<P, S>): Algorithm<P, S> {
  return Object.freeze(algorithm)
}

/** A view to be filled. */
export function emptyView(): View {
  return { remaining: 0, replenishAfter: 0, resetAfter: 0 }
}
