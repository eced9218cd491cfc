/** What asks certain states: joined with others, or alone. */
export interface Asking {
  readonly weight: number
  /** Whether it travels alone. */
  readonly alone: unknown
  /** The states that it asks, as texts. */
  names(): readonly string[]
}

export interface Turns<One> {
  /** May travel together now. */
  readonly together: readonly One[]
  /** May each start now. */
  readonly alone: readonly One[]
  readonly left: One[]
}

/**
 * Whose turn it is, where operations that travel alone wait among calls that are joined: whatever shares a state keeps its order, and nothing else waits for it.
 * @param underWay what has not been answered yet
 * @param most weight of those that travel together; 0 where none may now
 */
export function turnsOf<One extends Asking>(queue: readonly One[], underWay: readonly Asking[], most: number): Turns<One> {
  /** States for which everything must wait, and those for which only what travels alone must. */
  const held = new Set<string>()
  const joined = new Set<string>()
  const hold = (into: Set<string>, names: readonly string[]): void => names.forEach((name) => into.add(name))
  for (const one of underWay) hold(one.alone === undefined ? joined : held, one.names())
  const turns = { together: [] as One[], alone: [] as One[], left: [] as One[] }
  let weight = 0
  for (const one of queue) {
    const names = one.names()
    const single = one.alone !== undefined
    const waits = names.some((name) => held.has(name) || (single && joined.has(name)))
    const fits = most > 0 && (turns.together.length === 0 || weight + one.weight <= most)
    if (waits || (!single && !fits)) {
      turns.left.push(one)
      hold(held, names)
    } else if (single) {
      turns.alone.push(one)
      hold(held, names)
    } else {
      turns.together.push(one)
      weight += one.weight
      hold(joined, names)
    }
  }
  return turns
}
