import type { MonotonicInstant } from '../../time/time.ts'
import type { StoreFailure } from '../store.ts'

/** When a caller made its call, and its deadline. */
export interface Waiting {
  readonly since: MonotonicInstant
  readonly deadline: MonotonicInstant
  readonly signal?: AbortSignal
}

/** A caller, from queueing its items to its last answer. */
export class Caller<Item, Answer> {
  readonly answers: (Answer | undefined)[]
  /** Index of the first item that was not sent yet. */
  next = 0
  /** How many items have no answer yet. */
  open: number
  /** For items that are sent again: the earliest instant, and the failure of the first attempt. */
  notBefore: MonotonicInstant = 0
  cause: StoreFailure | undefined
  /** The batcher that the caller waits in now. */
  at: { leave(caller: Caller<Item, Answer>): void } | undefined
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

  /** The first answer to an item counts. */
  answer(index: number, answer: Answer): void {
    if (this.answers[index] !== undefined) return
    this.answers[index] = answer
    this.open -= 1
    if (this.open > 0) return
    this.release?.()
    this.#resolve(this.answers as Answer[])
  }

  /** Returns a caller that sends one item again and passes the answer on. If this caller has no other items, returns itself. */
  again(index: number, notBefore: MonotonicInstant, cause: StoreFailure): Caller<Item, Answer> {
    if (this.items.length === 1) return Object.assign(this, { next: 0, notBefore, cause })
    const part = new Caller<Item, Answer>([this.items[index] as Item], this)
    part.#resolve = ([answer]) => this.answer(index, answer as Answer)
    part.reject = this.reject
    ;(this.#parts ??= []).push(part)
    return Object.assign(part, { notBefore, cause })
  }

  /** Ends the wait when the signal aborts. */
  leaveOn(signal: AbortSignal): void {
    const abort = (): void => this.abort()
    signal.addEventListener('abort', abort, { once: true })
    this.release = () => signal.removeEventListener('abort', abort)
  }

  /**
   * Items that wait to be sent again (`#parts`) fail first, as not executed. Of the others, those that were sent fail as perhaps executed.
   */
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
  weigh(item: Item): number
  /** The most calls in a batch; `alone`: each caller is sent by itself. */
  readonly maxCalls: number | 'alone'
  /** Calls that wait in all queues of the store, and their bound. */
  readonly room: { queued: number; readonly max: number }
}

/** Callers with unsent items. Long lists are split, so that others need not wait for all of a list. */
export class Queue<Item, Answer> {
  readonly #options: QueueOptions<Item>
  callers: readonly Caller<Item, Answer>[] = []
  /** How many calls wait in this queue. */
  weight = 0

  constructor(options: QueueOptions<Item>) {
    this.#options = options
  }

  /** Returns false if there is no room for the caller's items. */
  add(caller: Caller<Item, Answer>): boolean {
    const { room } = this.#options
    const weight = this.weigh(caller.items)
    if (room.queued + weight > room.max) return false
    this.#wait(weight)
    ;(this.callers as Caller<Item, Answer>[]).push(caller)
    return true
  }

  /** How many calls the items contain. */
  weigh(items: readonly Item[]): number {
    const { weigh } = this.#options
    return items.length === 1 ? weigh(items[0] as Item) : items.reduce((sum, item) => sum + weigh(item), 0)
  }

  /** Empty if no caller may be sent now. @param batches how many batches the waiting calls are split into */
  take(now: MonotonicInstant, batches: number): ItemRange<Item, Answer>[] {
    const { maxCalls } = this.#options
    const alone = maxCalls === 'alone'
    const size = alone ? 1 : Math.min(maxCalls, Math.ceil(this.weight / batches))
    const callers = this.callers as Caller<Item, Answer>[]
    const isAll = this.weight <= size
    // If the oldest caller has waited for half of the time to its deadline, the newest come first: otherwise every batch would be late.
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

  /** Takes items of a caller up to `share` calls, but at least one item if `room` allows. Returns how many calls these items contain. */
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

/** Whether at most half of the time to the caller's deadline is over. */
export function isPrompt({ since, deadline }: Waiting, now: MonotonicInstant): boolean {
  return 2 * (now - since) <= deadline - since
}
