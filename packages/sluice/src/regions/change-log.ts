interface Changed {
  /** The number of its last change; 0 after it was removed. */
  changed: number
}

/** Items in the order of their last changes, so that those after a change number (a cursor) are found without a full search. */
export interface ChangeLog<T extends Changed> {
  readonly size: number
  /** The number of the latest change. */
  readonly last: number
  /** `isNew`: the item is not in the log yet. */
  change(item: T, isNew: boolean): void
  remove(item: T): void
  /** Items that changed after the cursor, oldest changes first. */
  after(cursor: number, most: number): readonly T[]
}

/** Outdated entries are removed once they outnumber the items by this. */
const SLACK = 64

export function createChangeLog<T extends Changed>(): ChangeLog<T> {
  // An item that changes again is appended again. Its older entry, whose `at` is not `item.changed` any more, is then outdated.
  let entries: { readonly item: T; readonly at: number }[] = []
  let [size, last] = [0, 0]
  const indexAfter = (cursor: number): number => {
    let [low, high] = [0, entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((entries[middle] as (typeof entries)[0]).at > cursor) high = middle
      else low = middle + 1
    }
    return low
  }
  return {
    get size() {
      return size
    },
    get last() {
      return last
    },
    change(item, isNew) {
      if (isNew) size += 1
      item.changed = last += 1
      entries.push({ item, at: last })
      if (entries.length > 2 * size + SLACK) entries = entries.filter(({ item: { changed }, at }) => changed === at)
    },
    remove(item) {
      item.changed = 0
      size -= 1
    },
    after(cursor, most) {
      const found: T[] = []
      for (let index = indexAfter(cursor); index < entries.length && found.length < most; index += 1) {
        const { item, at } = entries[index] as (typeof entries)[0]
        if (item.changed === at) found.push(item)
      }
      return found
    },
  }
}
