import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import {
  type Call,
  type CallGroup,
  type Change,
  changedStates,
  type Decided,
  type GroupVerdict,
  type StateId,
  type Verdict,
} from '../store.ts'
import { watchSleep } from './watch.ts'

export interface DenialCacheOptions {
  readonly clock: Time
  /** Milliseconds. Denials are kept no longer, because changes by other processes are not noticed. */
  readonly maxDeniedMs: number
  readonly maxDenials: number
}

interface Denial {
  readonly calls: readonly Call[]
  readonly states: readonly State[]
  readonly verdict: Decided
  readonly receivedAt: MonotonicInstant
  readonly until: MonotonicInstant
}

interface State {
  readonly id: StateId
  /** Denials of groups whose last denied call is to this state, oldest first. At most PER_STATE, so that `find` is fast. */
  readonly denials: Denial[]
  /** How many calls of this state all kept denials have. */
  calls: number
  forgotten: boolean
}

const PER_STATE = 4
/** More drift between wall clock and monotonic clock than this is a sleep of the machine. */
const MAX_DRIFT_MS = 50
/** Milliseconds between checks for a sleep. Checking at each call would take a quarter of the time of a cached answer. */
const CHECK_MS = 1

/**
 * Answers a denied group without the store, until one of the limits that denied it could let it pass. Repeats what the store reported,
 * with the waits that are left.
 */
export class DenialCache {
  readonly #options: DenialCacheOptions
  readonly #slept: (now: MonotonicInstant) => boolean
  /** By the scope's text, then by key. */
  readonly #states = new Map<string, Map<string, State>>()
  /** Oldest first, which is about the order in which they expire. */
  readonly #kept = new Set<Denial>()
  #version = 0
  #nextCheck = Number.NEGATIVE_INFINITY

  constructor(options: DenialCacheOptions) {
    this.#options = options
    this.#slept = watchSleep(options.clock, MAX_DRIFT_MS)
  }

  get isEmpty(): boolean {
    return this.#states.size === 0
  }

  /** Increases when denials are forgotten. Read it before calling the store, and pass it to `remember`. */
  get version(): number {
    return this.#version
  }

  /** With the waits that are left now. Undefined: call the store. */
  find({ calls }: CallGroup, now: MonotonicInstant): Decided | undefined {
    if (this.isEmpty) return undefined
    if (now >= this.#nextCheck) {
      this.#nextCheck = now + CHECK_MS
      if (this.#slept(now)) this.clear()
    }
    for (const { id } of calls) {
      const denials = this.#states.get(id.scope.text)?.get(id.key)?.denials
      const denial = denials?.find((one) => now < one.until && isSame(one.calls, calls) && !one.states.some(isForgotten))
      if (denial !== undefined) return aged(denial, now)
    }
    return undefined
  }

  /** Remembers a denial by the store, unless denials were forgotten since `version` was read. @param sentAt before the store was called */
  remember({ calls }: CallGroup, verdict: GroupVerdict, sentAt: MonotonicInstant, version: number): void {
    if (version !== this.#version || verdict.outcome !== 'denied') return
    if (verdict.degraded !== undefined || verdict.reason !== undefined) return
    if (verdict.source !== undefined && verdict.source !== 'store') return
    // A holder may give back its slot at any time.
    if (calls.some(({ limit }) => limit.algorithm.holding !== undefined)) return
    const denied = verdict.calls.findLastIndex(({ outcome }) => outcome === 'denied')
    const { clock, maxDeniedMs } = this.#options
    const waits = verdict.calls.map(({ outcome, retryAfter }) => (outcome === 'denied' ? retryAfter / MICROS_PER_MS : maxDeniedMs))
    // The store decided at `sentAt` or later, so no denial outlives its wait.
    const until = sentAt + Math.min(maxDeniedMs, ...waits)
    const now = clock.monotonic()
    if (denied === -1 || now >= until) return
    this.#makeRoom(now)
    // The caller may use its calls again for another group.
    const copies = calls.map((call) => ({ ...call, id: { ...call.id } }))
    const denial = { calls: copies, states: copies.map(({ id }) => this.#stateOf(id)), verdict, receivedAt: now, until }
    for (const state of denial.states) state.calls += 1
    this.#kept.add(denial)
    const { denials } = denial.states[denied] as State
    const replaced = denials.findIndex((one) => isSame(one.calls, calls))
    if (replaced !== -1 || denials.length === PER_STATE) denials.splice(Math.max(0, replaced), 1)
    denials.push(denial)
  }

  forget(ids: readonly StateId[]): void {
    this.#version += 1
    for (const { scope, key } of ids) this.#remove(this.#states.get(scope.text)?.get(key))
  }

  /** To be called before and after the changes are made. */
  forgetChanged(changes: readonly Change[]): void {
    this.forget(this.isEmpty ? [] : changes.flatMap(changedStates))
  }

  clear(): void {
    this.#states.clear()
    this.#kept.clear()
    this.#version += 1
  }

  #stateOf(id: StateId): State {
    const { scope, key } = id
    let keys = this.#states.get(scope.text)
    if (keys === undefined) this.#states.set(scope.text, (keys = new Map()))
    let state = keys.get(key)
    if (state === undefined) keys.set(key, (state = { id, denials: [], calls: 0, forgotten: false }))
    return state
  }

  #remove(state: State | undefined): void {
    if (state === undefined || state.forgotten) return
    state.forgotten = true
    const { scope, key } = state.id
    const keys = this.#states.get(scope.text)
    keys?.delete(key)
    if (keys?.size === 0) this.#states.delete(scope.text)
  }

  #makeRoom(now: MonotonicInstant): void {
    for (const denial of this.#kept) {
      if (now < denial.until && this.#kept.size < this.#options.maxDenials) return
      this.#kept.delete(denial)
      for (const state of denial.states) {
        if (state.denials[0] === denial) state.denials.shift()
        state.calls -= 1
        if (state.calls === 0) this.#remove(state)
      }
    }
  }
}

function isForgotten({ forgotten }: State): boolean {
  return forgotten
}

function isSame(one: readonly Call[], other: readonly Call[]): boolean {
  const isEqual = ({ cost, limit, id: { key, scope } }: Call, call: Call): boolean =>
    cost === call.cost && limit === call.limit && key === call.id.key && scope === call.id.scope
  return one.length === other.length && one.every((call, index) => isEqual(call, other[index] as Call))
}

function aged({ verdict, receivedAt }: Denial, now: MonotonicInstant): Decided {
  const passed = Math.floor((now - receivedAt) * MICROS_PER_MS)
  const left = (wait: Micros): Micros => Math.max(0, wait - passed)
  const agedCall = (call: Verdict): Verdict => {
    const { retryAfter, replenishAfter, resetAfter, blockedFor } = call
    const later = { ...call, retryAfter: left(retryAfter), replenishAfter: left(replenishAfter), resetAfter: left(resetAfter) }
    if (blockedFor === undefined) return later
    // A block may end before the limit's own wait, and then is no longer the reason.
    const { blockedFor: _, ...unblocked } = later
    return left(blockedFor) === 0 ? unblocked : { ...later, blockedFor: left(blockedFor) }
  }
  const { at, retryAfter, calls } = verdict
  // Most groups have one call, and an array literal is faster than `map`.
  const all = calls.length === 1 ? [agedCall(calls[0] as Verdict)] : calls.map(agedCall)
  return {
    outcome: 'denied',
    at: at + passed,
    retryAfter: retryAfter === undefined ? undefined : left(retryAfter),
    calls: all,
    source: 'denied-cache',
  }
}
