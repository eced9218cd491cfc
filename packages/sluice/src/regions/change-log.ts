/** An item that a change log numbers. */
interface Changed {
  /** The number of its last change; 0 after it was removed. */
  changed: number
}

/**
 * Items in the order of their last changes. So the items that changed after a cursor, the number of a change, are found without a search of
 * all items.
 */
export interface ChangeLog<T extends Changed> {
  readonly size: number
  /** The number of the latest change of any item. */
  readonly last: number
  /** @param isNew whether the item is not in the log */
  change(item: T, isNew: boolean): void
  remove(item: T): void
  /** The items that changed after a cursor, the oldest changes first. */
  after(cursor: number, most: number): readonly T[]
}

/** The log removes entries that are out of date when there are more of them than of items, plus this number. */
const SLACK = 64

export function createChangeLog<T extends Changed>(): ChangeLog<T> {
  // An item that changes again is appended again. Its older entry, whose `at` is not the item's last change any more, is then out of date.
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
