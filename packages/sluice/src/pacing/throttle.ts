import { type CostOf, costOf, type Pace } from './pace.ts'
import { stoppable } from './stoppable.ts'
import type { Turns } from './turns.ts'

/** A function that waits for its turn before it runs. */
export type Throttled<Args extends unknown[], Result> = (...args: Args) => Promise<Result>

/** Calls run in order. A slot of a concurrency limit is held until the call has settled. */
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

/** Reads an item only when the consumer requests it. A slot of a concurrency limit is held until the next request, or the end. */
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
