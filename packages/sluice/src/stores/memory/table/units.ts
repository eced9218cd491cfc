import type { AnyLimit, Cells } from '../../../algorithms/algorithm.ts'
import type { Micros } from '../../../time/micros.ts'
import type { Rows } from './table.ts'

/** Data that all states of one plan share. */
interface Unit {
  readonly name: string
  readonly limit: AnyLimit
  readonly cells: Cells<unknown>
  /** Any state of this plan. */
  readonly sample: unknown
  /** A state object to load rows into. */
  readonly scratch: unknown
  rows: number
}

/** The data of all plans by plan id; it is dropped with the last row of a plan. */
export class Units implements Rows {
  readonly #units: (Unit | undefined)[] = [undefined]
  readonly #free: number[] = []
  readonly #byName = new Map<string, number>()

  /** Whether a state belongs to this plan id. */
  fits(id: number, { algorithm }: AnyLimit, state: unknown): boolean {
    const unit = this.#units[id]
    return unit !== undefined && unit.limit.algorithm === algorithm && unit.cells.sameUnit(unit.sample, state)
  }

  /** The plan id of a state, created if necessary. @param guess the last plan id */
  of(limit: AnyLimit, state: unknown, guess: number): number {
    if (this.fits(guess, limit, state)) return guess
    const { algorithm } = limit
    const cells = algorithm.cells as Cells<unknown>
    const name = `${algorithm.tag}:${cells.unit(state).join(':')}`
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    const sample: unknown = algorithm.codec.decodeState(algorithm.codec.encodeState(state))
    const id = this.#free.pop() ?? this.#units.length
    this.#units[id] = { name, limit, cells, sample, scratch: algorithm.step().next, rows: 0 }
    this.#byName.set(name, id)
    return id
  }

  /** Fills `into` with the state of a row. */
  load(id: number, row: Float64Array, at: number, into: unknown): void {
    const unit = this.#units[id] as Unit
    unit.cells.load(unit.sample, row, at, into)
  }

  retain(id: number): void {
    const unit = this.#units[id] as Unit
    unit.rows += 1
  }

  release(id: number): void {
    const unit = this.#units[id] as Unit
    unit.rows -= 1
    if (unit.rows > 0) return
    this.#byName.delete(unit.name)
    this.#units[id] = undefined
    this.#free.push(id)
  }

  expiresAt(id: number, row: Float64Array, at: number): Micros {
    const { limit, cells, sample, scratch } = this.#units[id] as Unit
    cells.load(sample, row, at, scratch)
    return limit.algorithm.expiresAt(limit.plan, scratch)
  }
}
