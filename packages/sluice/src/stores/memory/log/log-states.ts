import type { AnyLimit } from '../../../algorithms/algorithm.ts'
import type { LogState } from '../../../algorithms/log-state.ts'
import type { Micros } from '../../../time/micros.ts'
import { Arena } from './arena.ts'
import { Ring, RING_WIDTH } from './ring.ts'
import type { States } from '../table/states.ts'
import { Table } from '../table/table.ts'

/** All rows have one plan id. */
const UNIT = 1

/** States that are logs: a row locates its ring, and the rings share an arena with a bound in bytes. */
export class LogStates implements States {
  readonly bounded: boolean = true
  readonly #table: Table
  readonly #arena: Arena = new Arena()
  readonly #ring: Ring = new Ring(this.#arena)
  /** For rows that the table examines while another row changes. */
  readonly #queried: Ring = new Ring(this.#arena)
  readonly #maxBytes: number

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#table = new Table(RING_WIDTH, {
      expiresAt: (_unit, cells, at) => this.#query(cells, at).endsAt,
      release: (_unit, cells, at) => this.#query(cells, at).release(),
    })
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
    const state = into as LogState
    // A state that is read again keeps its view.
    const ring = state.entries instanceof Ring ? state.entries : new Ring(this.#arena)
    this.#point(ring, row)
    state.entries = ring
    state.skip = 0
    state.addedAt = 0
    state.added = 0
    state.merges = false
    state.window = ring.window
    state.hold = ring.hold
    return state
  }

  fits(row: number, state: unknown): boolean {
    const { entries, skip, added, merges } = state as LogState
    if (row !== -1) this.#point(this.#ring, row)
    const held = row === -1 ? 0 : Arena.bytesOf(this.#ring.size)
    const needed = Arena.bytesOf(Arena.sizeFor(entries.length - skip + (added > 0 && !merges ? 1 : 0)))
    return this.#arena.bytes + Math.max(0, needed - held) <= this.#maxBytes
  }

  write(row: number, _limit: AnyLimit, state: unknown): number {
    const { segment, width } = this.#table
    const log = state as LogState
    const ring = log.entries instanceof Ring ? log.entries : this.#ring
    if (ring === this.#ring) this.#point(ring, row)
    ring.apply(log)
    ring.save(segment.cells, row * width)
    return UNIT
  }

  replace(row: number, limit: AnyLimit, state: unknown): void {
    this.write(row, limit, state)
    this.#point(this.#ring, row)
    this.#table.touched(this.#ring.endsAt)
  }

  add(lo: number, hi: number, _limit: AnyLimit, state: unknown, _guess: number, now: Micros): number {
    const ring = this.#ring
    ring.create()
    ring.apply(state as LogState)
    const row = this.#table.add(lo, hi, UNIT, now, ring.endsAt)
    const { segment, width } = this.#table
    ring.save(segment.cells, row * width)
    return UNIT
  }

  remove(row: number): void {
    this.#table.remove(row)
  }

  sweepNext(now: Micros): boolean {
    return this.#table.sweepNext(now)
  }

  #query(cells: Float64Array, at: number): Ring {
    this.#queried.load(cells, at)
    return this.#queried
  }

  #point(ring: Ring, row: number): void {
    const { segment, width } = this.#table
    ring.load(segment.cells, row * width)
  }
}
