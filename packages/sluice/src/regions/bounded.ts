/**
 * The most items whose program runs at once. The bound is needed because a page of many keys must not delay decisions of the same store.
 */
const AT_ONCE = 32

/** Runs a program for each item, at most `AT_ONCE` at a time. After one fails, no further ones begin. */
export async function eachBounded<T>(items: readonly T[], program: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) await Promise.all(items.slice(from, from + AT_ONCE).map(program))
}
