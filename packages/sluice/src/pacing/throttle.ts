import type { Turns } from './turns.ts'

/** A function that waits for its turn before it runs. */
export type Throttled<Args extends unknown[], Result> = (...args: Args) => Promise<Result>

/** Runs each call when its turn comes, in the order of the calls. Passes on what `fn` returns or throws. */
export function throttledFunction<Args extends unknown[], Result>(
  fn: (...args: Args) => Result | PromiseLike<Result>,
  turns: Turns,
): Throttled<Args, Result> {
  return async (...args) => {
    await turns.next()
    return fn(...args)
  }
}

/** Yields the same items, each when its turn comes. It requests an item only after the consumer took the previous one. */
export async function* throttledIterable<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  turns: Turns,
): AsyncGenerator<Item, void, undefined> {
  for await (const item of items) {
    await turns.next()
    yield item
  }
}
