/**
 * The most items for which the function `program` runs at once. Without this bound, the keys of a long message would cause so many calls of
 * the store that its decisions would wait.
 */
const AT_ONCE = 32

/** Runs the function `program` for each item, at most `AT_ONCE` at a time. After one fails, no further ones begin. */
export async function eachBounded<T>(items: readonly T[], program: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) await Promise.all(items.slice(from, from + AT_ONCE).map(program))
}
