import type { Micros } from '../time/micros.ts'
import { Arena, ENTRY } from './log-arena.ts'
import type { Entries, LogState } from './log-state.ts'

/** If the sum before the ring's first entry exceeds this number, it is subtracted from all sums, so that they stay far below 2^53. */
const MAX_SUM = 2 ** 51
/** One number of a row packs the ring's size plus one (4 bits), index of the first entry, and number of entries (15 bits each). */
const SIZES = 16
const OFFSETS = 32_768

/** Block; size, first entry and length as one number; the sum before the first entry; window; keepFor. All are 0 without a ring. */
export const RING_WIDTH = 5

/** The row's ring has room for 2 ** size entries. -1 if the row has no ring. */
export function sizeAt(cells: Float64Array, at: number): number {
  return ((cells[at + 1] as number) % SIZES) - 1
}

/** A ring buffer in a block of the arena. */
export class Ring implements Entries {
  length = 0
  window: Micros = 0
  keepFor: Micros = 0
  readonly #arena: Arena
  #block = 0
  #size = -1
  /** The capacity of the block in entries, less one. */
  #mask = 0
  #page: Float64Array = NOTHING
  #start = 0
  #first = 0
  /** The sum of all charges before the first entry. */
  #before = 0

  constructor(arena: Arena) {
    this.#arena = arena
  }

  load(cells: Float64Array, at: number): void {
    const rest = Math.floor((cells[at + 1] as number) / SIZES)
    this.#use(cells[at] as number, sizeAt(cells, at))
    this.length = Math.floor(rest / OFFSETS)
    this.#first = rest % OFFSETS
    this.#before = cells[at + 2] as number
    this.window = cells[at + 3] as number
    this.keepFor = cells[at + 4] as number
  }

  save(cells: Float64Array, at: number): void {
    cells[at] = this.#block
    cells[at + 1] = this.#size + 1 + SIZES * (this.#first + OFFSETS * this.length)
    cells[at + 2] = this.#before
    cells[at + 3] = this.window
    cells[at + 4] = this.keepFor
  }

  create(): void {
    this.#use(this.#arena.take(0), 0)
    this.length = 0
    this.#first = 0
    this.#before = 0
  }

  at(index: number): Micros {
    return this.#page[this.#offsetOf(index)] as number
  }

  through(index: number): number {
    return index < 0 ? this.#before : (this.#page[this.#offsetOf(index) + 1] as number)
  }

  /** Copies the state's entries, unless they are this ring's. */
  apply(state: LogState): void {
    this.window = state.window
    this.keepFor = state.keepFor
    if (state.entries !== this) this.#copy(state.entries)
    this.#drop(state.skip)
    if (state.added === 0) return
    if (state.merges) this.#set(this.length - 1, state.addedAt, this.through(this.length - 1) + state.added)
    else this.#push(state.addedAt, state.added)
  }

  #use(block: number, size: number): void {
    this.#block = block
    this.#size = size
    this.#mask = (1 << size) - 1
    this.#page = this.#arena.pageOf(block)
    this.#start = this.#arena.offsetOf(block)
  }

  #offsetOf(index: number): number {
    return this.#start + ENTRY * ((this.#first + index) & this.#mask)
  }

  #set(index: number, at: Micros, sum: number): void {
    const offset = this.#offsetOf(index)
    this.#page[offset] = at
    this.#page[offset + 1] = sum
  }

  #drop(count: number): void {
    if (count === 0) return
    this.#before = this.through(count - 1)
    this.#first = (this.#first + count) & this.#mask
    this.length -= count
    if (this.#before > MAX_SUM) this.#rebase()
  }

  #push(at: Micros, added: number): void {
    if (this.length > this.#mask) this.#resize(this.#size + 1)
    const sum = this.through(this.length - 1) + added
    this.length += 1
    this.#set(this.length - 1, at, sum)
  }

  #copy(entries: Entries): void {
    this.length = 0
    this.#resize(Arena.sizeFor(entries.length))
    this.#before = entries.through(-1)
    this.length = entries.length
    for (let index = 0; index < entries.length; index += 1) this.#set(index, entries.at(index), entries.through(index))
  }

  #resize(size: number): void {
    const [block, from] = [this.#arena.take(size), this.#size]
    const [page, start] = [this.#arena.pageOf(block), this.#arena.offsetOf(block)]
    for (let index = 0; index < this.length; index += 1) {
      page[start + ENTRY * index] = this.at(index)
      page[start + ENTRY * index + 1] = this.through(index)
    }
    this.#arena.giveBack(this.#block, from)
    this.#use(block, size)
    this.#first = 0
  }

  #rebase(): void {
    const before = this.#before
    this.#before = 0
    for (let index = 0; index < this.length; index += 1) this.#set(index, this.at(index), this.through(index) - before)
  }
}

const NOTHING = new Float64Array(0)
