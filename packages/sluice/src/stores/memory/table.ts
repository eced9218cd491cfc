import type { Micros } from '../../time/micros.ts'
import { Segment } from './segment.ts'

/** A full segment with at least this many rows is split, so one step of growth copies at most about 2,000. */
const MAX_ROWS = 1_500
/** The most bits of `hi` by which segments are found. */
const MAX_BITS = 24

export interface Rows {
  expiresAt(planId: number, cells: Float64Array, at: number): Micros
  /** Frees what a removed row keeps outside of the table. */
  release(planId: number, cells: Float64Array, at: number): void
}

/**
 * Rows of `width` numbers, found by 64-bit digests (`lo` and `hi`). The first bits of `hi` select a segment (extendible hashing). Segments
 * grow one at a time, so that no call copies all rows. `find` sets `segment` to that of the row.
 */
export class Table {
  readonly width: number
  segment: Segment
  size = 0
  readonly #rows: Rows
  /** The segments, by the first `#bits` bits of `hi`. Neighbouring entries may be the same segment. */
  #directory: Segment[]
  #bits = 1
  /** `hi >>> #shift` is an index of the directory. */
  #shift = 31
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

  /**
   * Adds a row for a digest for which `find` has just returned -1. It may change `segment`, into whose cells the caller then writes the
   * row.
   */
  add(lo: number, hi: number, planId: number, now: Micros, expiresAt: Micros): number {
    if (this.segment.count >= this.segment.room) {
      this.#sweep(this.segment, now)
      if (this.segment.count >= this.segment.room * 0.9) this.#grow(hi)
    }
    this.size += 1
    this.touched(expiresAt)
    return this.segment.add(lo, hi, planId)
  }

  /** Notes that a row of `segment` expires at this instant. */
  touched(expiresAt: Micros): void {
    this.segment.quietUntil = Math.min(this.segment.quietUntil, expiresAt)
  }

  remove(row: number): void {
    this.#drop(this.segment, row)
    this.size -= 1
  }

  /** Removes the expired rows of the next segment. Returns whether there were any. */
  sweepNext(now: Micros): boolean {
    this.#swept = (this.#swept + 1) % this.pieces
    return this.#sweep(this.#directory[this.#swept] as Segment, now)
  }

  /** How many calls of `sweepNext` examine every row. */
  get pieces(): number {
    return this.#directory.length
  }

  #sweep(segment: Segment, now: Micros): boolean {
    if (segment.quietUntil > now) return false
    const { capacity, count, cells } = segment
    let row = 0
    while (segment.planIdOf(row) !== 0) row += 1
    segment.quietUntil = Infinity
    // Goes backwards from a free row: a removal moves only rows after the removed one, which were examined before.
    for (let left = capacity; left > 0; left -= 1) {
      row = (row === 0 ? capacity : row) - 1
      // A row may move into the place of a removed one.
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
