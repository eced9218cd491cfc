interface Cell<Item> {
  readonly item: Item
  readonly next: Cell<Item> | undefined
}

/** A queue that is never changed: a list of the front, and one of the rear in reverse order. */
export class PersistentQueue<Item> {
  readonly front: Cell<Item> | undefined
  readonly rear: Cell<Item> | undefined
  readonly size: number

  constructor(front?: Cell<Item>, rear?: Cell<Item>, size: number = 0) {
    this.front = front
    this.rear = rear
    this.size = size
  }

  first(): Item | undefined {
    return this.front?.item
  }

  /** The queue with one more item at its end. */
  push(item: Item): PersistentQueue<Item> {
    if (this.front === undefined) return new PersistentQueue({ item, next: undefined }, undefined, 1)
    return new PersistentQueue(this.front, { item, next: this.rear }, this.size + 1)
  }

  /** The queue without its first item. */
  pop(): PersistentQueue<Item> {
    if (this.front === undefined) return this
    if (this.front.next !== undefined) return new PersistentQueue(this.front.next, this.rear, this.size - 1)
    let front: Cell<Item> | undefined
    for (let cell = this.rear; cell !== undefined; cell = cell.next) front = { item: cell.item, next: front }
    return new PersistentQueue(front, undefined, this.size - 1)
  }

  /** The last item. To find it, the whole queue is walked through, as the article says of its own queue. */
  last(): Item | undefined {
    let found: Item | undefined
    for (let cell = this.front; cell !== undefined; cell = cell.next) found = cell.item
    if (this.rear !== undefined) {
      const items: Item[] = []
      for (let cell: Cell<Item> | undefined = this.rear; cell !== undefined; cell = cell.next) items.push(cell.item)
      found = items[0]
    }
    return found
  }
}
