/** Sends items where each belongs, one call for each target, and returns the answers in the order of the items. */
export async function sendByTarget<Item, Target, Answer>(
  items: readonly Item[],
  targetOf: (item: Item) => Target,
  send: (target: Target, some: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const indexes = new Map<Target, number[]>()
  for (const [index, item] of items.entries()) {
    const target = targetOf(item)
    const known = indexes.get(target)
    if (known === undefined) indexes.set(target, [index])
    else known.push(index)
  }
  const answers: Answer[] = Array.from({ length: items.length })
  await Promise.all(
    [...indexes].map(async ([target, places]) => {
      const some = await send(
        target,
        places.map((place) => items[place] as Item),
      )
      places.forEach((place, index) => (answers[place] = some[index] as Answer))
    }),
  )
  return answers
}
