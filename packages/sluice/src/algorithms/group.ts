import type { Micros } from '../time/micros.ts'
import type { AnyLimit, CallOutcome, Grant, MicroTokens, Step, View } from './algorithm.ts'

/** One call of a group, as `applyGroup` takes it. Calls of one state have the same `slot` (the state's index), limit and phase. */
export interface GroupCall {
  readonly slot: number
  readonly limit: AnyLimit
  readonly cost: MicroTokens
  readonly phase: number
}

export interface CallResult extends View {
  readonly outcome: CallOutcome
  /**
   * The wait of this call alone, without the other calls of the group. It is 0 for an impossible call, and for a charged call whose tokens
   * are there.
   */
  readonly retryAfter: Micros
  /** The state after the charge, if the limit charges calls ahead. */
  readonly after?: unknown
  /** The slot that was granted, if the call takes a slot of a concurrency limit and was charged. */
  readonly grant?: Grant
  /** For a denied call that records a hold (`hold-record.ts`): the record that exists already for the same hold. */
  readonly record?: unknown
  /** Set if a block of the key (`Limiter.block`) denies the call, even if the limit denies it too. */
  readonly blocked?: true
}

export interface GroupResult {
  readonly outcome: CallOutcome
  /**
   * For a denied group: the least wait after which all its calls would pass; a microsecond less is not enough. Absent if no such wait was
   * found. For a group that was charged ahead: how long until the tokens of all its calls are there. Absent if they are there now.
   */
  readonly retryAfter?: Micros
  readonly calls: readonly CallResult[]
  /** The state to write for each slot. A slot whose state does not change is not in the list. */
  readonly writes: readonly { readonly slot: number; readonly limit: AnyLimit; readonly state: unknown }[]
}

/**
 * Decides a group of calls in order: charges all of them or none (law 1 in ARCHITECTURE.md). If earlier calls of the group have the same
 * state, their costs are added to the call's own. If one call does not pass, nothing is charged, and the views are without the charges.
 * Then the only states to write are those that were converted to a changed limit (law 7). Programs in Lua and SQL must return exactly the
 * same.
 * @param states by slot, as stored; undefined if absent
 * @param blocks by slot: the instant until which nothing may pass, 0 if there is no block
 * @param dryRun whether all views are reported without the charges, even if the group would pass
 */
export function applyGroup(
  states: readonly unknown[],
  calls: readonly GroupCall[],
  now: Micros,
  blocks: readonly Micros[] = [],
  dryRun = false,
): GroupResult {
  const adopted = states.slice()
  const taken = states.map(() => 0)
  let outcome: CallOutcome = 'allowed'
  const steps = calls.map(({ slot, limit, cost, phase }): Step<unknown> => {
    const { algorithm, plan } = limit
    if (taken[slot] === 0 && adopted[slot] !== undefined) adopted[slot] = algorithm.adopt(plan, adopted[slot], now, phase)
    taken[slot] = (taken[slot] as number) + cost
    const step = algorithm.decide(plan, adopted[slot], now, taken[slot], phase)
    const denied = step.outcome === 'allowed' && (blocks[slot] ?? 0) > now
    // Precedence: impossible, then denied, then allowed.
    if (outcome !== 'impossible' && (denied || step.outcome !== 'allowed')) outcome = denied ? 'denied' : step.outcome
    return step
  })
  const charged = (outcome as CallOutcome) === 'allowed'
  if (charged) noteAll(calls, steps)
  const waiting = (outcome as CallOutcome) === 'denied' ? waitingOf(calls, adopted, blocks) : []
  const writes = new Map<number, { slot: number; limit: AnyLimit; state: unknown }>()
  const results = calls.map(({ slot, limit, phase }, index): CallResult => {
    const step = steps[index] as Step<unknown>
    const state = charged ? step.state : adopted[slot]
    if (state !== undefined && state !== states[slot]) writes.set(slot, { slot, limit, state })
    const { remaining, replenishAfter, resetAfter } =
      charged && !dryRun ? step : limit.algorithm.view(limit.plan, adopted[slot], now, phase)
    const waits = charged || step.outcome === 'denied' ? step.retryAfter : 0
    const views = { outcome: step.outcome, retryAfter: waits, remaining, replenishAfter, resetAfter }
    const granted = charged && !dryRun ? limit.algorithm.granted?.(limit.plan, step.state) : undefined
    const grant = granted !== undefined && step.state === adopted[slot] ? { ...granted, again: true as const } : granted
    const found = step.outcome === 'denied' && limit.algorithm.note !== undefined ? { ...views, record: adopted[slot] } : views
    const result = grant !== undefined ? { ...views, grant } : charged && limit.ahead === true ? { ...views, after: step.state } : found
    const wait = (blocks[slot] ?? 0) - now
    if (wait <= 0 || step.outcome === 'impossible') return result
    const call = waiting[index]
    const retryAfter = call === undefined ? Math.max(wait, waits) : passesFrom(call, now) - now
    return { ...result, outcome: 'denied', retryAfter, blocked: true }
  })
  const group = { outcome, calls: results, writes: [...writes.values()] }
  const longest = Math.max(...results.map(({ retryAfter }) => retryAfter))
  if (waiting.length === 0) return charged && longest > 0 ? { ...group, retryAfter: longest } : group
  const at = waiting.length === 1 ? now + longest : allPassFrom(waiting, now + longest)
  return at === undefined ? group : { ...group, retryAfter: at - now }
}

