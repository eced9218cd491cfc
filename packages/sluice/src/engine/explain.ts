import { fromMicroTokens } from '../algorithms/decimal.ts'
import type { Request } from '../identity/request.ts'
import { type LimitFacts, limitFacts } from '../policy/model/limit-facts.ts'
import { mismatch } from '../policy/model/match.ts'
import type { Policy } from '../policy/model/policy.ts'
import type { Mode, Rule } from '../policy/model/rule.ts'
import { defined } from '../policy/model/defined.ts'
import { exemptionOf } from '../policy/model/exemption.ts'
import { type ChargeContext, chargeOf, namedOf } from './rule-charge.ts'
import { unreadReader } from './unread-rules.ts'

/** What a policy does with a request. Contains keys in clear: show it to operators only. */
export interface Explanation {
  /** In upper case. */
  readonly method: string
  /** `(ambiguous)` if upstreams may interpret it as different paths. */
  readonly path: string
  /** The ways in which upstreams may interpret the path, if several. */
  readonly readings?: readonly string[]
  /** What is wrong with an unreadable path or query. */
  readonly unreadable?: string
  /** The enforcing rule that refuses the request because of `unreadable`. */
  readonly refusedBy?: string
  /** In lower case, without port; absent if the request names none. */
  readonly host?: string
  /** The client's address, by the forwarding headers of trusted proxies. */
  readonly address?: string
  /** The exemption because of which no rule applies. */
  readonly exempt?: string
  /** Every rule of the policy, in its order. */
  readonly rules: readonly RuleExplanation[]
}

/** What one rule does with a request, and why. */
export interface RuleExplanation {
  /** Name of the rule. */
  readonly name: string
  /** Whether the rule enforces. */
  readonly mode: Mode
  /** Whether the rule applies; if so, key, tier, limit and cost are present. */
  readonly matches: boolean
  /** Why the rule does not match. */
  readonly why?: string
  /** Source and value of each key part; null if absent. Nulls share one state. */
  readonly key?: readonly { readonly source: string; readonly value: string | null }[]
  /** The conditions of this limit in its rule; empty for none. */
  readonly tier?: string
  /** Set if an override replaces the tier's limit for this key. */
  readonly overridden?: true
  /** One request in `sample` is charged, at `sample` times its cost. */
  readonly sample?: number
  /** The limit that applies; its capacity is in tokens. */
  readonly limit?: LimitFacts
  /** Tokens that the request takes. */
  readonly cost?: number
  /** Set if the cost is above the capacity, so that no wait helps. */
  readonly impossible?: true
}

export function explainRules(policy: Policy, request: Request, context: ChargeContext): Explanation {
  const { method, path, readings, unreadable, host, address } = request
  const exempt = exemptionOf(policy.exempt, request)
  const readsUnread = unreadable === undefined ? undefined : unreadReader(request, context.cost !== undefined)
  const isUnread = (rule: Rule): boolean => readsUnread?.(rule) === true
  const refuses = (rule: Rule): boolean => rule.mode === 'enforce' && isUnread(rule)
  const refusing = exempt === undefined ? policy.rules.find(refuses) : undefined
  return {
    method,
    path,
    ...defined({ readings: readings?.map((reading) => reading.path) }),
    ...defined({ unreadable: unreadable?.detail, refusedBy: refusing?.name }),
    ...defined({ host, address, exempt: exempt?.text }),
    rules: policy.rules.map((rule) => explainRule(rule, isUnread(rule), request, context)),
  }
}

function explainRule(rule: Rule, isUnread: boolean, request: Request, context: ChargeContext): RuleExplanation {
  const { name, mode } = rule
  const unused = (why: string): RuleExplanation => ({ name, mode, matches: false, why })
  if (mode === 'off') return unused('it is off')
  if (isUnread) return unused('it reads what cannot be read')
  const why = mismatch(rule.match, request)
  if (why !== undefined) return unused(why)
  const exempt = exemptionOf(rule.exempt, request)
  if (exempt !== undefined) return unused(`it is exempt by ${exempt.text}`)
  const charge = chargeOf(rule, request, context)
  if (charge === undefined) return unused('none of its tiers applies')
  const { tier, call, values } = charge
  const { limit } = call
  const cost = fromMicroTokens(call.cost)
  return {
    name,
    mode,
    matches: true,
    key: rule.key.flat().map(({ text }, index) => ({ source: text, value: values[index] ?? null })),
    tier: tier.label,
    ...defined({ overridden: limit === tier.limit ? undefined : (true as const), sample: rule.sample }),
    limit: limitFacts(limit, namedOf(charge).windowMs),
    cost,
    ...defined({ impossible: cost > limit.capacity ? (true as const) : undefined }),
  }
}
