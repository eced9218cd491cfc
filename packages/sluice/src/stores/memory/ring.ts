import type { Entries, LogState } from '../../algorithms/log-state.ts'
import type { Micros } from '../../time/micros.ts'

const SMALLEST = 4
/** Sums are counted from the first entry's again before whole numbers end. */
const LARGEST_SUM = 2 ** 52
const BYTES_PER_ENTRY = 16

/** One log's entries in a ring that grows by doubling: instants, and sums of micro-tokens up to each. */
export class Ring implements Entries {
  length = 0
  window: Micros = 0
  hold: Micros = 0
  #times = new Float64Array(SMALLEST)
  #sums = new Float64Array(SMALLEST)
  #first = 0
  /** Sum before the first entry. */
  #before = 0

  /** Bytes of a ring for so many entries. */
  static bytesFor(entries: number): number {
    return capacityFor(entries) * BYTES_PER_ENTRY
  }

  get bytes(): number {
    return this.#times.length * BYTES_PER_ENTRY
  }

  at(index: number): Micros {
    return this.#times[(this.#first + index) & (this.#times.length - 1)] as number
  }

  through(index: number): number {
    return index < 0 ? this.#before : (this.#sums[(this.#first + index) & (this.#sums.length - 1)] as number)
  }

  /** Makes the state this ring's: a change of its own entries in place, others copied. */
  apply(state: LogState): void {
    this.window = state.window
    this.hold = state.hold
    if (state.entries !== this) this.#copy(state.entries)
    this.#drop(state.skip)
    if (state.added === 0) return
    if (state.merges) this.#set(this.length - 1, state.addedAt, this.through(this.length - 1) + state.added)
    else this.#push(state.addedAt, state.added)
  }

  #drop(count: number): void {
    if (count === 0) return
    this.#before = this.through(count - 1)
    this.#first = (this.#first + count) & (this.#times.length - 1)
    this.length -= count
    if (this.#before > LARGEST_SUM / 2) this.#rebase()
  }

  #push(at: Micros, added: number): void {
    if (this.length === this.#times.length) this.#resize(this.length + 1)
    const sum = this.through(this.length - 1) + added
    this.length += 1
    this.#set(this.length - 1, at, sum)
  }

  #set(index: number, at: Micros, sum: number): void {
    const place = (this.#first + index) & (this.#times.length - 1)
    this.#times[place] = at
    this.#sums[place] = sum
  }

  #copy(entries: Entries): void {
    this.#first = 0
    this.#before = entries.through(-1)
    this.length = 0
    this.#times = new Float64Array(capacityFor(entries.length))
    this.#sums = new Float64Array(capacityFor(entries.length))
    this.length = entries.length
    for (let index = 0; index < entries.length; index += 1) this.#set(index, entries.at(index), entries.through(index))
  }

  #resize(entries: number): void {
    const { length } = this
    const [times, sums] = [new Float64Array(capacityFor(entries)), new Float64Array(capacityFor(entries))]
    for (let index = 0; index < length; index += 1) {
      times[index] = this.at(index)
      sums[index] = this.through(index)
    }
    this.#times = times
    this.#sums = sums
    this.#first = 0
  }

  #rebase(): void {
    const before = this.#before
    this.#before = 0
    for (let index = 0; index < this.length; index += 1) this.#set(index, this.at(index), this.through(index) - before)
  }
}

function capacityFor(entries: number): number {
  return Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(entries)))
}
