import type { Micros } from '../time/micros.ts'
import type { AnyLimit, CallOutcome, Grant, MicroTokens, Step, View } from './algorithm.ts'

/** Calls of one state have the same `slot` (the state's index), limit and phase. */
export interface GroupCall {
  readonly slot: number
  readonly limit: AnyLimit
  readonly cost: MicroTokens
  readonly phase: number
}

export interface CallResult extends View {
  readonly outcome: CallOutcome
  /** The wait of this call alone. 0 for an impossible call, and for a charged call whose tokens are there. */
  readonly retryAfter: Micros
  /** The state after the charge, if the limit charges calls ahead. */
  readonly after?: unknown
  /** The slot of a concurrency limit that was granted. */
  readonly grant?: Grant
  /** For a denied call of a hold record: the existing record. */
  readonly record?: unknown
  /** Set if `Limiter.block` denies the call, even if the limit denies it too or it is impossible: how long until the block ends. */
  readonly blockedFor?: Micros
}

export interface GroupResult {
  readonly outcome: CallOutcome
  /**
   * Denied: the least wait after which all calls would pass; absent if none was found. Charged before its tokens are refilled: how long
   * until all are; absent if they are there now.
   */
  readonly retryAfter?: Micros
  readonly calls: readonly CallResult[]
  /** States that do not change are not in the list. */
  readonly writes: readonly { readonly slot: number; readonly limit: AnyLimit; readonly state: unknown }[]
}

/**
 * Charges all calls or none, in order (law 1 in ARCHITECTURE.md). The costs of calls of one state add up. If a call does not pass, only
 * states that were converted to a changed limit (law 7) are written. Programs in Lua and SQL must return exactly the same.
 * @param states by slot, as stored; undefined if absent
 * @param blocks by slot: the instant until which nothing may pass; 0 for none
 * @param dryRun for a peek: the views are without the charges (`writes` has them), and no call has a `grant`
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
    if (wait <= 0) return result
    if (step.outcome === 'impossible') return { ...result, blockedFor: wait }
    const call = waiting[index]
    const retryAfter = call === undefined ? Math.max(wait, waits) : passesFrom(call, now) - now
    return { ...result, outcome: 'denied', retryAfter, blockedFor: wait }
  })
  const group = { outcome, calls: results, writes: [...writes.values()] }
  const longest = Math.max(...results.map(({ retryAfter }) => retryAfter))
  if (waiting.length === 0) return charged && longest > 0 ? { ...group, retryAfter: longest } : group
  const at = waiting.length === 1 ? now + longest : allPassFrom(waiting, now + longest)
  return at === undefined ? group : { ...group, retryAfter: at - now }
}

/** Hold records remember what the calls before them were charged. */
function noteAll(calls: readonly GroupCall[], steps: readonly Step<unknown>[]): void {
  for (const [index, { limit }] of calls.entries()) {
    const { algorithm, plan } = limit
    if (algorithm.note === undefined) continue
    const step = steps[index] as Step<unknown>
    const before = calls.slice(0, index).map((call, at) => ({ limit: call.limit, state: (steps[at] as Step<unknown>).state }))
    step.state = algorithm.note(plan, step.state, before)
  }
}

function waitingOf(calls: readonly GroupCall[], adopted: readonly unknown[], blocks: readonly Micros[]): WaitingCall[] {
  const taken = adopted.map(() => 0)
  return calls.map(({ slot, limit, cost, phase }) => {
    taken[slot] = (taken[slot] as number) + cost
    return { limit, state: adopted[slot], cost: taken[slot], phase, until: blocks[slot] ?? 0 }
  })
}

/** A call of a denied group. Its cost includes those of earlier calls of the same state. */
interface WaitingCall {
  readonly limit: AnyLimit
  readonly state: unknown
  readonly cost: MicroTokens
  readonly phase: number
  /** The end of a block of the key; 0 for none. */
  readonly until: Micros
}

/** Of several limits with a ramp, one may deny at every instant that is tried. */
const MAX_ROUNDS = 16

/** When the call alone would pass, from `at` on. Requires a cost that is possible. */
function passesFrom({ limit: { algorithm, plan }, state, cost, phase, until }: WaitingCall, at: Micros): Micros {
  const from = Math.max(at, until)
  const then = state === undefined ? undefined : algorithm.adopt(plan, state, from, phase)
  const { outcome, retryAfter } = algorithm.decide(plan, then, from, cost, phase)
  // `retryAfter` of an allowed call is the wait for tokens that it took in advance.
  return outcome === 'denied' ? from + retryAfter : from
}

/**
 * The first instant from `at` on at which all calls would pass (ARCHITECTURE.md, law 4: waits are exact). A limit with a ramp grows during
 * each window and is low again in the next, so each round checks all calls again. Undefined if no round finds an instant below 2^53.
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
