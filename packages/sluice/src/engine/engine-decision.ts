import type { Decision, Outcome } from '../decision/decision.ts'
import { hash32 } from '../decision/jitter.ts'
import type { Request } from '../identity/request.ts'
import { decisionOf } from '../limiter/decision-of.ts'
import type { Resolved } from '../limiter/on-failure.ts'
import type { Mode } from '../policy/model/rule.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { RequestCharges, UnreadRule } from './request-charges.ts'
import { namedOf, type RuleCharge } from './rule-charge.ts'

/** A decision by a policy; `limits` has one view for each enforcing rule. */
export type EngineDecision = Decision & {
  /** The rules that applied, in the order of the policy. */
  readonly rules: readonly { readonly name: string; readonly mode: Mode }[]
  /** A hash of subject, address, path and keys that spreads clients' retries; empty if allowed. */
  readonly identity: string
  /** What shadow rules would have decided; does not affect the outcome. */
  readonly shadow: readonly { readonly rule: string; readonly outcome: Outcome }[]
  /** Every enforcing rule that did not admit the request. */
  readonly violated: readonly string[]
  /** Set if chance decided, because a rule samples requests. */
  readonly probabilistic?: true
  /** The exemption, if the policy exempts the request from every rule. */
  readonly exempt?: string
}

export interface DecidedRequest {
  readonly charges: RequestCharges
  readonly enforced: readonly RuleCharge[]
  readonly shadows: readonly RuleCharge[]
  /** Undefined if no enforcing rule applies. */
  readonly result: Resolved | undefined
  readonly shadowResults: readonly Resolved[]
}

/** @param clock this process's clock, read if no store decided */
export function engineDecision(decided: DecidedRequest, request: Request, clock: Pick<Time, 'now'>): EngineDecision {
  const { enforced, shadows, result, shadowResults } = decided
  const { charges, probabilistic, exempt, unread } = decided.charges
  if (unread?.rule.mode === 'enforce') return badRequest(unread, request, clock)
  // No other code has the decision yet. Extending it takes a third of the time of a copy.
  const decision = (result === undefined ? unlimited(shadowResults, clock) : decisionOf(result, enforced.map(namedOf), clock)) as Growing
  decision.rules = charges.map(nameOf)
  decision.identity = decision.allowed ? '' : identityOf(charges, request)
  decision.shadow = shadows.map(({ rule }, index) => ({ rule: rule.name, outcome: shadowResults[index]?.outcome ?? 'undecided' }))
  decision.violated =
    result === undefined || result.outcome === 'allowed'
      ? []
      : enforced.filter((_, index) => (result.calls?.[index]?.outcome ?? 'allowed') !== 'allowed').map(({ rule }) => rule.name)
  if (probabilistic) decision.probabilistic = true
  if (exempt !== undefined) decision.exempt = exempt
  if (unread !== undefined) {
    decision.rules = [...decision.rules, nameOf(unread)]
    decision.shadow = [...decision.shadow, { rule: unread.rule.name, outcome: 'impossible' }]
  }
  return decision
}

/** No limit is charged and no store is called. */
function badRequest({ rule, detail }: UnreadRule, request: Request, clock: Pick<Time, 'now'>): EngineDecision {
  const atMicros = clock.now()
  return {
    outcome: 'impossible',
    allowed: false,
    limitName: rule.name,
    reason: 'bad-request',
    detail,
    limits: [],
    at: Math.floor(atMicros / MICROS_PER_MS),
    atMicros,
    source: 'store',
    rules: [nameOf({ rule })],
    identity: identityOf([], request),
    shadow: [],
    violated: [rule.name],
  }
}

type Growing = Decision & { -readonly [Field in keyof EngineDecision]: EngineDecision[Field] }

function nameOf({ rule: { name, mode } }: Pick<RuleCharge, 'rule'>): EngineDecision['rules'][number] {
  return { name, mode }
}

/** No rule enforces, so the request may pass. If the store failed for a shadow rule, the decision reports the cause. */
function unlimited(shadowResults: readonly Resolved[], clock: Pick<Time, 'now'>): Decision {
  const decision = { outcome: 'allowed', at: clock.now(), calls: [] } as const
  const failed = shadowResults.find(({ degraded }) => degraded !== undefined)
  if (failed === undefined) return decisionOf(decision, [], clock)
  const { source = 'store', degraded, nodes } = failed as Resolved & Required<Pick<Resolved, 'degraded'>>
  return decisionOf({ ...decision, source, degraded, ...(nodes === undefined ? {} : { nodes }) }, [], clock)
}

function identityOf(charges: readonly RuleCharge[], { claims, network, path }: Request): string {
  const subject = claims?.['sub']
  let hash = hash32(path)
  if (network !== undefined) hash = hash32(network, hash)
  if (typeof subject === 'string') hash = hash32(subject, hash)
  for (const { call } of charges) hash = hash32(call.id.key, hash)
  return hash.toString(16).padStart(8, '0')
}
