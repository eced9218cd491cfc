import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import { type StateId, StoreFailure } from '../store.ts'
import { BlockList } from './table/block-list.ts'
import { createDigester } from './table/digest.ts'
import { KnownLimits } from './table/known-limits.ts'
import { Overflow } from './pressure.ts'
import { LogStates } from './log/log-states.ts'
import { NumberStates, type States } from './table/states.ts'
import { Units } from './table/units.ts'

/** The most pieces of the tables that one call searches for expired states; it bounds the time of the call. */
const LOOKS = 32

/** All states and blocks of the store, with their bounds. */
export class Room {
  readonly limits: KnownLimits
  readonly blocks: BlockList = new BlockList()
  readonly overflow: Overflow = new Overflow()
  readonly maxKeys: number
  /** The failure of keys without room. One object for all, because a flood would create millions. */
  readonly full: StoreFailure
  readonly #units = new Units()
  readonly #maxBytes: number
  /** By numbers per state, 0 for logs; several algorithms share one. */
  readonly #byWidth = new Map<number, States>()
  readonly #byAlgorithm = new Map<AnyLimit['algorithm'], States>()

  constructor(maxKeys: number, maxBytes: number, random: () => number) {
    this.maxKeys = maxKeys
    this.#maxBytes = maxBytes
    this.full = new StoreFailure('memory', 'no', `memory store: ${maxKeys} states are in use and none is spent`)
    this.limits = new KnownLimits(createDigester(random), (limit) => this.#statesOf(limit))
  }

  get size(): number {
    let size = this.blocks.size
    for (const states of this.#byWidth.values()) size += states.size
    return size
  }

  /** Until when the id is blocked; 0 for no block. */
  blockOf({ scope, key }: StateId, now: Micros): Micros {
    if (this.blocks.size === 0) return 0
    const { lo, hi } = this.limits.locate(scope, '', key)
    return this.blocks.until(lo, hi, now)
  }

  block({ scope, key }: StateId, until: Micros, now: Micros): void {
    const { lo, hi } = this.limits.locate(scope, '', key)
    this.blocks.set(lo, hi, until, now)
  }

  lift({ scope, key }: StateId): void {
    const { lo, hi } = this.limits.locate(scope, '', key)
    this.blocks.lift(lo, hi)
  }

  /** The numbers of the id's state. */
  stateOf({ scope, key }: StateId): readonly number[] | undefined {
    for (const [{ tag, codec, step }, states] of this.#byAlgorithm) {
      const { lo, hi } = this.limits.locate(scope, tag, key)
      const row = states.find(lo, hi)
      if (row !== -1) return codec.encodeState(states.read(row, step().next))
    }
    return undefined
  }

  forget({ scope, key }: StateId): void {
    for (const [{ tag }, states] of this.#byAlgorithm) {
      const { lo, hi } = this.limits.locate(scope, tag, key)
      const row = states.find(lo, hi)
      if (row !== -1) states.remove(row)
    }
  }

  isNew(id: StateId, limit: AnyLimit): boolean {
    const { states, lo, hi } = this.limits.find(id.scope, id.key, limit)
    return states.find(lo, hi) === -1
  }

  /** Whether `needed` more states fit, after dropping as many expired states as necessary. */
  makeRoom(needed: number, now: Micros): boolean {
    if (this.size + needed <= this.maxKeys) return true
    const pieces = [...this.#byWidth.values(), this.blocks]
    for (const piece of pieces) {
      for (let looks = Math.min(piece.pieces, LOOKS); looks > 0; looks -= 1) {
        if (piece.sweepNext(now) && this.size + needed <= this.maxKeys) return true
      }
    }
    return false
  }

  /** Drops expired states of one kind, up to the bound of one call. */
  sweep(states: States, now: Micros): void {
    for (let looks = Math.min(states.pieces, LOOKS); looks > 0; looks -= 1) states.sweepNext(now)
  }

  #statesOf(limit: AnyLimit): States {
    const { cells } = limit.algorithm
    const width = cells === 'log' ? 0 : cells.width
    const states = this.#byWidth.get(width) ?? (cells === 'log' ? new LogStates(this.#maxBytes) : new NumberStates(width, this.#units))
    this.#byWidth.set(width, states)
    this.#byAlgorithm.set(limit.algorithm, states)
    return states
  }
}

/**
 * Makes room for the states that somebody adds, and for `others` more. It counts them again afterwards, because one of them may have
 * expired and been dropped.
 */
export function makesRoom(room: Room, added: () => number, others: number, now: Micros): boolean {
  for (let needed = added(); needed > 0;) {
    if (!room.makeRoom(others + needed, now)) return false
    const after = added()
    if (after === needed) return true
    needed = after
  }
  return true
}
