/** A link of a circular list, so that any entry can be removed. */
interface Entry<T> {
  readonly value: T
  before: Entry<T>
  after: Entry<T>
}

/** First in, first out; entries can be removed from the middle. */
export interface Queue<T> {
  readonly size: number
  /** Undefined if the queue is empty. */
  readonly first: T | undefined
  add(value: T): Entry<T>
  /** Returns false if the entry was removed before. */
  remove(entry: Entry<T>): boolean
  /** Undefined if the queue is empty. */
  shift(): T | undefined
}

export function createQueue<T>(): Queue<T> {
  const end = { value: undefined } as unknown as Entry<T>
  end.before = end
  end.after = end
  let size = 0
  const remove = (entry: Entry<T>): boolean => {
    if (entry.after === entry) return false
    entry.before.after = entry.after
    entry.after.before = entry.before
    entry.before = entry
    entry.after = entry
    size -= 1
    return true
  }
  return {
    get size() {
      return size
    },
    get first() {
      return size === 0 ? undefined : end.after.value
    },
    add(value) {
      const entry = { value, before: end.before, after: end }
      end.before.after = entry
      end.before = entry
      size += 1
      return entry
    },
    remove,
    shift() {
      const first = end.after
      return remove(first) ? first.value : undefined
    },
  }
}
