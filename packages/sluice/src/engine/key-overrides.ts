import { canonicalValue, type Source } from '../identity/source.ts'
import { defined } from '../policy/model/defined.ts'
import type { Override } from '../policy/model/rule.ts'
import type { Micros } from '../time/micros.ts'
import { keyedRules, type KeyTarget } from './keys.ts'
import type { Loaded } from './loaded.ts'
import { isInForce, type OverrideTable } from './overrides.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { LIST, OBJECT, refuseUnknown, requireForm, shown, TEXT } from '../errors/options.ts'
import { type OverrideFields, overrideFrom } from '../policy/override-value.ts'
import { pseudonyms } from './rule-charge.ts'

/** An override of a key, for the operator. */
export interface KeyOverride extends Pick<Override, 'rule' | 'limit' | 'until'> {
  /** Values of the rule's key, null for absent ones; pseudonyms if the policy requires them. */
  readonly key: readonly (string | null)[]
  /** From the policy, or set at run time, which takes precedence. */
  readonly origin: 'policy' | 'set'
}

export interface KeyOverrides {
  /**
   * Overrides in force with this key among their values, those set at run time first.
   * @throws LimiterError INVALID_KEY, UNKNOWN_RULE, or INVALID_OPTIONS for a rule without a key
   */
  overridesOfKey(target: KeyTarget): readonly KeyOverride[]
  /** Removes the overrides of a key that were set at run time. */
  withdrawKey(target: KeyTarget): readonly Override[]
}

interface SetOverrides {
  override(fields: OverrideFields): Override
  overrides(): readonly Override[]
  withdraw(override: Pick<Override, 'rule' | 'values'>): boolean
}

const OVERRIDE: readonly string[] = ['rule', 'values', 'limit', 'until']
const MAX_OVERRIDES = 10_000

export function overrideVerbs(loaded: () => Loaded, live: OverrideTable, now: () => Micros): KeyOverrides & SetOverrides {
  const forgetEnded = (at: Micros): void => {
    for (const one of live.all()) if (!isInForce(one, at)) live.remove(one.rule, one.values)
  }
  return {
    override(fields) {
      const override = overrideFrom(fields, loaded().policy.rules)
      const at = now()
      if (!isInForce(override, at))
        throw new LimiterError('INVALID_OPTIONS', `override.until is ${shown(fields.until)}: expected an instant to come`)
      const replaces = live.of(override.rule, override.values) !== undefined
      if (!replaces && live.size >= MAX_OVERRIDES) forgetEnded(at)
      if (!replaces && live.size >= MAX_OVERRIDES) {
        const what = `there are ${MAX_OVERRIDES} already: remove some, or write them into the policy`
        throw new LimiterError('INVALID_OPTIONS', `override: ${what}`)
      }
      live.add(override)
      return override
    },
    overrides() {
      const at = now()
      return [...live.all()].filter((override) => isInForce(override, at))
    },
    withdraw(override) {
      requireForm('engine', 'override', override, OBJECT)
      refuseUnknown('withdraw', override, OVERRIDE)
      requireForm('withdraw', 'rule', override.rule, TEXT)
      requireForm('withdraw', 'values', override.values, LIST)
      return live.remove(override.rule, override.values) !== undefined
    },
    overridesOfKey(target) {
      const { rulesByName, pseudonym, overrides } = loaded()
      const find = finder(loaded(), target, now())
      const view = (origin: KeyOverride['origin'], { rule, values, limit, until }: Override): KeyOverride => {
        const sources = rulesByName.get(rule)?.key.flat() ?? []
        const key = pseudonym === undefined ? values : pseudonyms(sources, values, pseudonym)
        return { rule, key: key.map((value) => value ?? null), limit, ...defined({ until }), origin }
      }
      return [...find(live).map((one) => view('set', one)), ...find(overrides).map((one) => view('policy', one))]
    },
    withdrawKey(target) {
      const found = finder(loaded(), target, now())(live)
      for (const { rule, values } of found) live.remove(rule, values)
      return found
    },
  }
}

/**
 * Looks the key up in each form that sources give it, such as the network of an IPv6 address. An override whose rule no longer exists must
 * contain exactly this key. The table is not scanned: it may have thousands of overrides.
 */
function finder({ policy: { rules }, rulesByName }: Loaded, target: KeyTarget, at: Micros): (table: OverrideTable) => Override[] {
  keyedRules(rules, target)
  const { key, limit } = target
  const spellings = new Map<string, string>()
  const spelt = (source: Source): string => {
    const known = spellings.get(source.text)
    if (known !== undefined) return known
    const spelling = canonicalValue(source, key) ?? key
    spellings.set(source.text, spelling)
    return spelling
  }
  const selected = limit === undefined ? rules : [rulesByName.get(limit)].filter((rule) => rule !== undefined)
  for (const { key: parts } of selected) for (const sources of parts) for (const source of sources) spelt(source)
  const isAbout = (override: Override): boolean => {
    if ((limit !== undefined && override.rule !== limit) || !isInForce(override, at)) return false
    const sources = rulesByName.get(override.rule)?.key.flat()
    return override.values.some((value, index) => {
      const source = sources?.[index]
      return value !== undefined && value === (source === undefined ? key : spelt(source))
    })
  }
  return (table) => {
    const candidates = new Set([key, ...spellings.values()].flatMap((value) => [...table.withValue(value)]))
    return [...candidates].filter(isAbout)
  }
}
