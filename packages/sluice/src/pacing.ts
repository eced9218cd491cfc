import type { AnyLimit } from './algorithms/algorithm.ts'
import { createLimiter } from './create-limiter.ts'
import { refuseUnknown } from './errors/options.ts'
import type { Limiter } from './limiter/limiter.ts'
import { type Throttled, throttledFunction, throttledIterable } from './pacing/throttle.ts'
import { createTurns, type Turns, type TurnsOptions } from './pacing/turns.ts'
import { systemTime } from './time/system.ts'
import type { Time } from './time/time.ts'

export type { Throttled }

export interface PacingOptions extends TurnsOptions {
  readonly clock?: Time
}

/**
 * Slows calls of a function down to a limit instead of refusing them. Give a limit of this function's own, or a limiter to share a bucket with other functions or processes.
 */
export function throttleFunction<Args extends unknown[], Result>(
  fn: (...args: Args) => Result | PromiseLike<Result>,
  limit: AnyLimit | Limiter,
  options: PacingOptions = {},
): Throttled<Args, Result> {
  return throttledFunction(fn, turnsOf(limit, options))
}

/** Hands the items of an iterable on no faster than a limit allows (throttled channels of the same article). */
export function throttleIterable<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: AnyLimit | Limiter,
  options: PacingOptions = {},
): AsyncGenerator<Item, void, undefined> {
  return throttledIterable(items, turnsOf(limit, options))
}

function turnsOf(limit: AnyLimit | Limiter, options: PacingOptions): Turns {
  refuseUnknown('pacing', options, ['key', 'maxWaiting', 'signal', 'clock'])
  const { clock = systemTime } = options
  const limiter = 'check' in limit ? limit : createLimiter({ name: 'pacing', limit, clock })
  return createTurns(limiter, clock, options)
}
