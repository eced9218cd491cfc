/** A value that is never changed, only replaced by the result of a function of it. */
export class Atom<Value> {
  value: Value

  constructor(value: Value) {
    this.value = value
  }

  /** Replaces the value, and returns the one before it and the new one. */
  swap(update: (value: Value) => Value): readonly [before: Value, after: Value] {
    const before = this.value
    this.value = update(before)
    return [before, this.value]
  }
}

/** An atom for each key. The article has a single one; its user would keep a map of them. Nothing is removed. */
export function atomsOf<Value>(create: () => Value): (key: string) => Atom<Value> {
  const atoms = new Map<string, Atom<Value>>()
  return (key) => {
    let atom = atoms.get(key)
    if (atom === undefined) {
      atom = new Atom(create())
      atoms.set(key, atom)
    }
    return atom
  }
}
