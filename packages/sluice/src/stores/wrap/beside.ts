/** What waits to travel with others. */
export interface Waits {
  readonly weight: number
  /** Adds texts that two of the same state have in common; others may have them too. */
  mark(into: Set<string>): void
  /** Whether one of its texts is there. */
  meets(marked: ReadonlySet<string>): boolean
}

/** At most so many are looked at: a deep queue of one key would cost its length at every answer. */
const LOOKS = 512

/**
 * What may travel beside a call under way and keep the order of each state: whatever shares none with it, nor with what must wait.
 * @param most weight of those taken; one that is heavier alone is taken alone
 */
export function beside<One extends Waits>(
  queue: readonly One[],
  underWay: readonly Waits[],
  most: number,
): { readonly taken: readonly One[]; readonly left: One[] } {
  const held = new Set<string>()
  for (const one of underWay) one.mark(held)
  const [taken, left]: [One[], One[]] = [[], []]
  let weight = 0
  for (let at = 0; at < queue.length; at += 1) {
    if (at >= LOOKS || weight >= most) return { taken, left: left.concat(queue.slice(at)) }
    const one = queue[at] as One
    if ((taken.length === 0 || weight + one.weight <= most) && !one.meets(held)) {
      taken.push(one)
      weight += one.weight
    } else {
      left.push(one)
      one.mark(held)
    }
  }
  return { taken, left }
}

/** Whether the first and the last ask the same: on a busy key there is nothing that could travel beside another. */
export function areOfOneKey(all: readonly Waits[]): boolean {
  const first = new Set<string>()
  all[0]?.mark(first)
  return all.at(-1)?.meets(first) ?? true
}