/** A hold record remembers what the calls before it in a group were charged. This writes it into the records of a charged group. */
function noteAll(calls: readonly GroupCall[], steps: readonly Step<unknown>[]): void {
  for (const [index, { limit }] of calls.entries()) {
    const { algorithm, plan } = limit
    if (algorithm.note === undefined) continue
    const step = steps[index] as Step<unknown>
    const before = calls.slice(0, index).map((call, at) => ({ limit: call.limit, state: (steps[at] as Step<unknown>).state }))
    step.state = algorithm.note(plan, step.state, before)
  }
}

/** The calls of a denied group, as `allPassFrom` takes them. Their states are uncharged, because a denied group charges nothing. */
function waitingOf(calls: readonly GroupCall[], adopted: readonly unknown[], blocks: readonly Micros[]): WaitingCall[] {
  const taken = adopted.map(() => 0)
  return calls.map(({ slot, limit, cost, phase }) => {
    taken[slot] = (taken[slot] as number) + cost
    return { limit, state: adopted[slot], cost: taken[slot], phase, until: blocks[slot] ?? 0 }
  })
}

/**
 * One call of a denied group. Its state is uncharged and converted to the plan of the call. Its cost includes those of earlier calls of the
 * same state.
 */
interface WaitingCall {
  readonly limit: AnyLimit
  readonly state: unknown
  readonly cost: MicroTokens
  readonly phase: number
  /** The instant until which a block denies the call; 0 if it is not blocked. */
  readonly until: Micros
}

/**
 * The most instants that `allPassFrom` tries. Limits with a ramp let less pass at the start of each window. With several of them, there may
 * be one that denies at every instant that is tried.
 */
const MAX_ROUNDS = 16

/** The first instant from `at` on at which the call alone would pass, if nobody else called. Requires a cost that is possible. */
function passesFrom({ limit: { algorithm, plan }, state, cost, phase, until }: WaitingCall, at: Micros): Micros {
  const from = Math.max(at, until)
  const then = state === undefined ? undefined : algorithm.adopt(plan, state, from, phase)
  const { outcome, retryAfter } = algorithm.decide(plan, then, from, cost, phase)
  // A call that is allowed passes at `from`. If it is charged ahead, its `retryAfter` is only the wait for its tokens.
  return outcome === 'denied' ? from + retryAfter : from
}

/**
 * The first instant from `at` on at which all calls would pass (law 4 in ARCHITECTURE.md). Each round finds the latest instant that one of
 * the calls needs; no earlier instant is enough. The next round checks all calls at that instant, because a ramped limit that would pass
 * now may deny then. Returns undefined if no round found an instant, or if the instant is beyond 2^53.
 */
function allPassFrom(calls: readonly WaitingCall[], at: Micros): Micros | undefined {
  let latest = at
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = latest
    for (const call of calls) latest = Math.max(latest, passesFrom(call, before))
    if (!Number.isSafeInteger(latest)) return undefined
    if (latest === before) return latest
  }
  return undefined
}
