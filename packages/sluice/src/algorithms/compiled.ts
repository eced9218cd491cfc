import { type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { fromMicroTokens } from './decimal.ts'

/** Does not freeze the plan: the JavaScript engine compares objects of equal internal shape faster, and plans in states are not frozen. */
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

/** Pass fractions such as 0.5 in `next`, so that the JavaScript engine stores its numbers as doubles from the start. */
export function stepOf<S>(next: S): Step<S> {
  return { outcome: 'allowed', retryAfter: 0, remaining: 0, replenishAfter: 0, resetAfter: 0, state: undefined, next }
}

/** Gives the methods of an object literal the parameter types of `Algorithm`. */
export function kernel<P, S>(algorithm: Algorithm<P, S>): Algorithm<P, S> {
  return Object.freeze(algorithm)
}

export function emptyView(): View {
  return { remaining: 0, replenishAfter: 0, resetAfter: 0 }
}
