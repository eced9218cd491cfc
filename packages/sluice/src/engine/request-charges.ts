import type { MicroTokens } from '../algorithms/algorithm.ts'
import type { Request } from '../identity/request.ts'
import { exemptionOf } from '../policy/model/exemption.ts'
import type { Rule } from '../policy/model/rule.ts'
import type { Micros } from '../time/micros.ts'
import type { Random } from '../time/time.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { KeyTarget } from './keys.ts'
import type { Loaded } from './loaded.ts'
import { overrideOf, type OverrideTable } from './overrides.ts'
import { type ChargeContext, chargeOf, chargeOfKey, type RuleCharge, timesSample } from './rule-charge.ts'
import { unreadRules } from './unread-rules.ts'

export interface RequestCharges {
  /** Also rules that charge nothing; empty if the path is unreadable. */
  readonly matched: readonly Rule[]
  readonly charges: readonly RuleCharge[]
  readonly probabilistic: boolean
  readonly exempt?: string
  readonly unread?: UnreadRule
}

/** A rule that reads an unreadable part of the request. If it enforces, it refuses the request. */
export interface UnreadRule {
  readonly rule: Rule
  readonly detail: string
}

export interface EngineContext {
  readonly live: OverrideTable
  readonly now: () => Micros
  readonly random: Random
}

type ChargeFor = (rule: Rule) => RuleCharge | undefined

export function chargesOf(at: Loaded, request: Request, engine: EngineContext, cost?: MicroTokens): RequestCharges {
  const exemption = exemptionOf(at.policy.exempt, request)
  if (exemption !== undefined) return { matched: [], charges: [], probabilistic: false, exempt: exemption.text }
  const context = contextOf(at, engine, cost)
  const chargeFor: ChargeFor = (rule) => (exemptionOf(rule.exempt, request) === undefined ? chargeOf(rule, request, context) : undefined)
  const { unreadable } = request
  if (unreadable === undefined) return sampled(at.find(request), engine.random, chargeFor)
  const { reader, others } = unreadRules(at.find(request), request, cost !== undefined)
  const charges = sampled(others, engine.random, chargeFor)
  const matched = unreadable.path ? [] : reader === undefined ? others : [...others, reader]
  return reader === undefined ? { ...charges, matched } : { ...charges, matched, unread: { rule: reader, detail: unreadable.detail } }
}

/** @throws LimiterError UNKNOWN_RULE for a name that no rule has */
export function chargesOfKey(at: Loaded, target: KeyTarget, engine: EngineContext, cost?: MicroTokens): RequestCharges {
  const { key, limit } = target
  const context = contextOf(at, engine, cost)
  return sampled(rulesOfKey(at, limit), engine.random, (rule) => chargeOfKey(rule, key, context))
}

function rulesOfKey({ policy, rulesByName, unconditional }: Loaded, name: string | undefined): readonly Rule[] {
  if (name === undefined) return unconditional
  const rule = rulesByName.get(name)
  if (rule !== undefined) return rule.mode === 'off' ? [] : [rule]
  throw new LimiterError('UNKNOWN_RULE', `limit is ${shown(name)}, expected one of ${policy.rules.map((one) => one.name).join(', ')}`)
}

/** Sampling is left out, because `explain` shows every rule as if the request were counted. */
export function contextOf(
  { overrides, pseudonym }: Loaded,
  { live, now }: Pick<EngineContext, 'live' | 'now'>,
  cost?: MicroTokens,
): ChargeContext {
  if (overrides.size === 0 && live.size === 0) return { pseudonym, override: () => undefined, cost }
  const at = now()
  const override: ChargeContext['override'] = (rule, values) =>
    overrideOf(live, rule, values, at) ?? overrideOf(overrides, rule, values, at)
  return { pseudonym, override, cost }
}

function sampled(rules: readonly Rule[], random: Random, chargeFor: ChargeFor): RequestCharges {
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
  return { matched: rules, charges, probabilistic }
}
