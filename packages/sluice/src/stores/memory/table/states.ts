import type { AnyLimit, Cells } from '../../../algorithms/algorithm.ts'
import type { Micros } from '../../../time/micros.ts'
import { Table } from './table.ts'
import type { Units } from './units.ts'

/** States by digest. Call `find` first: the other methods take the row it returned, or use the digest it missed. */
export interface States {
  readonly size: number
  /** Calls of `sweepNext` that together examine every state. */
  readonly pieces: number
  /** The row of a digest, or -1. */
  find(lo: number, hi: number): number
  /** The state of a row: either `into`, filled, or a view of the store's own that the next write changes. */
  read(row: number, into: unknown): unknown
  /** Whether states differ in size, so that one may not fit. */
  readonly bounded: boolean
  /** Whether there is room for the state; a row of -1 means a new one. */
  fits(row: number, state: unknown): boolean
  /** @param guess plan id of the limit's last state @returns plan id of this one */
  write(row: number, limit: AnyLimit, state: unknown, guess: number): number
  /** As `write`, for a state that may end earlier than the one before it. */
  replace(row: number, limit: AnyLimit, state: unknown): void
  add(lo: number, hi: number, limit: AnyLimit, state: unknown, guess: number, now: Micros): number
  remove(row: number): void
  /** Drops expired states of one piece; true if there were any. */
  sweepNext(now: Micros): boolean
}

/** States that are a few numbers each. */
export class NumberStates implements States {
  readonly bounded: boolean = false
  readonly #table: Table
  readonly #units: Units

  constructor(width: number, units: Units) {
    this.#table = new Table(width, units)
    this.#units = units
  }

  get size(): number {
    return this.#table.size
  }

  get pieces(): number {
    return this.#table.pieces
  }

  find(lo: number, hi: number): number {
    return this.#table.find(lo, hi)
  }

  read(row: number, into: unknown): unknown {
    const { segment, width } = this.#table
    this.#units.load(segment.unitOf(row), segment.cells, row * width, into)
    return into
  }

  fits(): boolean {
    return true
  }

  write(row: number, limit: AnyLimit, state: unknown, guess: number): number {
    const { segment, width } = this.#table
    let unit = segment.unitOf(row)
    if (!this.#units.fits(unit, limit, state)) unit = this.#move(row, unit, limit, state, guess)
    save(limit, state, segment.cells, row * width)
    return unit
  }

  replace(row: number, limit: AnyLimit, state: unknown): void {
    this.write(row, limit, state, 0)
    this.#table.touched(limit.algorithm.expiresAt(limit.plan, state))
  }

  /** Gives the row another plan id; another plan may bring its end nearer. */
  #move(row: number, before: number, limit: AnyLimit, state: unknown, guess: number): number {
    const unit = this.#units.of(limit, state, guess)
    this.#units.retain(unit)
    this.#units.release(before)
    this.#table.segment.setUnit(row, unit)
    this.#table.touched(limit.algorithm.expiresAt(limit.plan, state))
    return unit
  }

  add(lo: number, hi: number, limit: AnyLimit, state: unknown, guess: number, now: Micros): number {
    const unit = this.#units.of(limit, state, guess)
    this.#units.retain(unit)
    const row = this.#table.add(lo, hi, unit, now, limit.algorithm.expiresAt(limit.plan, state))
    const { segment, width } = this.#table
    save(limit, state, segment.cells, row * width)
    return unit
  }

  remove(row: number): void {
    this.#table.remove(row)
  }

  sweepNext(now: Micros): boolean {
    return this.#table.sweepNext(now)
  }
}

function save(limit: AnyLimit, state: unknown, cells: Float64Array, at: number): void {
  const kept = limit.algorithm.cells as Cells<unknown>
  kept.save(state, cells, at)
}
