import type { MicroTokens } from '../algorithms/algorithm.ts'
import type { Request } from '../identity/request.ts'
import { exemptionOf } from '../policy/model/exemption.ts'
import type { Rule } from '../policy/model/rule.ts'
import type { Micros } from '../time/micros.ts'
import type { Random } from '../time/time.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { type Loaded, NOBODY } from './loaded.ts'
import { overrideOf, type OverrideTable } from './overrides.ts'
import { type ChargeContext, chargeOf, chargeOfKey, type RuleCharge, timesSample } from './rule-charge.ts'
import { unreadRules } from './unread-rules.ts'

export interface RequestCharges {
  readonly charges: readonly RuleCharge[]
  /** Whether the decision depends on chance: a rule counts only one request in several. */
  readonly probabilistic: boolean
  /** Set if no rule was applied: why. */
  readonly exempt?: string
  /** A rule that reads an unreadable part of the request. If it enforces, it refuses the request. */
  readonly unread?: { readonly rule: Rule; readonly detail: string }
}

/** What a decision needs in addition to the policy. */
export interface EngineContext {
  readonly live: OverrideTable
  readonly now: () => Micros
  readonly random: Random
}

export function chargesOf(at: Loaded, request: Request, cost: MicroTokens | undefined, engine: EngineContext): RequestCharges {
  const exemption = exemptionOf(at.policy.exempt, request)
  if (exemption !== undefined) return { charges: [], probabilistic: false, exempt: exemption.text }
  const context = contextOf(at, engine)
  const chargeFor = (rule: Rule): RuleCharge | undefined =>
    exemptionOf(rule.exempt, request) === undefined ? chargeOf(rule, request, cost, context) : undefined
  const { unreadable } = request
  if (unreadable === undefined) return sampled(at.find(request), engine.random, chargeFor)
  const { reader, others } = unreadRules(at.find(request), request, cost !== undefined)
  const charges = sampled(others, engine.random, chargeFor)
  return reader === undefined ? charges : { ...charges, unread: { rule: reader, detail: unreadable.detail } }
}

/** What the rules charge a bare key. @throws LimiterError UNKNOWN_RULE for a name that no rule has */
export function chargesOfKey(
  at: Loaded,
  key: string,
  limit: string | undefined,
  cost: MicroTokens | undefined,
  engine: EngineContext,
): RequestCharges {
  const context = contextOf(at, engine)
  return sampled(rulesOfKey(at, limit), engine.random, (rule) => chargeOfKey(rule, key, NOBODY, cost, context))
}

function rulesOfKey({ policy, rulesByName, unconditional }: Loaded, name: string | undefined): readonly Rule[] {
  if (name === undefined) return unconditional
  const rule = rulesByName.get(name)
  if (rule !== undefined) return rule.mode === 'off' ? [] : [rule]
  throw new LimiterError('UNKNOWN_RULE', `limit is ${shown(name)}, expected one of ${policy.rules.map((one) => one.name).join(', ')}`)
}

/** The overrides and the pseudonym that apply now. They ignore sampling; `explain` shows every rule as if it were counted. */
export function contextOf({ overrides, pseudonym }: Loaded, { live, now }: Pick<EngineContext, 'live' | 'now'>): ChargeContext {
  if (overrides.size === 0 && live.size === 0) return { pseudonym, override: () => undefined }
  const at = now()
  return { pseudonym, override: (rule, values) => overrideOf(live, rule, values, at) ?? overrideOf(overrides, rule, values, at) }
}

function sampled(rules: readonly Rule[], random: Random, chargeFor: (rule: Rule) => RuleCharge | undefined): RequestCharges {
  const charges: RuleCharge[] = []
  let probabilistic = false
  for (const rule of rules) {
    const charge = chargeFor(rule)
    if (charge === undefined) continue
    const { sample } = rule
    if (sample === undefined) charges.push(charge)
    else {
      probabilistic = true
      if (random() * sample < 1) charges.push(timesSample(charge, sample))
    }
  }
  return { charges, probabilistic }
}
