import { applyGroup } from '../algorithms/group.ts'
import type { MicroTokens } from '../algorithms/algorithm.ts'
import { stateName } from '../keys/encode.ts'
import type { Call, CallGroup, Decided, StateId } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'

export interface ReferenceState {
  readonly id: StateId
  readonly state: unknown
  /** The codec's numbers. */
  readonly numbers: readonly number[]
  /** First instant from which it is expired. */
  readonly expires: Micros
}

/** The reference driver over a plain map, in which nothing ever expires. Every store must decide as it does. */
export class Reference {
  readonly states: Map<string, ReferenceState>
  readonly #blocks: Map<string, Micros>

  constructor(from?: Reference) {
    this.states = new Map(from?.states)
    this.#blocks = new Map(from === undefined ? [] : from.#blocks)
  }

  /** @param dryRun the caller discards the new states, and views show what is left without a charge */
  decide({ calls }: CallGroup, now: Micros, dryRun = false): Pick<Decided, 'outcome' | 'at' | 'retryAfter' | 'calls'> {
    const names = [...new Set(calls.map(({ id }) => stateName(id)))]
    const placed = calls.map((call) => ({ ...call, slot: names.indexOf(stateName(call.id)) }))
    const states = names.map((name) => this.states.get(name)?.state)
    const blocks = names.map((name) => this.#blocks.get(name) ?? 0)
    const result = applyGroup(states, placed, now, blocks, dryRun)
    for (const { slot, state } of result.writes) {
      const call = calls[placed.findIndex((one) => one.slot === slot)]
      if (call !== undefined) this.#write(call, state)
    }
    return { outcome: result.outcome, at: now, retryAfter: result.retryAfter, calls: result.calls }
  }

  adjust(
    calls: readonly Call[],
    amounts: readonly MicroTokens[],
    { now, receipt }: { readonly now: Micros; readonly receipt?: Micros | undefined },
  ): void {
    calls.forEach((call, index) => {
      const { algorithm, plan } = call.limit
      const stored = this.states.get(stateName(call.id))?.state
      const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, call.phase)
      this.#write(call, algorithm.adjust(plan, state, now, amounts[index] as number, call.phase, receipt))
    })
  }

  /** The codec's numbers of a state; undefined if there is none. */
  numbersOf(id: StateId): readonly number[] | undefined {
    return this.states.get(stateName(id))?.numbers
  }

  /** @param until end of the block; 0 lifts it */
  block(id: StateId, until: Micros): void {
    this.#blocks.set(stateName(id), until)
  }

  reset(id: StateId): void {
    this.states.delete(stateName(id))
  }

  /** Writes a state as numbers and decodes it, because a kernel's state may refer to its arguments. */
  #write({ id, limit }: Call, state: unknown): void {
    const { codec } = limit.algorithm
    if (state === undefined) return this.reset(id)
    const numbers = codec.encodeState(state)
    const expires = limit.algorithm.expiresAt(limit.plan, state)
    this.states.set(stateName(id), { id, state: codec.decodeState(numbers), numbers, expires })
  }
}
