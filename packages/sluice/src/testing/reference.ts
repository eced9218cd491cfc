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
  /** As the algorithm's codec encodes the state. */
  readonly numbers: readonly number[]
  readonly expires: Micros
}

/** Whether a full bucket keeps its tokens when its limit changes, instead of being full under the new limit, too. */
export type KeepsTokens = (call: Pick<Call, 'id' | 'limit'>) => boolean

/** Decides with the kernels over a plain map, in which nothing expires. Every store must decide as this does. */
export class Reference {
  /** By name; nothing is deleted for its age. */
  readonly states: Map<string, ReferenceState>
  readonly #blocks: Map<string, Micros>

  /** By name of a bucket for which `#keepsTokens` returns true: the limit of its last call. */
  readonly #limits: Map<string, AnyLimit>
  readonly #keepsTokens: KeepsTokens

  constructor(from?: Reference, keepsTokens: KeepsTokens = () => false) {
    this.states = new Map(from?.states)
    this.#blocks = new Map(from === undefined ? [] : from.#blocks)
    this.#limits = new Map(from === undefined ? [] : from.#limits)
    this.#keepsTokens = from === undefined ? keepsTokens : from.#keepsTokens
  }

  /** `dryRun`: `calls` reports the states before the charge, as a peek does. The charge is stored all the same. */
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

  /** Micro-tokens by call: above 0 are given back, below 0 are taken. */
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

  /** Gives back what was charged before tokens were there (`leave`), or slots (`release`). */
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

  /** As the algorithm encodes a state; undefined without a state. */
  numbersOf(id: StateId): readonly number[] | undefined {
    return this.states.get(stateName(id))?.numbers
  }

  /** `until`: end of the block; 0 lifts it. */
  block(id: StateId, until: Micros): void {
    this.#blocks.set(stateName(id), until)
  }

  /** A block stays. */
  reset(id: StateId): void {
    this.states.delete(stateName(id))
  }

  /**
   * If `#keepsTokens` says so, replaces the call's algorithm by KEEPING. A bucket without a state is then full under its last limit: this
   * full state is converted and stored.
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

  /** Encoded and decoded, because a state may refer to arguments of the call, which the caller may change. */
  #write({ id, limit }: Call, state: unknown): void {
    const { codec } = limit.algorithm
    if (state === undefined) return this.reset(id)
    const numbers = codec.encodeState(state)
    const expires = limit.algorithm.expiresAt(limit.plan, state)
    this.states.set(stateName(id), { id, state: codec.decodeState(numbers), numbers, expires })
  }
}

/** A token bucket that keeps its tokens when the limit changes, even if it is full. */
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
