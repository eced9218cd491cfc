import type { Micros } from '../time/micros.ts'
import type { AnyLimit, CallOutcome, Step, View } from './algorithm.ts'

/** One call as the driver sees it: calls of one state share the `slot` and the limit. */
export interface GroupCall {
  readonly slot: number
  readonly limit: AnyLimit
  readonly cost: number
}

export interface CallResult extends View {
  readonly outcome: CallOutcome
  readonly retryAfter: Micros
}

export interface GroupResult {
  readonly outcome: CallOutcome
  readonly calls: readonly CallResult[]
  /** By slot: the state to write and when it expires; absent where nothing changes. */
  readonly writes: readonly { readonly slot: number; readonly state: unknown; readonly expiresAt: Micros }[]
}

/**
 * The reference driver: decides calls all or nothing, in order (law 1). A call that shares a state with earlier ones is
 * decided with their costs added, which is what seeing them means. When one call fails, nothing is charged, only
 * conversions to a changed limit are written (law 7), and every view shows what is left uncharged. Programs replay this.
 * @param states by slot, as stored; undefined where there is none
 */
export function applyGroup(states: readonly unknown[], calls: readonly GroupCall[], now: Micros): GroupResult {
  const adopted = states.slice()
  const taken = states.map(() => 0)
  const steps: Step<unknown>[] = []
  let outcome: CallOutcome = 'allowed'
  for (const { slot, limit, cost } of calls) {
    if (taken[slot] === 0 && adopted[slot] !== undefined) adopted[slot] = limit.algorithm.adopt(limit.plan, adopted[slot], now)
    const total = add(taken[slot] as number, cost)
    taken[slot] = total
    const step = limit.algorithm.decide(limit.plan, adopted[slot], now, total)
    steps.push(step)
    outcome = worse(outcome, step.outcome)
  }
  const charged = outcome === 'allowed'
  const written = new Map<number, { slot: number; state: unknown; expiresAt: Micros }>()
  const results = calls.map(({ slot, limit }, index) => {
    const step = steps[index] as Step<unknown>
    const state = charged ? step.state : adopted[slot]
    if (state !== undefined && state !== states[slot]) {
      written.set(slot, { slot, state, expiresAt: limit.algorithm.expiresAt(limit.plan, state) })
    }
    const view = charged ? step : limit.algorithm.view(limit.plan, adopted[slot], now)
    return {
      outcome: step.outcome,
      retryAfter: step.retryAfter,
      remaining: view.remaining,
      replenishAfter: view.replenishAfter,
      resetAfter: view.resetAfter,
    }
  })
  return { outcome, calls: results, writes: [...written.values()] }
}

/** Precedence: impossible, then denied, then allowed. */
function worse(a: CallOutcome, b: CallOutcome): CallOutcome {
  if (a === 'impossible' || b === 'impossible') return 'impossible'
  return a === 'denied' || b === 'denied' ? 'denied' : 'allowed'
}

/** Costs are decimals of six places: their sum is rounded to six, so that 0.1 + 0.2 is 0.3. */
function add(a: number, b: number): number {
  return a === 0 ? b : Math.round((a + b) * 1_000_000) / 1_000_000
}
