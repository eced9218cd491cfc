import { fromMicroTokens } from '../algorithms/decimal.ts'
import type { Request } from '../identity/request.ts'
import { mismatch } from '../policy/model/match.ts'
import type { Policy } from '../policy/model/policy.ts'
import type { Mode, Rule } from '../policy/model/rule.ts'
import { defined } from '../policy/model/defined.ts'
import { exemptionOf } from '../policy/model/exemption.ts'
import { type ChargeContext, chargeOf } from './rule-charge.ts'
import { unreadReader } from './unread-rules.ts'

/** What a policy does with a request, and why. It contains keys in clear: show it to the operator, not to clients. */
export interface Explanation {
  readonly method: string
  /** `(ambiguous)` if upstreams may interpret it as different paths. */
  readonly path: string
  /** Each reading, if upstreams may interpret the path in several ways. */
  readonly readings?: readonly string[]
  /** Set if path or query cannot be read: what is wrong. Rules that read them are not charged. */
  readonly unreadable?: string
  /** Name of the rule that refuses the request because of `unreadable`. Absent if no enforcing rule reads the unreadable part. */
  readonly refusedBy?: string
  readonly host?: string
  /** The client's address, by the forwarding headers of trusted proxies. */
  readonly address?: string
  /** Set if no rule is applied: the exemption that applies. */
  readonly exempt?: string
  readonly rules: readonly RuleExplanation[]
}

export interface RuleExplanation {
  readonly name: string
  readonly mode: Mode
  readonly matches: boolean
  /** Why the rule does not match. */
  readonly why?: string
  /** Source and value of each part of the key. The value is null if the request has none; all such requests share one state. */
  readonly key?: readonly { readonly source: string; readonly value: string | null }[]
  /** Conditions of the tier that applies; empty for the tier without conditions. */
  readonly tier?: string
  /** Set if an override replaces the tier's limit for this key. */
  readonly overridden?: true
  /** One request in this many is charged, at this many times its cost. */
  readonly sample?: number
  readonly limit?: { readonly algorithm: string; readonly capacity: number; readonly windowMs: number }
  readonly cost?: number
}

/** @param cost micro-tokens that the caller passed, instead of the cost by the rules */
export function explainRules(policy: Policy, request: Request, cost: number | undefined, context: ChargeContext): Explanation {
  const { method, path, readings, unreadable, host, address } = request
  const exempt = exemptionOf(policy.exempt, request)
  const readsUnread = unreadable === undefined ? undefined : unreadReader(request, cost !== undefined)
  const refusing = exempt === undefined ? policy.rules.find((rule) => rule.mode === 'enforce' && readsUnread?.(rule) === true) : undefined
  return {
    method,
    path,
    ...defined({ readings: readings?.map((reading) => reading.path), unreadable: unreadable?.detail, refusedBy: refusing?.name }),
    ...defined({ host, address, exempt: exempt?.text }),
    rules: policy.rules.map((rule) => (readsUnread?.(rule) === true ? unread(rule) : explainRule(rule, request, cost, context))),
  }
}

function unread({ name, mode }: Rule): RuleExplanation {
  return { name, mode, matches: false, why: mode === 'off' ? 'it is off' : 'it reads what cannot be read' }
}

function explainRule(rule: Rule, request: Request, cost: number | undefined, context: ChargeContext): RuleExplanation {
  const { name, mode } = rule
  const why = mode === 'off' ? 'it is off' : mismatch(rule.match, request)
  if (why !== undefined) return { name, mode, matches: false, why }
  const exempt = exemptionOf(rule.exempt, request)
  if (exempt !== undefined) return { name, mode, matches: false, why: `it is exempt by ${exempt.text}` }
  const charge = chargeOf(rule, request, cost, context)
  if (charge === undefined) return { name, mode, matches: false, why: 'none of its tiers applies' }
  const { tier, call, values, named } = charge
  const { limit } = call
  return {
    name,
    mode,
    matches: true,
    key: rule.key.flat().map(({ text }, index) => ({ source: text, value: values[index] ?? null })),
    tier: tier.label,
    ...(limit === tier.limit ? {} : { overridden: true as const }),
    ...(rule.sample === undefined ? {} : { sample: rule.sample }),
    limit: { algorithm: limit.algorithm.name, capacity: limit.capacity, windowMs: named.windowMs ?? limit.windowMs },
    cost: fromMicroTokens(call.cost),
  }
}
