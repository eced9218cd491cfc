import { type CostOf, costOf, type Pace } from './pace.ts'
import { stoppable } from './stoppable.ts'
import type { Turns } from './turns.ts'

/** A function that waits for its turn before it runs. */
export type Throttled<Args extends unknown[], Result> = (...args: Args) => Promise<Result>

/**
 * Runs each call when its turn comes, in the order of the calls. It passes `this` to `fn`, and settles with what `fn` returns or throws. A
 * slot of a concurrency limit is held until the call has settled.
 */
export function throttledFunction<Args extends unknown[], Result>(
  where: string,
  fn: (...args: Args) => Result | PromiseLike<Result>,
  turns: Turns,
  cost: CostOf<Args> | undefined,
  signal: AbortSignal | undefined,
): Throttled<Args, Result> {
  return async function throttled(this: unknown, ...args) {
    const release = await turns.next(costOf(where, cost, args), signal)
    try {
      return await fn.apply(this, args)
    } finally {
      release?.()
    }
  }
}

/**
 * Yields the items of `items`, each when its turn comes. Reads an item only after the consumer has requested it. A slot of a concurrency
 * limit is held until the consumer requests the next item, or stops.
 */
export function throttledIterable<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { partsOf, turn }: Pace<Item>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item, void, undefined> {
  return stoppable(async function* (stopped) {
    for await (const item of items) {
      for (const part of partsOf(item)) {
        const release = await turn(part, stopped)
        try {
          yield part
        } finally {
          release?.()
        }
      }
    }
  }, signal)
}
