import type { AlgorithmTag, AnyLimit, Cells } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import { type Rows, Table } from './table.ts'

/** Data that all states of one plan share. */
interface Unit {
  readonly name: string
  readonly plan: unknown
  /** Any state of this plan. */
  readonly sample: unknown
  rows: number
}

/**
 * The states of one algorithm, as rows of numbers. What states of one plan share is kept once, under the plan id in their rows, and
 * dropped with the last of them.
 */
export class States implements Rows {
  readonly tag: AlgorithmTag
  readonly table: Table
  /** Whether states keep something outside of their rows, so that one may not fit. */
  readonly bounded: boolean
  readonly #algorithm: AnyLimit['algorithm']
  readonly #cells: Cells<unknown>
  /** A state to load rows into. */
  readonly #scratch: unknown
  readonly #units: (Unit | undefined)[] = [undefined]
  readonly #free: number[] = []
  readonly #byName = new Map<string, number>()

  /** @param maxBytes bound on what states keep outside of their rows */
  constructor(algorithm: AnyLimit['algorithm'], maxBytes: number) {
    this.tag = algorithm.tag
    this.#algorithm = algorithm
    this.#cells = algorithm.cells === 'log' ? (algorithm.logCells as (maxBytes: number) => Cells<unknown>)(maxBytes) : algorithm.cells
    this.bounded = this.#cells.fits !== undefined
    this.#scratch = algorithm.step().next
    this.table = new Table(this.#cells.width, this)
  }

  /** Fills `into` with the state of a row that `table.find` returned. */
  read(row: number, into: unknown): unknown {
    const { segment, width } = this.table
    const unit = this.#units[segment.unitOf(row)] as Unit
    this.#cells.load(unit.sample, segment.cells, row * width, into)
    return into
  }

  /** The numbers of a row's state: its codec's. */
  numbersAt(row: number): readonly number[] {
    return this.#algorithm.codec.encodeState(this.read(row, this.#algorithm.step().next))
  }

  /** Whether there is room for the state outside of its row; a row of -1 means a new one. */
  fits(row: number, state: unknown): boolean {
    const { segment, width } = this.table
    return this.#cells.fits?.(state, segment.cells, row * width) ?? true
  }

  /**
   * Writes a state to the row that `table.find` returned, or to a new one if that is -1.
   * @param guess plan id of the limit's last state
   * @returns plan id of this one
   */
  write(row: number, lo: number, hi: number, { plan }: AnyLimit, state: unknown, guess: number, now: Micros): number {
    const { table } = this
    let at = row
    let unit = row === -1 ? 0 : table.segment.unitOf(row)
    if (!this.#isOf(unit, state)) {
      const before = unit
      unit = this.#unitOf(plan, state, guess)
      ;(this.#units[unit] as Unit).rows += 1
      // Another plan may bring the end of a row nearer.
      const expiresAt = this.#algorithm.expiresAt(plan, state)
      if (row === -1) at = table.add(lo, hi, unit, now, expiresAt)
      else {
        this.#leave(before)
        table.segment.setUnit(row, unit)
        table.touched(expiresAt)
      }
    }
    this.#cells.save(state, table.segment.cells, at * table.width)
    return unit
  }

  expiresAt(unit: number, cells: Float64Array, at: number): Micros {
    const { plan, sample } = this.#units[unit] as Unit
    this.#cells.load(sample, cells, at, this.#scratch)
    return this.#algorithm.expiresAt(plan, this.#scratch)
  }

  release(unit: number, cells: Float64Array, at: number): void {
    this.#cells.release?.(cells, at)
    this.#leave(unit)
  }

  #isOf(id: number, state: unknown): boolean {
    const unit = this.#units[id]
    return unit !== undefined && this.#cells.sameUnit(unit.sample, state)
  }

  /** The plan id of a state, made if necessary. */
  #unitOf(plan: unknown, state: unknown, guess: number): number {
    if (this.#isOf(guess, state)) return guess
    const name = this.#cells.unit(state).join()
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    const { codec } = this.#algorithm
    const id = this.#free.pop() ?? this.#units.length
    this.#units[id] = { name, plan, sample: codec.decodeState(codec.encodeState(state)), rows: 0 }
    this.#byName.set(name, id)
    return id
  }

  #leave(id: number): void {
    const unit = this.#units[id] as Unit
    unit.rows -= 1
    if (unit.rows > 0) return
    this.#byName.delete(unit.name)
    this.#units[id] = undefined
    this.#free.push(id)
  }
}
