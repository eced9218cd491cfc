/** What a delay line needs of its surroundings. Tests pass a clock of their own. */
export interface DelayLineOptions<Item> {
  /** The delay of the next item, in milliseconds. */
  readonly delay: () => number
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => void
  readonly deliver: (item: Item) => void
  /** Called with the milliseconds by which an item was delivered later than it was due. */
  readonly onLag: (ms: number) => void
}

/** Delivers items in their order, each at the earliest when its delay has passed, as a network delivers the bytes of one connection. */
export class DelayLine<Item> {
  readonly #options: DelayLineOptions<Item>
  readonly #waiting: { readonly item: Item; readonly due: number }[] = []
  #last = Number.NEGATIVE_INFINITY
  #armed = false

  constructor(options: DelayLineOptions<Item>) {
    this.#options = options
  }

  push(item: Item): void {
    const { delay, now } = this.#options
    this.#last = Math.max(this.#last, now() + delay())
    this.#waiting.push({ item, due: this.#last })
    this.#arm()
  }

  #arm(): void {
    const [first] = this.#waiting
    if (this.#armed || first === undefined) return
    this.#armed = true
    this.#options.after(Math.max(0, first.due - this.#options.now()), () => {
      this.#armed = false
      this.#deliver()
    })
  }

  #deliver(): void {
    const { now, deliver, onLag } = this.#options
    // A timer may fire a fraction of a millisecond early. Then it is set again.
    while (this.#waiting.length > 0 && (this.#waiting[0]?.due ?? 0) <= now()) {
      const { item, due } = this.#waiting.shift() as { item: Item; due: number }
      onLag(now() - due)
      deliver(item)
    }
    this.#arm()
  }
}
