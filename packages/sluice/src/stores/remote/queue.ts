import type { MonotonicInstant } from '../../time/time.ts'
import type { StoreFailure } from '../store.ts'

/** When a caller made its call, and its deadline. */
export interface Waiting {
  readonly since: MonotonicInstant
  readonly deadline: MonotonicInstant
  readonly signal?: AbortSignal
}

/** A caller, from the queueing of its first item to its last answer. */
export class Caller<Item, Answer> {
  readonly answers: (Answer | undefined)[]
  /** Index of the first item that was not sent yet. */
  next = 0
  /** How many items have no answer yet. */
  open: number
  /** For items that are sent again: the earliest instant at which they may be sent, and the failure of the first attempt. */
  notBefore: MonotonicInstant = 0
  cause: StoreFailure | undefined
  /** The batcher that the caller waits in now. */
  at: { leave(caller: Caller<Item, Answer>): void } | undefined
  /** Called when the caller has its last answer. */
  release: (() => void) | undefined
  readonly items: readonly Item[]
  readonly since: MonotonicInstant
  readonly deadline: MonotonicInstant
  readonly answered: Promise<readonly Answer[]>
  reject!: (error: unknown) => void
  #resolve!: (answers: readonly Answer[]) => void
  #parts: Caller<Item, Answer>[] | undefined

