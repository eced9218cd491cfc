/** Without this bound, the keys of a long message would cause so many store calls at once that decisions would wait. */
const AT_ONCE = 32

/** At most `AT_ONCE` at a time. After one fails, no further ones begin. */
export async function eachBounded<T>(items: readonly T[], program: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) await Promise.all(items.slice(from, from + AT_ONCE).map(program))
}
