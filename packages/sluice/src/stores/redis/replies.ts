import type { Micros } from '../../time/micros.ts'
import type { Question } from './question.ts'
import { unsigned } from './value.ts'

/** A reply that is invalid. */
export class Nonsense extends Error {}

/** A program's reply. Reading a missing or invalid number throws `Nonsense`. */
export interface Reply {
  readonly now: Micros
  /** The value of a state before the call, by its index from 1; null if there was none. */
  found(place: number): Uint8Array | null
  /** For a state whose verdicts are in the reply, the end of its block; null if there was no state. */
  ends(place: number): Micros | null
  /** The next number of the verdicts in the reply. */
  next(): number
  /** Whether the program's counts of passed calls equal those of each part, and the reply has no further numbers. */
  isPassed(order: Question['order']): boolean
}

/** @throws Nonsense */
export function replyOf(reply: unknown, states: number): Reply {
  if (reply instanceof Uint8Array) return new TextReply(reply, states)
  if (Array.isArray(reply)) return new ListReply(reply, states)
  throw new Nonsense()
}

/** Bytes of a time. */
const TIME = 7

/** A reply as text, as buckets.lua writes it. */
class TextReply implements Reply {
  readonly now: Micros
  readonly #bytes: Uint8Array
  /** Bytes of a number. */
  readonly #width: number
  /** Where the value of each state ends; the first entry is where values begin. */
  readonly #ends: number[]

  constructor(bytes: Uint8Array, states: number) {
    const width = bytes[0]
    if (width !== 1 && width !== 4) throw new Nonsense()
    let end = 1 + 2 * width * states
    if (bytes.length < end + TIME) throw new Nonsense()
    const ends = [end]
    for (let state = 0; state < states; state += 1) ends.push((end += unsigned(bytes, 1 + 2 * width * state, width)))
    if (bytes.length !== end + TIME) throw new Nonsense()
    this.now = unsigned(bytes, end, TIME)
    this.#bytes = bytes
    this.#width = width
    this.#ends = ends
  }

  found(place: number): Uint8Array | null {
    const from = this.#ends[place - 1] as number
    const end = this.#ends[place] as number
    return from === end ? null : this.#bytes.subarray(from, end)
  }

  ends(): never {
    throw new Nonsense()
  }

  next(): never {
    throw new Nonsense()
  }

  isPassed(order: Question['order']): boolean {
    const width = this.#width
    for (let index = 0; index < order.length; index += 1) {
      if (unsigned(this.#bytes, 1 + width * (2 * index + 1), width) !== order[index]?.passed) return false
    }
    return true
  }
}

const LARGEST_ROOM = 2 ** 52

/** A reply as a list, as consume.lua writes it. */
class ListReply implements Reply {
  readonly now: Micros
  readonly #list: readonly unknown[]
  #at: number

  constructor(list: readonly unknown[], states: number) {
    this.now = whole(list[states])
    this.#list = list
    this.#at = states + 1
  }

  found(place: number): Uint8Array | null {
    const found = this.#list[place - 1]
    if (found === null || found instanceof Uint8Array) return found
    throw new Nonsense()
  }

  ends(place: number): Micros | null {
    const found = this.#list[place - 1]
    return found === null ? null : whole(found)
  }

  next(): number {
    this.#at += 1
    return whole(this.#list[this.#at - 1])
  }

  isPassed(order: Question['order']): boolean {
    let [digits, room] = [0, 1]
    for (const part of order) {
      const base = 'states' in part ? 2 : part.times + 1
      if (room * base > LARGEST_ROOM) {
        if (this.next() !== digits) return false
        digits = 0
        room = 1
      }
      digits = digits * base + part.passed
      room *= base
    }
    return this.next() === digits && this.#list.length === this.#at
  }
}

/** Clients return integers as numbers or, if configured so, as text. */
function whole(value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number
  throw new Nonsense()
}
