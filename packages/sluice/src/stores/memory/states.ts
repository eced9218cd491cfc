import type { AlgorithmTag, AnyLimit, CellBounds, Cells } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import { type Rows, Table } from './table.ts'

interface PlanEntry {
  readonly name: string
  readonly plan: unknown
  /** A state that has all numbers which states under the plan share. */
  readonly sample: unknown
  rows: number
}

/**
 * The states of one algorithm, as rows. Numbers that states under one plan share are kept once, by a plan id, until the last row with this
 * id is removed.
 */
export class States implements Rows {
  readonly tag: AlgorithmTag
  readonly table: Table
  /** Whether states keep data outside of their rows, for which there may be no room. */
  readonly bounded: boolean
  readonly #algorithm: AnyLimit['algorithm']
  readonly #cells: Cells<unknown>
  /** Rows are read into it to compute when they expire. */
  readonly #scratch: unknown
  readonly #plans: (PlanEntry | undefined)[] = [undefined]
  readonly #free: number[] = []
  readonly #byName = new Map<string, number>()

  constructor(algorithm: AnyLimit['algorithm'], bounds: CellBounds) {
    this.tag = algorithm.tag
    this.#algorithm = algorithm
    this.#cells = algorithm.cells === 'log' ? (algorithm.logCells as (bounds: CellBounds) => Cells<unknown>)(bounds) : algorithm.cells
    this.bounded = this.#cells.fits !== undefined
    this.#scratch = algorithm.step().next
    this.table = new Table(this.#cells.width, this)
  }

  /** `row` must be what `table.find` has just returned. */
  read(row: number, into: unknown): unknown {
    const { segment, width } = this.table
    const { sample } = this.#plans[segment.planIdOf(row)] as PlanEntry
    this.#cells.load(sample, segment.cells, row * width, into)
    return into
  }

  /** As the algorithm's `codec` writes them. */
  numbersAt(row: number): readonly number[] {
    return this.#algorithm.codec.encodeState(this.read(row, this.#algorithm.step().next))
  }

  /** -1 stands for a row that does not exist yet. */
  fits(row: number, state: unknown): boolean {
    const { segment, width } = this.table
    return this.#cells.fits?.(state, segment.cells, row * width) ?? true
  }

  /**
   * Writes a state to the row that `table.find` has just returned, or to a new row if that is -1. Returns the state's plan id.
   * @param guess the plan id of the limit's last state, which most states have too
   */
  write(row: number, lo: number, hi: number, { plan }: AnyLimit, state: unknown, guess: number, now: Micros): number {
    const { table } = this
    let at = row
    let planId = row === -1 ? 0 : table.segment.planIdOf(row)
    if (!this.#isOf(planId, state)) {
      const before = planId
      planId = this.#planIdOf(plan, state, guess)
      ;(this.#plans[planId] as PlanEntry).rows += 1
      // With another plan the row may expire earlier, and the table must know when.
      const expiresAt = this.#algorithm.expiresAt(plan, state)
      if (row === -1) at = table.add(lo, hi, planId, now, expiresAt)
      else {
        this.#leave(before)
        table.segment.setPlanId(row, planId)
        table.touched(expiresAt)
      }
    }
    this.#cells.save(state, table.segment.cells, at * table.width)
    return planId
  }

  expiresAt(planId: number, cells: Float64Array, at: number): Micros {
    const { plan, sample } = this.#plans[planId] as PlanEntry
    this.#cells.load(sample, cells, at, this.#scratch)
    return this.#algorithm.expiresAt(plan, this.#scratch)
  }

  release(planId: number, cells: Float64Array, at: number): void {
    this.#cells.release?.(cells, at)
    this.#leave(planId)
  }

  #isOf(planId: number, state: unknown): boolean {
    const entry = this.#plans[planId]
    return entry !== undefined && this.#cells.samePlan(entry.sample, state)
  }

  #planIdOf(plan: unknown, state: unknown, guess: number): number {
    if (this.#isOf(guess, state)) return guess
    const name = this.#cells.planNumbers(state).join()
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    const { codec } = this.#algorithm
    const planId = this.#free.pop() ?? this.#plans.length
    this.#plans[planId] = { name, plan, sample: codec.decodeState(codec.encodeState(state)), rows: 0 }
    this.#byName.set(name, planId)
    return planId
  }

  #leave(planId: number): void {
    const entry = this.#plans[planId] as PlanEntry
    entry.rows -= 1
    if (entry.rows > 0) return
    this.#byName.delete(entry.name)
    this.#plans[planId] = undefined
    this.#free.push(planId)
  }
}
