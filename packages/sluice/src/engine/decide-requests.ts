import type { Request } from '../identity/request.ts'
import { decideGroups, type Deciders, onFailure, type Resolved } from '../limiter/on-failure.ts'
import { holdOf, type NewHolder, takesSlots } from '../limiter/holders.ts'
import type { CallGroup, DecideOptions, FailurePolicy } from '../stores/store.ts'
import type { Stopwatch, Time } from '../time/time.ts'
import { type DecidedRequest, type EngineDecision, engineDecision } from './engine-decision.ts'
import type { RequestCharges } from './request-charges.ts'
import { enforcing, policyOf, type RuleCharge } from './rule-charge.ts'

export interface ChargedRequest extends RequestCharges {
  readonly request: Request
  /** The route, for metrics. */
  readonly route: string | undefined
}

export interface Made {
  readonly decision: EngineDecision
  readonly from: DecidedRequest
  /** The id for slots of concurrency limits; absent if no rule has such a limit. */
  readonly holder?: string
}

/**
 * Decides the requests in order and independently, in one store call. A request's enforcing rules are charged all or nothing, each shadow
 * rule separately. Rejects only because of a bug.
 * @param watch started just before this call. A store in this process may stop it, otherwise the caller does
 */
export async function decideRequests(
  deciders: Deciders,
  requests: readonly ChargedRequest[],
  options: DecideOptions,
  clock: Time,
  newHolder: NewHolder,
  watch?: Stopwatch,
): Promise<Made[]> {
  const parts = requests.map(({ charges }) => {
    const enforced = enforcing(charges)
    const hasShadows = enforced.length < charges.length
    return { enforced, shadows: hasShadows ? charges.filter(({ rule }) => rule.mode === 'shadow') : NONE }
  })
  const groups: HeldCharges[] = []
  const holders = requests.map(({ charges }) => (charges.some(({ call }) => takesSlots(call.limit)) ? newHolder() : undefined))
  for (const [index, { enforced, shadows }] of parts.entries()) {
    const holder = holders[index]
    if (enforced.length > 0) groups.push({ charges: enforced, holder })
    for (const charge of shadows) groups.push({ charges: [charge], holder })
  }
  const resolved = await resolve(deciders, groups, options, watch)
  let next = 0
  return requests.map((charges, index) => {
    const { enforced, shadows } = parts[index] as (typeof parts)[number]
    const first = next + (enforced.length > 0 ? 1 : 0)
    const result = first > next ? resolved[next] : undefined
    next = first + shadows.length
    const shadowResults = resolved.slice(first, next)
    const from = { charges, enforced, shadows, result, shadowResults }
    const decision = engineDecision(from, charges.request, clock)
    const holder = holders[index]
    return holder === undefined ? { decision, from } : { decision: withHold(decision, holder, from), from, holder }
  })
}

interface HeldCharges {
  readonly charges: readonly RuleCharge[]
  readonly holder: string | undefined
}

/** Shadow rules hold slots even for a request that other rules refuse. */
function withHold(decision: EngineDecision, holder: string, { result, shadowResults }: DecidedRequest): EngineDecision {
  const hold = holdOf(holder, result === undefined ? shadowResults : [result, ...shadowResults])
  return hold === undefined ? decision : { ...decision, hold }
}

async function resolve(
  deciders: Deciders,
  charged: readonly HeldCharges[],
  options: DecideOptions,
  watch: Stopwatch | undefined,
): Promise<readonly Resolved[]> {
  const groups = charged.map(({ charges, holder }): CallGroup => {
    const calls = charges.map(({ call }) => call)
    return holder === undefined ? { calls } : { calls, options: { hold: { id: holder } } }
  })
  const [group] = groups
  if (group === undefined) return []
  const policyAt = (index: number): FailurePolicy => policyOf((charged[index] as HeldCharges).charges)
  const charges = options.charge !== false && options.signal?.aborted !== true
  const verdict = groups.length === 1 && charges ? deciders.main.decideNow?.(group, watch) : undefined
  if (verdict === undefined) return decideGroups(deciders, groups, policyAt, options)
  if (verdict.failure === undefined) return [verdict]
  if (watch !== undefined) watch.ended = undefined
  return [await onFailure(verdict, policyAt(0), deciders.local, group, options)]
}

const NONE: readonly RuleCharge[] = []
