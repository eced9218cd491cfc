import type { Micros } from '../../../time/micros.ts'
import { Table } from './table.ts'

/** The ends of blocks: one number for each blocked key, removed when the block is over. */
export class BlockList {
  readonly #table = new Table(1, { expiresAt: (_unit, cells, at) => cells[at] as number, release: () => {} })

  get size(): number {
    return this.#table.size
  }

  /** The end of a key's block; 0 if it has none, or one that is over. */
  until(lo: number, hi: number, now: Micros): Micros {
    const row = this.#table.find(lo, hi)
    const until = row === -1 ? 0 : (this.#table.segment.cells[row] as number)
    return until > now ? until : 0
  }

  set(lo: number, hi: number, until: Micros, now: Micros): void {
    const found = this.#table.find(lo, hi)
    const row = found === -1 ? this.#table.add(lo, hi, 1, now, until) : found
    this.#table.segment.cells[row] = until
    this.#table.touched(until)
  }

  lift(lo: number, hi: number): void {
    const row = this.#table.find(lo, hi)
    if (row !== -1) this.#table.remove(row)
  }

  get pieces(): number {
    return this.#table.pieces
  }

  sweepNext(now: Micros): boolean {
    return this.#table.sweepNext(now)
  }
}
