import type { Micros } from '../../time/micros.ts'
import { Segment } from './segment.ts'

/** The number of rows from which on a segment is split instead of enlarged. So growing a segment never copies many more rows. */
const MAX_ROWS = 1_500
/** The most bits of `hi` that select a segment. */
const MAX_BITS = 24

/** The table's callbacks for its rows. */
export interface Rows {
  /** First instant from which the row is expired. */
  expiresAt(planId: number, cells: Float64Array, at: number): Micros
  /** Called when the row is removed. */
  release(planId: number, cells: Float64Array, at: number): void
}

/**
 * Rows of `width` numbers by 64-bit digest, without an object per row. Segments are found by the first bits of `hi` (extendible hashing)
 * and grow one at a time, so that no call pays for all rows. After `find`, `segment` is the one that has the row, or would get it.
 */
export class Table {
  readonly width: number
  segment: Segment
  size = 0
  readonly #rows: Rows
  /** 2 ** bits entries. Several entries may have one segment, until it is split. */
  #directory: Segment[]
  #bits = 1
  /** 32 - bits. */
  #shift = 31
  /** The entry that was swept last. */
  #swept = 0

  constructor(width: number, rows: Rows) {
    this.width = width
    this.#rows = rows
    this.#directory = [new Segment(4, width, 1), new Segment(4, width, 1)]
    this.segment = this.#directory[0] as Segment
  }

  find(lo: number, hi: number): number {
    this.segment = this.#directory[hi >>> this.#shift] as Segment
    return this.segment.find(lo, hi)
  }

  /** Adds a row for a digest that `find` has just missed. The caller fills the cells of `segment`, which may be another one now. */
  add(lo: number, hi: number, planId: number, now: Micros, expiresAt: Micros): number {
    if (this.segment.count >= this.segment.room) {
      this.#sweep(this.segment, now)
      if (this.segment.count >= this.segment.room * 0.9) this.#grow(hi)
    }
    this.size += 1
    this.touched(expiresAt)
    return this.segment.add(lo, hi, planId)
  }

  /** Notes that a row of the found segment expires at this instant. */
  touched(expiresAt: Micros): void {
    this.segment.quietUntil = Math.min(this.segment.quietUntil, expiresAt)
  }

  /** Removes a row of the found segment. */
  remove(row: number): void {
    this.#drop(this.segment, row)
    this.size -= 1
  }

  /** Removes the expired rows of one segment; the next call does so for the next segment. True if any row was removed. */
  sweepNext(now: Micros): boolean {
    this.#swept = (this.#swept + 1) % this.pieces
    return this.#sweep(this.#directory[this.#swept] as Segment, now)
  }

  /** Calls of `sweepNext` that together examine every row. */
  get pieces(): number {
    return this.#directory.length
  }

  #sweep(segment: Segment, now: Micros): boolean {
    if (segment.quietUntil > now) return false
    const { capacity, count, cells } = segment
    let row = 0
    while (segment.planIdOf(row) !== 0) row += 1
    segment.quietUntil = Infinity
    // From a free row backwards, because a removal only moves up rows that were already examined.
    for (let left = capacity; left > 0; left -= 1) {
      row = (row === 0 ? capacity : row) - 1
      // Each row that moves into the place of a removed one is examined too.
      for (let planId = segment.planIdOf(row); planId !== 0; planId = segment.planIdOf(row)) {
        const expiresAt = this.#rows.expiresAt(planId, cells, row * this.width)
        if (expiresAt > now) {
          segment.quietUntil = Math.min(segment.quietUntil, expiresAt)
          break
        }
        this.#drop(segment, row)
      }
    }
    this.size -= count - segment.count
    return segment.count < count
  }

  #drop(segment: Segment, row: number): void {
    this.#rows.release(segment.planIdOf(row), segment.cells, row * this.width)
    segment.remove(row)
  }

  /** Enlarges the segment of `hi`, or splits it. */
  #grow(hi: number): void {
    const { segment } = this
    const { bits } = segment
    const parts = segment.count < MAX_ROWS || bits >= MAX_BITS ? 1 : 2
    if (parts === 2 && bits === this.#bits) {
      this.#directory = this.#directory.flatMap((one) => [one, one])
      this.#bits += 1
      this.#shift -= 1
    }
    const entries = 2 ** (this.#bits - bits)
    const first = (hi >>> (32 - bits)) * entries
    for (let part = 0; part < parts; part += 1) {
      const copy = segment.copy(bits + parts - 1, (digest) => parts === 1 || ((digest >>> (31 - bits)) & 1) === part)
      this.#directory.fill(copy, first + (part * entries) / parts, first + ((part + 1) * entries) / parts)
    }
    this.segment = this.#directory[hi >>> this.#shift] as Segment
  }
}
