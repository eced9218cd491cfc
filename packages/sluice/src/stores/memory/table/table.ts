import type { Micros } from '../../../time/micros.ts'
import { Segment } from './segment.ts'

/** Rows at which a segment is split; growing one copies no more than this. */
const LARGEST = 1_500
/** Growth factor of a segment: small enough for memory to follow the number of rows, large enough that each row is copied few times. */
const GROWTH = 1.3
/** The most bits of `hi` that select a segment. */
const DEEPEST = 24

/** A segment, and how many first bits of `hi` all its rows share. */
interface Place {
  segment: Segment
  readonly bits: number
}

/** The table's callbacks for its rows. */
export interface Rows {
  /** First instant from which the row is expired. */
  expiresAt(unit: number, cells: Float64Array, at: number): Micros
  /** Called when the row is removed. */
  release(unit: number, cells: Float64Array, at: number): void
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
  /** 2 ** bits entries; a segment has several entries until it is split. */
  #directory: Place[]
  #bits = 1
  /** 32 - bits. */
  #shift = 31
  #hand = 0
  /** No row of any segment expires before this instant. As in a segment, the value may be too early. */
  #quietUntil: number = Number.POSITIVE_INFINITY
  /** Consecutive segments without an expired row. */
  #vain = 0

  constructor(width: number, rows: Rows) {
    this.width = width
    this.#rows = rows
    this.#directory = [0, 1].map(() => ({ segment: new Segment(4, width), bits: 1 }))
    this.segment = this.#placeOf(0).segment
  }

  #placeOf(hi: number): Place {
    return this.#directory[hi >>> this.#shift] as Place
  }

  find(lo: number, hi: number): number {
    this.segment = this.#placeOf(hi).segment
    return this.segment.find(lo, hi)
  }

  /** Adds a row for a digest that `find` has just missed. The caller fills the cells of `segment`, which may have changed. */
  add(lo: number, hi: number, unit: number, now: Micros, expiresAt: Micros): number {
    if (this.segment.count >= this.segment.room) {
      this.#sweep(this.segment, now)
      if (this.segment.count >= this.segment.room * 0.9) this.#grow(hi)
    }
    this.size += 1
    this.touched(expiresAt)
    return this.segment.add(lo, hi, unit)
  }

  /** Notes that a row of the found segment expires at this instant. */
  touched(expiresAt: Micros): void {
    if (expiresAt >= this.segment.quietUntil) return
    this.segment.quietUntil = expiresAt
    if (expiresAt < this.#quietUntil) this.#quietUntil = expiresAt
  }

  /** Removes a row of the found segment. */
  remove(row: number): void {
    const { segment, width } = this
    this.#rows.release(segment.unitOf(row), segment.cells, row * width)
    segment.remove(row)
    this.size -= 1
  }

  /** Removes expired rows of one segment; the next call continues with the next. True if there were any. */
  sweepNext(now: Micros): boolean {
    if (this.#quietUntil > now) return false
    this.#hand = (this.#hand + 1) % this.#directory.length
    const swept = this.#sweep((this.#directory[this.#hand] as Place).segment, now)
    this.#vain = swept ? 0 : this.#vain + 1
    if (this.#vain >= this.#directory.length) {
      this.#vain = 0
      this.#quietUntil = this.#directory.reduce((least, { segment }) => Math.min(least, segment.quietUntil), Number.POSITIVE_INFINITY)
    }
    return swept
  }

  /** Calls of `sweepNext` that together examine every row. */
  get pieces(): number {
    return this.#directory.length
  }

  #sweep(segment: Segment, now: Micros): boolean {
    if (segment.quietUntil > now) return false
    const { capacity, count } = segment
    let free = 0
    while (segment.unitOf(free) !== 0) free += 1
    let quietUntil = Number.POSITIVE_INFINITY
    // From a free row backwards, because a removal only moves up rows that were already examined.
    for (let step = 1; step < capacity; step += 1) {
      const row = free >= step ? free - step : free - step + capacity
      quietUntil = Math.min(quietUntil, this.#sweepRow(segment, row, now))
    }
    segment.quietUntil = quietUntil
    this.size -= count - segment.count
    return segment.count < count
  }

  /** Removes the row, and each that moves into its place, while it is expired. Returns when the row that stays expires. */
  #sweepRow(segment: Segment, row: number, now: Micros): Micros {
    const at = row * this.width
    for (let unit = segment.unitOf(row); unit !== 0; unit = segment.unitOf(row)) {
      const expiresAt = this.#rows.expiresAt(unit, segment.cells, at)
      if (expiresAt > now) return expiresAt
      this.#rows.release(unit, segment.cells, at)
      segment.remove(row)
    }
    return Number.POSITIVE_INFINITY
  }

  /** Enlarges the segment of `hi`, or splits it. */
  #grow(hi: number): void {
    const place = this.#placeOf(hi)
    const { segment } = place
    if (segment.count < LARGEST || place.bits >= DEEPEST) {
      place.segment = new Segment(Math.max(segment.count + 4, Math.ceil(segment.count * GROWTH)), this.width)
      segment.copyTo(place.segment)
    } else this.#cut(place, hi)
    this.segment = this.#placeOf(hi).segment
  }

  #cut({ segment, bits }: Place, hi: number): void {
    if (bits === this.#bits) {
      this.#directory = this.#directory.flatMap((place) => [place, place])
      this.#bits += 1
      this.#shift -= 1
    }
    const isUpper = (digest: number): boolean => ((digest >>> (31 - bits)) & 1) === 1
    const upper = segment.countOf(isUpper)
    const halves = [segment.count - upper, upper].map((count) => ({
      segment: new Segment(Math.ceil(count * GROWTH) + 4, this.width),
      bits: bits + 1,
    }))
    const [low, high] = halves as [Place, Place]
    segment.copyTo(low.segment, (digest) => !isUpper(digest))
    segment.copyTo(high.segment, isUpper)
    const each = 2 ** (this.#bits - bits - 1)
    const first = (hi >>> (32 - bits)) * 2 * each
    this.#directory.fill(low, first, first + each)
    this.#directory.fill(high, first + each, first + 2 * each)
  }
}
