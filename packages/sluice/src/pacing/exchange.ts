import { LimiterError } from '../errors/limiter-error.ts'
import { onAbort } from '../time/abort-listeners.ts'
import type { Cancel } from '../time/time.ts'
import { createQueue, type Queue } from '../limiter/queue.ts'
import type { Turns } from './turns.ts'

export interface ExchangeParts {
  readonly turns: Turns
  /** The most items in the buffer. Their puts have already resolved. */
  readonly capacity: number
  /** The most waiting puts, and the most waiting takes. */
  readonly maxWaiting: number
  /** Tokens that an item takes; default 1. */
  readonly cost: number | undefined
  /** Its abort rejects all waiting puts and takes with its reason. */
  readonly signal: AbortSignal | undefined
}

interface Waiter<T> {
  resolve(value: T): void
  reject(reason: unknown): void
}

interface Put<Item> extends Waiter<void> {
  readonly item: Item
}

/**
 * Requests one turn of the limit for each pair of an item and a taker. Each turn that comes passes the first item to the first taker, so
 * both keep their order even if some leave.
 */
export class Exchange<Item> {
  readonly #parts: ExchangeParts
  readonly #buffer = createQueue<Item>()
  readonly #puts = createQueue<Put<Item>>()
  readonly #takers = createQueue<Waiter<Item | undefined>>()
  /** Of turns that were requested and have not come, in order. */
  readonly #turns: AbortController[] = []
  readonly #unlink: Cancel
  #isClosed = false

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    const { signal } = parts
    this.#unlink = signal === undefined || signal.aborted ? () => {} : onAbort(signal, () => this.#end(signal.reason))
  }

  /** Includes the items of puts that wait. */
  get size(): number {
    return this.#buffer.size + this.#puts.size
  }

  async put(item: Item, signal: AbortSignal | undefined): Promise<void> {
    if (this.#isClosed) throw new LimiterError('CLOSED', 'channel.put: the channel is closed')
    if (this.#buffer.size >= this.#parts.capacity)
      return this.#wait<void, Put<Item>>('put', this.#puts, signal, (put) => ({ ...put, item }))
    this.#buffer.add(item)
    this.#balance()
  }

  async take(signal: AbortSignal | undefined): Promise<Item | undefined> {
    if (this.#isClosed && this.size === 0) return undefined
    return this.#wait<Item | undefined, Waiter<Item | undefined>>('take', this.#takers, signal, (taker) => taker)
  }

  close(): void {
    this.#isClosed = true
    this.#balance()
  }

  #wait<T, W extends Waiter<T>>(
    what: string,
    queue: Queue<W>,
    signal: AbortSignal | undefined,
    make: (waiter: Waiter<T>) => W,
  ): Promise<T> {
    const { maxWaiting } = this.#parts
    if (queue.size >= maxWaiting)
      throw new LimiterError('OVERLOAD', `channel.${what}: ${maxWaiting} calls are waiting already (maxWaiting)`)
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        queue.remove(entry)
        reject(signal?.reason as Error)
        this.#balance()
      }
      const stop = signal === undefined ? undefined : onAbort(signal, leave)
      const entry = queue.add(
        make({
          resolve: (value) => {
            stop?.()
            resolve(value)
          },
          reject: (reason) => {
            stop?.()
            reject(reason)
          },
        }),
      )
      this.#balance()
    })
  }

  /** Requests missing turns, and gives back surplus ones. */
  #balance(): void {
    if (this.#isClosed && this.size === 0) {
      this.#unlink()
      for (let taker = this.#takers.shift(); taker !== undefined; taker = this.#takers.shift()) taker.resolve(undefined)
    }
    const pairs = Math.min(this.#takers.size, this.size)
    while (this.#turns.length < pairs) this.#request()
    while (this.#turns.length > pairs) this.#turns.pop()?.abort()
  }

  #request(): void {
    const { cost, turns } = this.#parts
    const controller = new AbortController()
    this.#turns.push(controller)
    turns.next(cost, controller.signal).then(
      () => this.#came(controller, () => this.#deliver()),
      (error: unknown) => this.#came(controller, () => this.#takers.shift()?.reject(error)),
    )
  }

  /** A turn that was given back has no effect. */
  #came(controller: AbortController, then: () => void): void {
    const index = this.#turns.indexOf(controller)
    if (index === -1) return
    this.#turns.splice(index, 1)
    then()
    this.#balance()
  }

  #deliver(): void {
    const { capacity } = this.#parts
    const put = this.#puts.shift()
    // The first waiting put fills the free place in the buffer. Without a buffer, its item goes to the taker itself.
    if (put !== undefined && capacity > 0) this.#buffer.add(put.item)
    this.#takers.shift()?.resolve(capacity > 0 ? this.#buffer.shift() : put?.item)
    put?.resolve()
  }

  #end(reason: unknown): void {
    while (this.#turns.length > 0) this.#turns.pop()?.abort()
    for (let put = this.#puts.shift(); put !== undefined; put = this.#puts.shift()) put.reject(reason)
    for (let taker = this.#takers.shift(); taker !== undefined; taker = this.#takers.shift()) taker.reject(reason)
  }
}
