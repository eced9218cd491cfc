import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { type BucketPlan, floorDiv, levelAt, samePlan } from '../algorithms/bucket-plan.ts'
import { applyGroup } from '../algorithms/group.ts'
import { bucketWith, filled, timeOf, tokenBucketKernel } from '../algorithms/token-bucket.ts'
import { stateName } from '../keys/encode.ts'
import type { HoldReport } from '../algorithms/settle-hold.ts'
import { callsOf } from '../stores/group-options.ts'
import { changeHold } from '../stores/hold-change.ts'
import { type Call, type CallGroup, changedStates, type Decided, givenBack, type HoldChange, type StateId } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'

export interface ReferenceState {
  readonly id: StateId
  readonly state: unknown
  /** The state as numbers, as its codec encodes it. */
  readonly numbers: readonly number[]
  /** The first instant at which the state is expired. */
  readonly expires: Micros
}

/**
 * Whether the bucket of a call, if it is full and its limit changes, keeps the tokens that it has. Otherwise it is full by the new limit,
 * too.
 */
export type KeepsTokens = (call: Pick<Call, 'id' | 'limit'>) => boolean

/** Decides with the reference driver (`applyGroup`) over a plain map, in which nothing ever expires. Every store must decide as it does. */
export class Reference {
  /** States by name; nothing is ever deleted for its age. */
  readonly states: Map<string, ReferenceState>
  readonly #blocks: Map<string, Micros>

  /** The limit of the last call of each state that keeps its tokens, by the name of the state. */
  readonly #limits: Map<string, AnyLimit>
  readonly #keepsTokens: KeepsTokens

  constructor(from?: Reference, keepsTokens: KeepsTokens = () => false) {
    this.states = new Map(from?.states)
    this.#blocks = new Map(from === undefined ? [] : from.#blocks)
    this.#limits = new Map(from === undefined ? [] : from.#limits)
    this.#keepsTokens = from === undefined ? keepsTokens : from.#keepsTokens
  }

  /** @param dryRun true: the new states are not stored, and the views show what is left without the charge */
  decide(group: CallGroup, now: Micros, dryRun = false): Pick<Decided, 'outcome' | 'at' | 'retryAfter' | 'calls'> {
    const calls = callsOf(group).map((call) => this.#by(call, now))
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

  /** Gives micro-tokens back (above 0) or takes them (below 0). The amount for each call is the one with the same index. */
  adjust(
    calls: readonly Call[],
    amounts: readonly MicroTokens[],
    { now, receipt }: { readonly now: Micros; readonly receipt?: Micros | undefined },
  ): void {
    calls.forEach((each, index) => {
      const call = this.#by(each, now)
      const { algorithm, plan } = call.limit
      const stored = this.states.get(stateName(call.id))?.state
      const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, call.phase)
      this.#write(call, algorithm.adjust(plan, state, now, amounts[index] as number, call.phase, receipt))
    })
  }

  /** Gives back what a call was charged ahead (`leave`), or the slots of a holder (`release`). */
  giveBack(change: Parameters<typeof givenBack>[0], now: Micros): void {
    const call = this.#by(change.call, now)
    const stored = this.states.get(stateName(call.id))?.state
    const left = givenBack(change, call.limit, stored, now)
    if (left !== stored) this.#write(call, left)
  }

  /** Settles or extends a hold. */
  changeHold(change: HoldChange, now: Micros): HoldReport {
    const limits = change.calls.map((call) => this.#by(call, now).limit)
    const states = changedStates(change).map((id) => this.states.get(stateName(id))?.state)
    const names = change.calls.map(({ id }) => stateName(id))
    const { report, writes } = changeHold(
      change,
      limits,
      states,
      names.map((name) => names.indexOf(name)),
      now,
    )
    for (const { index, limit, state } of writes) {
      this.#write({ id: changedStates(change)[index] as StateId, limit, cost: 0, phase: 0 }, state)
    }
    return report
  }

  /** The numbers into which the algorithm encodes a state; undefined if there is no state. */
  numbersOf(id: StateId): readonly number[] | undefined {
    return this.states.get(stateName(id))?.numbers
  }

  /** @param until end of the block; 0 lifts it */
  block(id: StateId, until: Micros): void {
    this.#blocks.set(stateName(id), until)
  }

  /** Deletes a state; a block stays. */
  reset(id: StateId): void {
    this.states.delete(stateName(id))
  }

  /**
   * Returns the call. If its bucket keeps its tokens when the limit changes (`KeepsTokens`), the call gets a limit that does so. If such a
   * bucket has no state, it was full under the limit of its last call. This full state is then converted to the new limit and stored.
   */
  #by(call: Call, now: Micros): Call {
    if (call.limit.algorithm.tag !== 'tb' || !this.#keepsTokens(call)) return call
    const limit = { ...call.limit, algorithm: KEEPING }
    const name = stateName(call.id)
    const last = this.#limits.get(name)
    this.#limits.set(name, limit)
    if (last !== undefined && !this.states.has(name)) {
      const { burst, m } = last.plan as BucketPlan
      const full = bucketWith(last.plan as BucketPlan, BigInt(burst) * BigInt(m), now, 0)
      const state = KEEPING.adopt(limit.plan, full, now, 0)
      if (state !== full) this.#write({ ...call, limit }, state)
    }
    return { ...call, limit }
  }

  /**
   * Stores a state after encoding and decoding it, so that it is a copy. The state that an algorithm returns may refer to the arguments of
   * the call, which the caller may change.
   */
  #write({ id, limit }: Call, state: unknown): void {
    const { codec } = limit.algorithm
    if (state === undefined) return this.reset(id)
    const numbers = codec.encodeState(state)
    const expires = limit.algorithm.expiresAt(limit.plan, state)
    this.states.set(stateName(id), { id, state: codec.decodeState(numbers), numbers, expires })
  }
}

/**
 * The token bucket's algorithm with another `adopt`, the conversion to a changed limit. Here a full bucket, whose state is expired, keeps
 * its tokens when the limit changes, like any other bucket.
 */
const KEEPING: typeof tokenBucketKernel = {
  ...tokenBucketKernel,
  adopt(plan, state, now) {
    const old = state.plan
    if (samePlan(old, plan)) return state
    const time = timeOf(state, now)
    const level = floorDiv(levelAt(old, filled(old, state, time), time) * BigInt(plan.m), BigInt(old.m))
    return bucketWith(plan, level, time, Math.max(state.keepFor, old.emptyBefore.micros))
  },
}
