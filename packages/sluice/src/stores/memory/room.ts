import type { AlgorithmTag, AnyLimit, CellBounds, Step } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import { createDigester, type Seed } from '../../keys/digest.ts'
import { type Scope, type StateId, StoreFailure } from '../store.ts'
import { Overflow } from './overflow.ts'
import { States } from './states.ts'
import { Table } from './table.ts'

/** The most segments of a table that one call searches, to bound its time. */
const MAX_SWEEPS = 32

export interface KnownLimit {
  readonly seed: Seed
  readonly states: States
  readonly step: Step<unknown>
  readonly state: unknown
  /** The plan id of the state that was written last. */
  planId: number
  /** The previous key and its digest, so that a busy key is digested once. */
  key: string | undefined
  lo: number
  hi: number
}

export class Room {
  readonly overflow: Overflow = new Overflow()
  /** One object for all calls, because a flood of calls would create millions. */
  readonly full: StoreFailure
  readonly #maxKeys: number
  readonly #bounds: CellBounds
  readonly #digester
  /** One row for each blocked key: the end of its block. */
  readonly #blocks = new Table(1, { expiresAt: (_planId, cells, at) => cells[at] as number, release: () => {} })
  readonly #states: States[] = []
  readonly #tables: Table[] = [this.#blocks]
  /** An entry is garbage-collected with its `Scope`. */
  readonly #known = new WeakMap<Scope, KnownLimit>()
  #lastScope: Scope | undefined
  #last: KnownLimit | undefined

  constructor(maxKeys: number, bounds: CellBounds, random: () => number) {
    this.#maxKeys = maxKeys
    this.#bounds = bounds
    this.#digester = createDigester(random)
    // Names all bounds, because calls share one failure and may have reached different ones.
    const most = `maxKeys ${maxKeys}, maxHolds ${bounds.maxHolds}, maxBytes ${bounds.maxBytes}`
    this.full = new StoreFailure('memory', 'no', `memory store: full (${most}), and no state has expired`)
  }

  get size(): number {
    return this.#tables.reduce((sum, { size }) => sum + size, 0)
  }

  /** Also writes the digest of the key into what it returns. */
  find(scope: Scope, key: string, limit: AnyLimit): KnownLimit {
    let known = scope === this.#lastScope ? this.#last : this.#known.get(scope)
    if (known === undefined || known.states.tag !== limit.algorithm.tag) {
      known = this.#know(scope, limit.algorithm)
      this.#known.set(scope, known)
    }
    this.#lastScope = scope
    this.#last = known
    if (known.key !== key) {
      this.#digester.digest(known.seed, key)
      known.key = key
      known.lo = this.#digester.lo
      known.hi = this.#digester.hi
    }
    return known
  }

  /** 0 if the id is not blocked. */
  blockOf(id: StateId, now: Micros): Micros {
    if (this.#blocks.size === 0) return 0
    const row = this.#rowOf(this.#blocks, '', id)
    const until = row === -1 ? 0 : (this.#blocks.segment.cells[row] as number)
    return until > now ? until : 0
  }

  block(id: StateId, until: Micros, now: Micros): void {
    let row = this.#rowOf(this.#blocks, '', id)
    if (row === -1) row = this.#blocks.add(this.#digester.lo, this.#digester.hi, 1, now, until)
    this.#blocks.segment.cells[row] = until
    this.#blocks.touched(until)
  }

  unblock(id: StateId): void {
    const row = this.#rowOf(this.#blocks, '', id)
    if (row !== -1) this.#blocks.remove(row)
  }

  /** As the algorithm's `codec` writes it; undefined without a state. */
  stateOf(id: StateId): readonly number[] | undefined {
    for (const states of this.#states) {
      const row = this.#rowOf(states.table, states.tag, id)
      if (row !== -1) return states.numbersAt(row)
    }
    return undefined
  }

  forget(id: StateId): void {
    for (const { table, tag } of this.#states) {
      const row = this.#rowOf(table, tag, id)
      if (row !== -1) table.remove(row)
    }
  }

  /**
   * Drops expired states until there is room. Returns false if there is not enough.
   * @param needed how many states the caller will add. It is called again after states were dropped, because a state to replace may be
   * among them
   * @param fits whether there is room for what the caller stores outside of tables, such as the entries of logs
   */
  makeRoom(now: Micros, needed: () => number, fits: () => boolean = () => true): boolean {
    const done = (): boolean => this.size + needed() <= this.#maxKeys && fits()
    if (done()) return true
    for (const table of this.#tables) {
      for (let left = Math.min(table.pieces, MAX_SWEEPS); left > 0; left -= 1) if (table.sweepNext(now) && done()) return true
    }
    return false
  }

  /** The row of the id's state under this tag; with an empty tag, of its block. -1 without such a row. */
  #rowOf(table: Table, tag: AlgorithmTag | '', { scope, key }: StateId): number {
    this.#digester.digest(this.#digester.seed(scope.text + tag), key)
    return table.find(this.#digester.lo, this.#digester.hi)
  }

  /** States are found by the scope's text, whatever the object. */
  #know(scope: Scope, algorithm: AnyLimit['algorithm']): KnownLimit {
    const { tag } = algorithm
    let states = this.#states.find((one) => one.tag === tag)
    if (states === undefined) {
      states = new States(algorithm, this.#bounds)
      this.#states.push(states)
      this.#tables.push(states.table)
    }
    const seed = this.#digester.seed(scope.text + tag)
    const [step, { next: state }] = [algorithm.step(), algorithm.step()]
    return { seed, states, step, state, planId: 0, key: undefined, lo: 0, hi: 0 }
  }
}
