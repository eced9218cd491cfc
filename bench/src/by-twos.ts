/**
 * Starts something for each of `items`, two at a time: starting a process mostly keeps one core busy, and the smallest machine of the
 * bench has two. The results are in the order of the items.
 */
export async function byTwos<Item, Result>(
  items: readonly Item[],
  start: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const started: Result[] = []
  for (let from = 0; from < items.length; from += 2)
    started.push(...(await Promise.all(items.slice(from, from + 2).map((item, offset) => start(item, from + offset)))))
  return started
}
