/** The most store calls at once. With more, the keys of a long message would make decisions wait. */
const AT_ONCE = 32

/** Runs `program` for each item, at most `AT_ONCE` at a time. After one fails, no further ones begin. */
export async function eachBounded<T>(items: readonly T[], program: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) await Promise.all(items.slice(from, from + AT_ONCE).map(program))
}
