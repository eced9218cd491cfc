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
 * @param look report every view uncharged, also if the group would pass
 */
export function applyGroup(
  states: readonly unknown[],
  calls: readonly GroupCall[],
  now: Micros,
  blocks: readonly Micros[] = [],
  look = false,
): GroupResult {
  const adopted = states.slice()
  const taken = states.map(() => 0)
  const steps: Step<unknown>[] = []
  let outcome: CallOutcome = 'allowed'
  for (const { slot, limit, cost, phase } of calls) {
    if (taken[slot] === 0 && adopted[slot] !== undefined) adopted[slot] = limit.algorithm.adopt(limit.plan, adopted[slot], now, phase)
    const total = (taken[slot] as number) + cost
    taken[slot] = total
    const step = limit.algorithm.decide(limit.plan, adopted[slot], now, total, phase)
    steps.push(step)
    outcome = worse(outcome, step.outcome)
    if ((blocks[slot] ?? 0) > now) outcome = worse(outcome, 'denied')
  }
  const charged = outcome === 'allowed'
  const written = new Map<number, { slot: number; limit: AnyLimit; state: unknown }>()
  const waiting = outcome === 'denied' ? waitingOf(calls, adopted, blocks) : []
  const results = calls.map(({ slot, limit, phase }, index): CallResult => {
    const step = steps[index] as Step<unknown>
    const state = charged ? step.state : adopted[slot]
    if (state !== undefined && state !== states[slot]) written.set(slot, { slot, limit, state })
    const { remaining, replenishAfter, resetAfter } = charged && !look ? step : limit.algorithm.view(limit.plan, adopted[slot], now, phase)
    const result = { outcome: step.outcome, retryAfter: step.retryAfter, remaining, replenishAfter, resetAfter }
    const wait = (blocks[slot] ?? 0) - now
    if (wait <= 0 || step.outcome === 'impossible') return result
    const call = waiting[index]
    const retryAfter = call === undefined ? Math.max(wait, step.retryAfter) : passesFrom(call, now) - now
    return { ...result, outcome: 'denied', retryAfter, blocked: true }
  })
  const retryAfter = waiting.length === 0 ? undefined : groupWait(waiting, results, now)
  return { outcome, ...(retryAfter === undefined ? {} : { retryAfter }), calls: results, writes: [...written.values()] }
}

function groupWait(waiting: readonly WaitingCall[], results: readonly CallResult[], now: Micros): Micros | undefined {
  const longest = Math.max(...results.map(({ retryAfter }) => retryAfter))
  if (waiting.length === 1) return longest
  const at = allPassFrom(waiting, now + longest)
  return at === undefined ? undefined : at - now
}

/** The calls of a denied group as callers would repeat them later: the group charged nothing. */
function waitingOf(calls: readonly GroupCall[], adopted: readonly unknown[], blocks: readonly Micros[]): WaitingCall[] {
  const taken = adopted.map(() => 0)
  return calls.map(({ slot, limit, cost, phase }) => {
    const total = (taken[slot] as number) + cost
    taken[slot] = total
    return { limit, state: adopted[slot], cost: total, phase, until: blocks[slot] ?? 0 }
  })
}

/** Precedence: impossible, then denied, then allowed. */
function worse(a: CallOutcome, b: CallOutcome): CallOutcome {
  if (a === 'impossible' || b === 'impossible') return 'impossible'
  return a === 'denied' || b === 'denied' ? 'denied' : 'allowed'
}
