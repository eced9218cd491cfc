import { fromMicroTokens } from '../algorithms/decimal.ts'
import type { Request } from '../identity/request.ts'
import { mismatch } from '../policy/match.ts'
import type { Policy } from '../policy/policy.ts'
import type { Mode, Rule } from '../policy/rule.ts'
import { chargeOf } from './charges.ts'

/** What a policy does with a request, and why. It names keys in clear: it is for the operator, not for clients. */
export interface Explanation {
  readonly method: string
  readonly path: string
  readonly host?: string
  /** The client's address, as forwarding headers of trusted proxies tell it. */
  readonly address?: string
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
  readonly limit?: { readonly algorithm: string; readonly capacity: number; readonly windowMs: number }
  readonly cost?: number
}

/** @param cost micro-tokens: what the caller says the request costs, instead of what the rules say */
export function explainRules(policy: Policy, request: Request, cost: number | undefined): Explanation {
  const { method, path, host, address } = request
  return {
    method,
    path,
    ...(host === undefined ? {} : { host }),
    ...(address === undefined ? {} : { address }),
    rules: policy.rules.map((rule) => explainRule(rule, request, cost)),
  }
}

function explainRule(rule: Rule, request: Request, cost: number | undefined): RuleExplanation {
  const { name, mode } = rule
  const why = mode === 'off' ? 'it is off' : mismatch(rule.match, request)
  if (why !== undefined) return { name, mode, matches: false, why }
  const charge = chargeOf(rule, request, cost)
  if (charge === undefined) return { name, mode, matches: false, why: 'none of its tiers applies' }
  const { tier, call, values } = charge
  return {
    name,
    mode,
    matches: true,
    key: rule.key.flat().map(({ text }, index) => ({ source: text, value: values[index] ?? null })),
    tier: tier.label,
    limit: { algorithm: tier.limit.algorithm.name, capacity: tier.limit.capacity, windowMs: tier.windowMs ?? tier.limit.windowMs },
    cost: fromMicroTokens(call.cost),
  }
}
