import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { LogState } from '../../algorithms/log-state.ts'
import type { Micros } from '../../time/micros.ts'
import { Ring } from './ring.ts'
import type { States } from './states.ts'
import { Table } from './table.ts'

/** Rows of the table are of one kind: the number of a ring. */
const RING = 1

/** States that are logs: a row holds the number of its ring, and the rings share a bound of bytes. */
export class LogStates implements States {
  readonly bounded: boolean = true
  readonly #table: Table
  readonly #rings: (Ring | undefined)[] = []
  readonly #free: number[] = []
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#table = new Table(1, {
      expiresAt: (_unit, cells, at) => endOf(this.#rings[cells[at] as number] as Ring),
      release: (_unit, cells, at) => this.#release(cells[at] as number),
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
    const ring = this.#ringOf(row)
    const state = into as LogState
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
    const ring = row === -1 ? undefined : this.#ringOf(row)
    const log = state as LogState
    const needed = Ring.bytesFor(log.entries.length - log.skip + (log.added > 0 && !log.merges ? 1 : 0))
    return this.#bytes + Math.max(0, needed - (ring?.bytes ?? 0)) <= this.#maxBytes
  }

  write(row: number, _limit: AnyLimit, state: unknown): number {
    this.#apply(this.#ringOf(row), state as LogState)
    return RING
  }

  add(lo: number, hi: number, _limit: AnyLimit, state: unknown, _guess: number, now: Micros): number {
    const id = this.#free.pop() ?? this.#rings.length
    const ring = new Ring()
    this.#rings[id] = ring
    this.#bytes += ring.bytes
    this.#apply(ring, state as LogState)
    const row = this.#table.add(lo, hi, RING, now, endOf(ring))
    this.#table.segment.cells[row] = id
    return RING
  }

  remove(row: number): void {
    this.#table.remove(row)
  }

  sweepNext(now: Micros): boolean {
    return this.#table.sweepNext(now)
  }

  #ringOf(row: number): Ring {
    return this.#rings[this.#table.segment.cells[row] as number] as Ring
  }

  #apply(ring: Ring, state: LogState): void {
    const before = ring.bytes
    ring.apply(state)
    this.#bytes += ring.bytes - before
  }

  #release(id: number): void {
    this.#bytes -= (this.#rings[id] as Ring).bytes
    this.#rings[id] = undefined
    this.#free.push(id)
  }
}

function endOf(ring: Ring): Micros {
  return ring.length === 0 ? 0 : ring.at(ring.length - 1) + Math.max(ring.window, ring.hold)
}
