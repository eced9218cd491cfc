import type { Micros } from '../../time/micros.ts'
import type { Question } from './question.ts'
import { unsigned } from './value.ts'

/** What makes no sense. */
export class Nonsense extends Error {}

/** What a program answered. Reading what is not there, or no number, throws `Nonsense`. */
export interface Reply {
  readonly now: Micros
  /** The value of a state as it was, by its place from 1; null where there was none. */
  found(place: number): Uint8Array | null
  /** Of a state whose verdicts are told, until when it is blocked; null where there was none. */
  ends(place: number): Micros | null
  /** The next number of verdicts that are told. */
  next(): number
  /** Whether what passed of each part is what the program says, and nothing is left of the answer. */
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

/** A text as buckets.lua writes it. */
class TextReply implements Reply {
  readonly now: Micros
  readonly #bytes: Uint8Array
  /** Bytes of a number. */
  readonly #width: number
  /** Where the value of each state ends; before the first, where values begin. */
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

/** A list as consume.lua writes it. */
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

/** Clients pass whole numbers as numbers or, told to, as text. */
function whole(value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number
  throw new Nonsense()
}
