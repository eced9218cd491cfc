import type { Request } from '../identity/request.ts'
import { decideGroups, type Deciders, onFailure, type Resolved } from '../limiter/on-failure.ts'
import type { CallGroup, DecideOptions, FailurePolicy } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import { type EngineDecision, engineDecision } from './engine-decision.ts'
import type { RequestCharges } from './request-charges.ts'
import { enforcing, groupOf, policyOf, type RuleCharge } from './rule-charge.ts'

/** A request and what the rules charge it. */
export interface ChargedRequest extends RequestCharges {
  readonly request: Request
  /** The route, for metrics. */
  readonly route: string | undefined
}

/**
 * Decides several requests in order and independently, in one store call. The enforcing rules of a request form one group; each of its
 * shadow rules is a group after it. Rejects only for defects.
 */
export async function decideRequests(
  deciders: Deciders,
  requests: readonly ChargedRequest[],
  options: DecideOptions,
  clock: Time,
): Promise<EngineDecision[]> {
  const groups: CallGroup[] = []
  const policies: FailurePolicy[] = []
  const add = (charges: readonly RuleCharge[]): void => {
    groups.push(groupOf(charges))
    policies.push(policyOf(charges))
  }
  const grouped = requests.map(({ charges }) => {
    const enforced = enforcing(charges)
    const shadows = enforced.length === charges.length ? NONE : charges.filter(({ rule }) => rule.mode === 'shadow')
    const first = groups.length
    if (enforced.length > 0) add(enforced)
    for (const charge of shadows) add([charge])
    // The enforcing rules are the group `first` if there are any; each shadow rule is a group after it.
    return { enforced, shadows, first }
  })
  const resolved = await resolve(deciders, groups, policies, options)
  return requests.map((charges, index) => {
    const { enforced, shadows, first } = grouped[index] as (typeof grouped)[number]
    const own = enforced.length === 0 ? 0 : 1
    const result = own === 0 ? undefined : resolved[first]
    const shadowResults = shadows.length === 0 ? NO_RESULTS : resolved.slice(first + own, first + own + shadows.length)
    return engineDecision({ charges, enforced, shadows, result, shadowResults }, charges.request, clock)
  })
}

async function resolve(
  deciders: Deciders,
  groups: readonly CallGroup[],
  policies: readonly FailurePolicy[],
  options: DecideOptions,
): Promise<readonly Resolved[]> {
  const [group] = groups
  if (group === undefined) return NO_RESULTS
  const policyAt = (index: number): FailurePolicy => policies[index] as FailurePolicy
  const charges = options.charge !== false && options.signal?.aborted !== true
  const verdict = groups.length === 1 && charges ? deciders.main.decideNow?.(group) : undefined
  if (verdict === undefined) return decideGroups(deciders, groups, policyAt, options)
  return [verdict.failure === undefined ? verdict : await onFailure(verdict, policyAt(0), deciders.local, group, options)]
}

const NONE: readonly RuleCharge[] = []
const NO_RESULTS: readonly Resolved[] = []
