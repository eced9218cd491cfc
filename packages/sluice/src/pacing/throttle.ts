import type { Turns } from './turns.ts'

/** A function that waits for its turn before it runs. */
export type Throttled<Args extends unknown[], Result> = (...args: Args) => Promise<Result>

/** Each call runs when its turn comes, in the order of the calls; what `fn` returns or throws is passed on. */
export function throttledFunction<Args extends unknown[], Result>(
  fn: (...args: Args) => Result | PromiseLike<Result>,
  turns: Turns,
): Throttled<Args, Result> {
  return async (...args) => {
    await turns.next()
    return fn(...args)
  }
}

/** The same items, each handed on when its turn comes. An item is asked for only when the one before it was taken. */
export async function* throttledIterable<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  turns: Turns,
): AsyncGenerator<Item, void, undefined> {
  for await (const item of items) {
    await turns.next()
    yield item
  }
}
