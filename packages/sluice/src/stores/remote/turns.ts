import type { MonotonicInstant } from '../../time/time.ts'
import type { Caller, Part } from './caller.ts'

export interface TurnsOptions<Item> {
  /** Calls in an item. */
  weigh(item: Item): number
  /** Calls in a batch, or `alone`: each caller is sent by itself. */
  readonly maxCalls: number | 'alone'
  /** Calls that wait in all batchers of the ring, and the most that may. */
  readonly room: { queued: number; readonly max: number }
}

/** Callers with items that are not sent. They take turns: a long list is split, and single calls travel with its parts. */
export class Turns<Item, Answer> {
  readonly #options: TurnsOptions<Item>
  #queue: Caller<Item, Answer>[] = []
  /** Calls that wait here. */
  #weight = 0

  constructor(options: TurnsOptions<Item>) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  get weight(): number {
    return this.#weight
  }

  get callers(): readonly Caller<Item, Answer>[] {
    return this.#queue
  }

  /** False if there is no room for its items. */
  add(caller: Caller<Item, Answer>): boolean {
    const { room } = this.#options
    const weight = this.#weigh(caller, 0, caller.items.length)
    if (room.queued + weight > room.max) return false
    this.#wait(weight)
    this.#queue.push(caller)
    return true
  }

  /**
   * The items of the next batch, in turns if there are more than it holds. None if their callers' deadlines have passed.
   * @param batches in how many what waits is to be sent at once
   */
  take(now: MonotonicInstant, batches: number): Part<Item, Answer>[] {
    const { maxCalls: most } = this.#options
    const maxCalls = most === 'alone' ? most : Math.min(most, Math.ceil(this.#weight / batches))
    const queue = this.#queue
    const alone = maxCalls === 'alone'
    const isAll = !alone && this.#weight <= maxCalls
    // Too much for the server: newest first, as otherwise every batch would come too late for its callers.
    if (!isAll && !isPrompt(queue[0] as Caller<Item, Answer>, now)) queue.sort((one, other) => other.since - one.since)
    let room = alone || isAll ? Number.POSITIVE_INFINITY : maxCalls
    const share = alone || isAll ? room : Math.max(1, Math.floor(room / queue.length))
    const parts: Part<Item, Answer>[] = []
    const [skipped, unsent]: [Caller<Item, Answer>[], Caller<Item, Answer>[]] = [[], []]
    const end = alone ? 1 : queue.length
    let index = 0
    for (; index < end && room > 0; index += 1) {
      const caller = queue[index] as Caller<Item, Answer>
      const from = caller.next
      if (caller.deadline > now) room -= this.#advance(caller, share, parts.length === 0 ? Number.POSITIVE_INFINITY : room)
      if (caller.next === from) skipped.push(caller)
      else {
        parts.push({ caller, from, to: caller.next })
        if (caller.next < caller.items.length) unsent.push(caller)
      }
    }
    // Callers that were served wait behind those that were not.
    this.#queue = [...skipped, ...queue.slice(index), ...unsent]
    return parts
  }

  /** Items that were sent wait again. False if later ones of their caller were sent since. */
  putBack({ caller, from, to }: Part<Item, Answer>): boolean {
    if (caller.next !== to) return false
    this.#wait(this.#weigh(caller, from, to))
    if (to === caller.items.length) this.#queue.unshift(caller)
    caller.next = from
    return true
  }

  /** Removes these callers and returns them, each with its first item that was not sent. */
  remove(which: (caller: Caller<Item, Answer>) => boolean): { readonly caller: Caller<Item, Answer>; readonly from: number }[] {
    const removed = this.#queue.filter(which)
    if (removed.length === 0) return []
    this.#queue = this.#queue.filter((caller) => !which(caller))
    return removed.map((caller) => {
      const from = caller.next
      this.#advance(caller, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
      return { caller, from }
    })
  }

  /** Takes a caller's share of its items, at least one if there is room for it; returns their weight. */
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

  #weigh({ items }: Caller<Item, Answer>, from: number, to: number): number {
    let weight = 0
    for (let index = from; index < to; index += 1) weight += this.#options.weigh(items[index] as Item)
    return weight
  }

  #wait(weight: number): void {
    this.#weight += weight
    this.#options.room.queued += weight
  }
}

/** Whether the caller has waited for at most half of its time. */
export function isPrompt({ since, deadline }: Pick<Caller<never, never>, 'since' | 'deadline'>, now: MonotonicInstant): boolean {
  return 2 * (now - since) <= deadline - since
}
