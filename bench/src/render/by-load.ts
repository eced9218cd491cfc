/** Things in groups of the same load, in the order in which the loads first come. */
export function byLoad<Thing extends { readonly load?: string }>(things: readonly Thing[]): Map<string | undefined, Thing[]> {
  const groups = new Map<string | undefined, Thing[]>()
  for (const thing of things) {
    const group = groups.get(thing.load)
    if (group === undefined) groups.set(thing.load, [thing])
    else group.push(thing)
  }
  return groups
}
