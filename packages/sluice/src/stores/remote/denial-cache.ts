import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import type { Call, CallGroup, Decided, GroupVerdict, StateId, Verdict } from '../store.ts'
import { watchSleep } from './watch.ts'

export interface DenialCacheOptions {
  readonly clock: Time
  /** Milliseconds that a denial is remembered at most: a change made by another process cannot reach it. */
  readonly maxDeniedMs: number
  /** Denials kept at once. */
  readonly maxDenials: number
}

interface Denial {
  readonly calls: readonly Call[]
  /** Of each call. */
  readonly states: readonly State[]
  readonly verdict: Decided
  readonly receivedAt: MonotonicInstant
  /** It expires at this instant. */
  readonly until: MonotonicInstant
}

interface State {
  readonly id: StateId
  /** Denials by this state, oldest first: at most PER_STATE, so that `find` is fast for a state that many groups share. */
  readonly denials: Denial[]
  /** Calls of it in all denials that are kept. */
  calls: number
  forgotten: boolean
}

const PER_STATE = 4
/** If wall clock and monotonic clock drift apart by more than this, the machine has slept. */
const MAX_DRIFT_MS = 50
/** Interval between checks for a sleep: reading the wall clock costs a quarter of an answer. */
const CHECK_MS = 1

/**
 * Remembers denials and answers the same group (the same limits, keys and costs in the same order) without calling the store: until the
 * first of its denied calls could pass, and for `maxDeniedMs` at most. Waits end when the store said; limits that did not deny are as the
 * store saw them. If there is no room, the oldest denial is removed. A sleep of the machine clears the cache. To forget a state costs the
 * same however many denials are kept. Bound G: that of the store, because only denials are remembered.
 */
export function createDenialCache({ clock, maxDeniedMs, maxDenials }: DenialCacheOptions) {
  /** By the text of the scope, then by key. */
  const states = new Map<string, Map<string, State>>()
  /** Oldest first. All are kept for about as long: the oldest expire first. */
  const kept = new Set<Denial>()
  let version = 0
  let nextCheck = Number.NEGATIVE_INFINITY
  const slept = watchSleep(clock, MAX_DRIFT_MS)

  const stateOf = (id: StateId): State => {
    let keys = states.get(id.scope.text)
    if (keys === undefined) states.set(id.scope.text, (keys = new Map()))
    let state = keys.get(id.key)
    if (state === undefined) keys.set(id.key, (state = { id, denials: [], calls: 0, forgotten: false }))
    return state
  }
  const remove = (state: State | undefined): void => {
    if (state === undefined || state.forgotten) return
    state.forgotten = true
    const { scope, key } = state.id
    const keys = states.get(scope.text)
    keys?.delete(key)
    if (keys?.size === 0) states.delete(scope.text)
  }
  const makeRoom = (now: MonotonicInstant): void => {
    for (const denial of kept) {
      if (now < denial.until && kept.size < maxDenials) return
      kept.delete(denial)
      for (const state of denial.states) {
        if (state.denials[0] === denial) state.denials.shift()
        state.calls -= 1
        if (state.calls === 0) remove(state)
      }
    }
  }
  const clear = (): void => {
    states.clear()
    kept.clear()
    version += 1
  }

  return {
    get isEmpty(): boolean {
      return states.size === 0
    },
    /** Pass to `remember` what this was when the store was called. */
    get version(): number {
      return version
    },
    /** The remembered denial of this group as a new object, with the waits that are left now. Undefined: call the store. */
    find({ calls }: CallGroup, now: MonotonicInstant): Decided | undefined {
      if (states.size > 0 && now >= nextCheck) {
        nextCheck = now + CHECK_MS
        if (slept(now)) clear()
      }
      for (const { id } of calls) {
        const denials = states.get(id.scope.text)?.get(id.key)?.denials
        const denial = denials?.find((one) => now < one.until && isSame(one.calls, calls) && !one.states.some(({ forgotten }) => forgotten))
        if (denial !== undefined) return aged(denial, now)
      }
      return undefined
    },
    /**
     * Remembers a denial that the store itself decided, if nothing was forgotten since `version`. Keeps no reference to the group.
     * @param sentAt no later than the store was called
     */
    remember({ calls }: CallGroup, verdict: GroupVerdict, sentAt: MonotonicInstant, versionThen: number): void {
      if (versionThen !== version || verdict.outcome !== 'denied') return
      if (verdict.degraded !== undefined || verdict.reason !== undefined || (verdict.source ?? 'store') !== 'store') return
      const denied = verdict.calls.findLastIndex(({ outcome }) => outcome === 'denied')
      const waits = verdict.calls.filter(({ outcome }) => outcome === 'denied').map(({ retryAfter }) => retryAfter / MICROS_PER_MS)
      // The store decided at `sentAt` or later: nobody waits too long.
      const until = sentAt + Math.min(maxDeniedMs, ...waits)
      const now = clock.monotonic()
      if (denied === -1 || now >= until) return
      makeRoom(now)
      // The caller may use its calls again for another group.
      const copies = calls.map((call) => ({ ...call, id: { ...call.id } }))
      const denial = { calls: copies, states: copies.map(({ id }) => stateOf(id)), verdict, receivedAt: now, until }
      for (const state of denial.states) state.calls += 1
      kept.add(denial)
      const { denials } = denial.states[denied] as State
      const replaced = denials.findIndex((one) => isSame(one.calls, calls))
      if (replaced !== -1 || denials.length === PER_STATE) denials.splice(Math.max(0, replaced), 1)
      denials.push(denial)
    },
    /** Forgets the denials of every group that calls one of these states. Call it before and after a change of them. */
    forget(ids: readonly StateId[]): void {
      version += 1
      for (const { scope, key } of ids) remove(states.get(scope.text)?.get(key))
    },
    clear(): void {
      clear()
    },
  }
}

/** Whether these are the same limits, keys and costs in the same order. */
function isSame(one: readonly Call[], other: readonly Call[]): boolean {
  const isEqual = ({ cost, limit, id: { key, scope } }: Call, call: Call): boolean =>
    cost === call.cost && limit === call.limit && key === call.id.key && scope === call.id.scope
  return one.length === other.length && one.every((call, index) => isEqual(call, other[index] as Call))
}

/** The verdict as it stands now: store time has advanced, and waits are shorter by as much. */
function aged({ verdict, receivedAt }: Denial, now: MonotonicInstant): Decided {
  const passed = Math.floor((now - receivedAt) * MICROS_PER_MS)
  const left = (wait: Micros): Micros => Math.max(0, wait - passed)
  const later = (call: Verdict): Verdict => ({
    ...call,
    retryAfter: left(call.retryAfter),
    replenishAfter: left(call.replenishAfter),
    resetAfter: left(call.resetAfter),
  })
  const { at, retryAfter, calls } = verdict
  // Most groups have one call, and an array literal is faster than `map`.
  const all = calls.length === 1 ? [later(calls[0] as Verdict)] : calls.map(later)
  return {
    outcome: 'denied',
    at: at + passed,
    retryAfter: retryAfter === undefined ? undefined : left(retryAfter),
    calls: all,
    source: 'denied-cache',
  }
}
