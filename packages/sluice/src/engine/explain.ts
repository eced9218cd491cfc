import { fromMicroTokens } from '../algorithms/decimal.ts'
import type { Request } from '../identity/request.ts'
import { mismatch } from '../policy/match.ts'
import type { Policy } from '../policy/policy.ts'
import type { Mode, Rule } from '../policy/rule.ts'
import { exemptionOf } from '../policy/exemption.ts'
import { chargeOf, type Terms } from './charges.ts'
import { lookingAt } from './unread-rules.ts'

/** What a policy does with a request, and why. It names keys in clear: it is for the operator, not for clients. */
export interface Explanation {
  readonly method: string
  /** `(ambiguous)` where an upstream may read it as one path or another. */
  readonly path: string
  /** Where an upstream may read the path in several ways: each of them. */
  readonly readings?: readonly string[]
  /** Set where path or query cannot be read: what is wrong. Rules that look at it are not charged. */
  readonly unreadable?: string
  /** Name of the rule that refuses the request for that; absent where no rule that enforces looks at it. */
  readonly refusedBy?: string
  readonly host?: string
  /** The client's address, as forwarding headers of trusted proxies tell it. */
  readonly address?: string
  /** Set where no rule is asked at all: what the request is exempt by. */
  readonly exempt?: string
  readonly rules: readonly RuleExplanation[]
}

export interface RuleExplanation {
  readonly name: string
  readonly mode: Mode
  readonly matches: boolean
  /** Why it does not. */
  readonly why?: string
  /** Source and value of each part of the key; null where the request has none, which all such requests share. */
  readonly key?: readonly { readonly source: string; readonly value: string | null }[]
  /** Conditions of the tier that is used; empty for the one without. */
  readonly tier?: string
  /** Another limit stands for this key, instead of the tier's. */
  readonly overridden?: true
  /** One request in so many is charged, so many times its cost. */
  readonly sample?: number
  readonly limit?: { readonly algorithm: string; readonly capacity: number; readonly windowMs: number }
  readonly cost?: number
}

/** @param cost micro-tokens: what the caller says the request costs, instead of what the rules say */
export function explainRules(policy: Policy, request: Request, cost: number | undefined, terms: Terms): Explanation {
  const { method, path, readings, unreadable, host, address } = request
  const exempt = exemptionOf(policy.exempt, request)
  const looks = unreadable === undefined ? undefined : lookingAt(request, cost !== undefined)
  const refusing = exempt === undefined ? policy.rules.find((rule) => rule.mode === 'enforce' && looks?.(rule) === true) : undefined
  return {
    method,
    path,
    ...(readings === undefined ? {} : { readings: readings.map((reading) => reading.path) }),
    ...(unreadable === undefined ? {} : { unreadable: unreadable.detail }),
    ...(refusing === undefined ? {} : { refusedBy: refusing.name }),
    ...(host === undefined ? {} : { host }),
    ...(address === undefined ? {} : { address }),
    ...(exempt === undefined ? {} : { exempt: exempt.text }),
    rules: policy.rules.map((rule) => (looks?.(rule) === true ? unread(rule) : explainRule(rule, request, cost, terms))),
  }
}

function unread({ name, mode }: Rule): RuleExplanation {
  return { name, mode, matches: false, why: mode === 'off' ? 'it is off' : 'it looks at what cannot be read' }
}

function explainRule(rule: Rule, request: Request, cost: number | undefined, terms: Terms): RuleExplanation {
  const { name, mode } = rule
  const why = mode === 'off' ? 'it is off' : mismatch(rule.match, request)
  if (why !== undefined) return { name, mode, matches: false, why }
  const exempt = exemptionOf(rule.exempt, request)
  if (exempt !== undefined) return { name, mode, matches: false, why: `it is exempt by ${exempt.text}` }
  const charge = chargeOf(rule, request, cost, terms)
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
