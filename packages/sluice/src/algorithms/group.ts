import type { Micros } from '../time/micros.ts'
import type { AnyLimit, CallOutcome, MicroTokens, Step, View } from './algorithm.ts'
import { allPassFrom, passesFrom, type WaitingCall } from './group-wait.ts'

/** One call as the driver sees it. Calls of one state share the `slot`, the limit and the phase. */
export interface GroupCall {
  readonly slot: number
  readonly limit: AnyLimit
  readonly cost: MicroTokens
  readonly phase: number
}

export interface CallResult extends View {
  readonly outcome: CallOutcome
  /** The wait of this call by itself; 0 unless denied. */
  readonly retryAfter: Micros
  /** Set if a block denies the call rather than the limit. */
  readonly blocked?: true
}

export interface GroupResult {
  readonly outcome: CallOutcome
  /**
   * For a denied group: after exactly this long all its calls would pass, a microsecond earlier they would not. Absent if no instant was
   * found.
   */
  readonly retryAfter?: Micros
  readonly calls: readonly CallResult[]
  /** By slot: the state to write. A slot whose state does not change is absent. */
  readonly writes: readonly { readonly slot: number; readonly limit: AnyLimit; readonly state: unknown }[]
}

/**
 * The reference driver. It decides calls in order, all or nothing (law 1). It decides a call that shares a state with earlier calls with
 * their costs added. If one call fails, the driver charges nothing, writes only conversions to a changed limit (law 7), and reports
 * uncharged views. Programs replay this.
 * @param states by slot, as stored; undefined if there is none
 * @param blocks by slot: the instant until which nothing may pass, 0 if there is no block
 * @param dryRun report every view uncharged, also if the group would pass
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
  const waiting = (outcome as CallOutcome) === 'denied' ? waitingOf(calls, adopted, blocks) : []
  const writes = new Map<number, { slot: number; limit: AnyLimit; state: unknown }>()
  const results = calls.map(({ slot, limit, phase }, index): CallResult => {
    const step = steps[index] as Step<unknown>
    const state = charged ? step.state : adopted[slot]
    if (state !== undefined && state !== states[slot]) writes.set(slot, { slot, limit, state })
    const { remaining, replenishAfter, resetAfter } =
      charged && !dryRun ? step : limit.algorithm.view(limit.plan, adopted[slot], now, phase)
    const result = { outcome: step.outcome, retryAfter: step.retryAfter, remaining, replenishAfter, resetAfter }
    const wait = (blocks[slot] ?? 0) - now
    if (wait <= 0 || step.outcome === 'impossible') return result
    const call = waiting[index]
    const retryAfter = call === undefined ? Math.max(wait, step.retryAfter) : passesFrom(call, now) - now
    return { ...result, outcome: 'denied', retryAfter, blocked: true }
  })
  const group = { outcome, calls: results, writes: [...writes.values()] }
  if (waiting.length === 0) return group
  const longest = Math.max(...results.map(({ retryAfter }) => retryAfter))
  const at = waiting.length === 1 ? now + longest : allPassFrom(waiting, now + longest)
  return at === undefined ? group : { ...group, retryAfter: at - now }
}

/** The calls of a denied group as callers would repeat them later: the group charged nothing. */
function waitingOf(calls: readonly GroupCall[], adopted: readonly unknown[], blocks: readonly Micros[]): WaitingCall[] {
  const taken = adopted.map(() => 0)
  return calls.map(({ slot, limit, cost, phase }) => {
    taken[slot] = (taken[slot] as number) + cost
    return { limit, state: adopted[slot], cost: taken[slot], phase, until: blocks[slot] ?? 0 }
  })
}
