/** Numbers of a row in `marks`: the two halves of its digest, and the id of its plan, which is 0 in a free row. */
const MARKS = 3
const HI = 1
const PLAN_ID = 2

/** The greatest share of rows in use. Beyond it, searches take too many steps. */
const MAX_LOAD = 0.86
/** Small enough that memory follows the number of rows, large enough that each row is copied few times. */
const GROWTH = 1.3

/**
 * A hash table with open addressing and linear probing. `lo` of a row's digest is the hash. A table has many segments and enlarges only
 * full ones, so that it grows in small steps.
 */
export class Segment {
  readonly capacity: number
  readonly marks: Int32Array
  /** `width` numbers for each row; all 0 in a free row. */
  readonly cells: Float64Array
  readonly width: number
  /** How many leading bits of `hi` all its rows share. */
  readonly bits: number
  /** The most rows that may be in use. */
  readonly room: number
  count = 0
  /** No row expires before this instant, so there is no need to search for expired rows. */
  quietUntil: number = Infinity

  /** @param rows how many must fit */
  constructor(rows: number, width: number, bits: number) {
    this.capacity = Math.ceil(rows / MAX_LOAD) + 1
    this.room = Math.min(Math.floor(this.capacity * MAX_LOAD), this.capacity - 1)
    this.width = width
    this.bits = bits
    // The doubles come first, because they must be aligned to eight bytes.
    const bytes = this.capacity * width * 8
    const buffer = new ArrayBuffer(bytes + this.capacity * MARKS * 4)
    this.cells = new Float64Array(buffer, 0, this.capacity * width)
    this.marks = new Int32Array(buffer, bytes)
  }

  /** -1 if no row has this digest. */
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

  /** The digest must be absent, and a row must be free. The caller fills the cells. */
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

  /** Later rows move towards their home, the position at which the search for their digest begins, so that no search ends at the hole. */
  remove(row: number): void {
    const { marks, cells, capacity, width } = this
    let hole = row
    for (let next = hole; ;) {
      next = next + 1 === capacity ? 0 : next + 1
      if (this.planIdOf(next) === 0) break
      const home = this.#homeOf(marks[next * MARKS] as number)
      // If a row's home lies between the hole and its position, it stays: a search from its home would not find it in the hole.
      if (hole <= next ? home > hole && home <= next : home > hole || home <= next) continue
      marks.copyWithin(hole * MARKS, next * MARKS, (next + 1) * MARKS)
      cells.copyWithin(hole * width, next * width, (next + 1) * width)
      hole = next
    }
    marks.fill(0, hole * MARKS, (hole + 1) * MARKS)
    cells.fill(0, hole * width, (hole + 1) * width)
    this.count -= 1
  }

  /** With the rows that `takes` accepts, and with free rows. */
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