  constructor(items: readonly Item[], { since, deadline }: Waiting) {
    this.items = items
    this.since = since
    this.deadline = deadline
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.reject = reject
    })
    // Filled, because reading beyond an array's end is slow.
    this.answers = items.length === 1 ? [undefined] : items.map(() => undefined)
    this.open = items.length
  }

  /** Sets the answer to an item. If an item gets several answers, the first one counts. */
  answer(index: number, answer: Answer): void {
    if (this.answers[index] !== undefined) return
    this.answers[index] = answer
    this.open -= 1
    if (this.open > 0) return
    this.release?.()
    this.#resolve(this.answers as Answer[])
  }

  /**
   * Makes a caller for one item that is sent again. The new caller passes its answer to this caller, and leaves the queue when this caller
   * leaves. If this caller has only that item, it is used again itself.
   */
  again(index: number, notBefore: MonotonicInstant, cause: StoreFailure): Caller<Item, Answer> {
    if (this.items.length === 1) return Object.assign(this, { next: 0, notBefore, cause })
    const part = new Caller<Item, Answer>([this.items[index] as Item], this)
    part.#resolve = ([answer]) => this.answer(index, answer as Answer)
    part.reject = this.reject
    ;(this.#parts ??= []).push(part)
    return Object.assign(part, { notBefore, cause })
  }

  /** Ends the wait when the signal aborts, unless the caller has its answers by then. */
  leaveOn(signal: AbortSignal): void {
    const abort = (): void => this.abort()
    signal.addEventListener('abort', abort, { once: true })
    this.release = () => signal.removeEventListener('abort', abort)
  }

  /** Ends the wait, because the caller has aborted. Items that wait to be sent again fail first, as not executed. */
  abort(): void {
    for (const part of this.#parts ?? []) part.at?.leave(part)
    this.at?.leave(this)
  }
}

/** Neighbouring items of one caller in a batch. */
export interface ItemRange<Item, Answer> {
  readonly caller: Caller<Item, Answer>
  readonly from: number
  readonly to: number
}

export interface QueueOptions<Item> {
  /** How many calls an item has. */
  weigh(item: Item): number
  /** The most calls in a batch; `alone`: each caller is sent by itself. */
  readonly maxCalls: number | 'alone'
  /** How many calls wait in all queues of the ring, and how many may wait. */
  readonly room: { queued: number; readonly max: number }
}

/** Callers with items that were not sent yet. They take turns: a long list is split, and its parts are batched with the calls of others. */
export class Queue<Item, Answer> {
  readonly #options: QueueOptions<Item>
  callers: readonly Caller<Item, Answer>[] = []
  /** How many calls wait in this queue. */
  weight = 0

  constructor(options: QueueOptions<Item>) {
    this.#options = options
  }

  /** Adds a caller. Returns false if there is no room for its items. */
  add(caller: Caller<Item, Answer>): boolean {
    const { room, weigh } = this.#options
    const { items } = caller
    const weight = items.length === 1 ? weigh(items[0] as Item) : items.reduce((sum, item) => sum + weigh(item), 0)
    if (room.queued + weight > room.max) return false
    this.#wait(weight)
    ;(this.callers as Caller<Item, Answer>[]).push(caller)
    return true
  }

  /**
   * Takes the items of the next batch. If more items wait than a batch holds, callers take turns. Returns none if no caller may be sent
   * now.
   * @param batches how many batches the waiting calls are split into
   */
  take(now: MonotonicInstant, batches: number): ItemRange<Item, Answer>[] {
    const { maxCalls } = this.#options
    const alone = maxCalls === 'alone'
    const size = alone ? 1 : Math.min(maxCalls, Math.ceil(this.weight / batches))
    const callers = this.callers as Caller<Item, Answer>[]
    const isAll = this.weight <= size
    // If the oldest caller has waited for more than half of the time to its deadline, the server cannot keep up. Then the newest callers
    // come first: otherwise every batch would come too late for its callers.
    const oldest = callers[0]
    if (!isAll && !alone && oldest && !isPrompt(oldest, now)) callers.sort((one, other) => other.since - one.since)
    const share = isAll || alone ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(size / callers.length))
    const ranges: ItemRange<Item, Answer>[] = []
    const [unserved, unsent]: [Caller<Item, Answer>[], Caller<Item, Answer>[]] = [[], []]
    let [room, index] = [size, 0]
    for (; index < callers.length && room > 0; index += 1) {
      const caller = callers[index] as Caller<Item, Answer>
      const from = caller.next
      const most = ranges.length === 0 ? Infinity : room
      if (caller.deadline > now && caller.notBefore <= now) room -= this.#advance(caller, share, most)
      if (caller.next === from) unserved.push(caller)
      else {
        ranges.push({ caller, from, to: caller.next })
        if (caller.next < caller.items.length) unsent.push(caller)
      }
    }
    // Callers that were served wait behind those that were not.
    const isEnd = index === callers.length && unserved.length === 0
    this.callers = isEnd ? unsent : [...unserved, ...callers.slice(index), ...unsent]
    return ranges
  }

  /** Removes these callers. Returns each with its items that were not sent. */
  remove(which: (caller: Caller<Item, Answer>) => boolean): ItemRange<Item, Answer>[] {
    const [removed, kept]: [Caller<Item, Answer>[], Caller<Item, Answer>[]] = [[], []]
    for (const caller of this.callers) (which(caller) ? removed : kept).push(caller)
    if (removed.length > 0) this.callers = kept
    return removed.map((caller) => {
      const from = caller.next
      this.#advance(caller, Infinity, Infinity)
      return { caller, from, to: caller.items.length }
    })
  }

  /**
   * Takes items of a caller, with at most `share` calls in all; at least one item if there is room for it. Returns how many calls these
   * items have.
   */
  #advance(caller: Caller<Item, Answer>, share: number, room: number): number {
    let taken = 0
    while (caller.next < caller.items.length) {
      const weight = this.#options.weigh(caller.items[caller.next] as Item)
      if (taken + weight > room || (taken > 0 && taken + weight > share)) break
      taken += weight
      caller.next += 1
    }
    this.#wait(-taken)
    return taken
  }

  #wait(weight: number): void {
    this.weight += weight
    this.#options.room.queued += weight
  }
}

/** Whether the caller has waited for at most half of the time between its call and its deadline. */
export function isPrompt({ since, deadline }: Waiting, now: MonotonicInstant): boolean {
  return 2 * (now - since) <= deadline - since
}
