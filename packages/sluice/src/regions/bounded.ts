/** Calls of a store under way at once: a page of many keys must not hold up decisions. */
const AT_ONCE = 32

/** Runs a program for each item, a bounded number at a time. After one fails, no others begin. */
export async function eachBounded<T>(items: readonly T[], program: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) await Promise.all(items.slice(from, from + AT_ONCE).map(program))
}
