import type { AnyLimit } from './algorithms/algorithm.ts'
import { createLimiter } from './create-limiter.ts'
import { LimiterError } from './errors/limiter-error.ts'
import { checkOptions, CLOCK, COUNT, type Form, shown, SIGNAL } from './errors/options.ts'
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
 * Slows calls of a function down to a limit instead of refusing them. Pass a limit for this function alone, or a limiter to share a bucket
 * with other functions or processes.
 * @throws LimiterError INVALID_OPTIONS
 */
export function throttleFunction<Args extends unknown[], Result>(
  fn: (...args: Args) => Result | PromiseLike<Result>,
  limit: AnyLimit | Limiter,
  options: PacingOptions = {},
): Throttled<Args, Result> {
  if (typeof fn !== 'function') throw refused('throttleFunction', `fn is ${shown(fn)}, expected a function`)
  return throttledFunction(fn, turnsOf('throttleFunction', limit, options))
}

/**
 * Yields the items of an iterable no faster than a limit allows (throttled channels of the same article).
 * @throws LimiterError INVALID_OPTIONS
 */
export function throttleIterable<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: AnyLimit | Limiter,
  options: PacingOptions = {},
): AsyncGenerator<Item, void, undefined> {
  const iterable =
    typeof items === 'string' ||
    (typeof items === 'object' && items !== null && (Symbol.iterator in items || Symbol.asyncIterator in items))
  if (!iterable) throw refused('throttleIterable', `items are ${shown(items)}, expected an iterable`)
  return throttledIterable(items, turnsOf('throttleIterable', limit, options))
}

function refused(where: string, why: string): LimiterError {
  return new LimiterError('INVALID_OPTIONS', `${where}: ${why}`)
}

const FORMS: Readonly<Record<string, Form>> = {
  key: [(value) => typeof value === 'string' && value !== '', 'a non-empty text'],
  maxWaiting: COUNT,
  signal: SIGNAL,
  clock: CLOCK,
}

function turnsOf(where: string, limit: AnyLimit | Limiter, options: PacingOptions): Turns {
  checkOptions(where, options, FORMS)
  const { clock = systemTime } = options
  if (typeof limit !== 'object' || limit === null || !('check' in limit || 'algorithm' in limit))
    throw refused(where, `limit is ${shown(limit)}, expected a limit, such as tokenBucket({ rate: '10/s', burst: 1 }), or a limiter`)
  const limiter = 'check' in limit ? limit : createLimiter({ name: 'pacing', limit, clock })
  return createTurns(limiter, clock, options)
}
