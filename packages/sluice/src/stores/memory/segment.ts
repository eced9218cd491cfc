/**
 * How many 32-bit numbers a row has in `marks`: the two halves of its digest, and the id of its plan (a limit's numbers). The plan id of a
 * free row is 0.
 */
const MARKS = 3
const HI = 1
const PLAN_ID = 2

/** The greatest share of rows in use. Beyond it, searching for a row would take too many steps. */
const MAX_LOAD = 0.86
/** Factor by which a segment grows: small enough that memory follows the number of rows, large enough that each row is copied few times. */
const GROWTH = 1.3

/**
 * A part of a table: a hash table with open addressing and linear probing, in which `lo` of a row's digest is the hash. A table consists of
 * many segments, and only a full one is replaced by a larger one, so that tables grow in small steps.
 */
export class Segment {
  readonly capacity: number
  readonly marks: Int32Array
  /** `width` numbers for each row; all 0 in a free row. */
  readonly cells: Float64Array
  readonly width: number
  /** How many leading bits of `hi`, the upper half of the digest, are the same in all its rows. */
  readonly bits: number
  /** The most rows that may be in use. */
  readonly room: number
  count = 0
  /**
   * No row expires before this instant, so until then there is no need to search for expired rows. The first row may expire later, but not
   * earlier.
   */
  quietUntil: number = Infinity

  /** @param rows how many rows it must be able to hold */
  constructor(rows: number, width: number, bits: number) {
    this.capacity = Math.ceil(rows / MAX_LOAD) + 1
    this.room = Math.min(Math.floor(this.capacity * MAX_LOAD), this.capacity - 1)
    this.width = width
    this.bits = bits
    // One allocation. The doubles come first, because they must be aligned to eight bytes.
    const bytes = this.capacity * width * 8
    const buffer = new ArrayBuffer(bytes + this.capacity * MARKS * 4)
    this.cells = new Float64Array(buffer, 0, this.capacity * width)
    this.marks = new Int32Array(buffer, bytes)
  }

  /** The index of the row with this digest; -1 if no row has it. */
  find(lo: number, hi: number): number {
    const { marks, capacity } = this
    let row = Math.floor(((lo >>> 0) / 2 ** 32) * capacity)
    for (;;) {
      const at = row * MARKS
      if (marks[at + PLAN_ID] === 0) return -1
      if (marks[at] === lo && marks[at + HI] === hi) return row
      row = row + 1 === capacity ? 0 : row + 1
    }
  }

  planIdOf(row: number): number {
    return this.marks[row * MARKS + PLAN_ID] as number
  }

  setPlanId(row: number, planId: number): void {
    this.marks[row * MARKS + PLAN_ID] = planId
  }

  /**
   * Adds a row for a digest that is absent, and returns its index. The caller fills its cells. The caller also checks before that there is
   * a free row.
   */
  add(lo: number, hi: number, planId: number): number {
    const { marks, capacity } = this
    let row = this.#homeOf(lo)
    while (this.planIdOf(row) !== 0) row = row + 1 === capacity ? 0 : row + 1
    const at = row * MARKS
    marks[at] = lo
    marks[at + HI] = hi
    marks[at + PLAN_ID] = planId
    this.count += 1
    return row
  }

  /**
   * Removes a row. The home of a row is the place at which the search for its digest begins. Rows after the removed one may not be at their
   * home, because another row was there. They are moved towards it, so that a search does not end at the hole.
   */
  remove(row: number): void {
    const { marks, cells, capacity, width } = this
    let hole = row
    for (let next = hole; ;) {
      next = next + 1 === capacity ? 0 : next + 1
      if (this.planIdOf(next) === 0) break
      const home = this.#homeOf(marks[next * MARKS] as number)
      // The row may move to the hole, unless its home lies between the hole and its present position: a search that begins there would not
      // find it.
      if (hole <= next ? home > hole && home <= next : home > hole || home <= next) continue
      marks.copyWithin(hole * MARKS, next * MARKS, (next + 1) * MARKS)
      cells.copyWithin(hole * width, next * width, (next + 1) * width)
      hole = next
    }
    marks.fill(0, hole * MARKS, (hole + 1) * MARKS)
    cells.fill(0, hole * width, (hole + 1) * width)
    this.count -= 1
  }

  /** Returns a new segment with the rows for which `takes` returns true, and with free rows for more. */
  copy(bits: number, takes: (hi: number) => boolean): Segment {
    const { marks, cells, capacity, width } = this
    const rows: number[] = []
    for (let row = 0; row < capacity; row += 1) if (this.planIdOf(row) !== 0 && takes(marks[row * MARKS + HI] as number)) rows.push(row)
    const copy = new Segment(Math.ceil(rows.length * GROWTH) + 4, width, bits)
    for (const row of rows) {
      const made = copy.add(marks[row * MARKS] as number, marks[row * MARKS + HI] as number, this.planIdOf(row))
      for (let cell = 0; cell < width; cell += 1) copy.cells[made * width + cell] = cells[row * width + cell] as number
    }
    copy.quietUntil = this.quietUntil
    return copy
  }

  #homeOf(lo: number): number {
    return Math.floor(((lo >>> 0) / 2 ** 32) * this.capacity)
  }
}
