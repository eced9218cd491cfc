import { canonicalValue } from '../identity/canonical.ts'
import type { Source } from '../identity/source.ts'
import type { Override } from '../policy/model/override.ts'
import type { Rule } from '../policy/model/rule.ts'
import type { Micros } from '../time/micros.ts'
import { keyedRules, type KeyTarget } from './keys.ts'
import type { Loaded } from './loaded.ts'
import type { OverrideIndex } from './override-index.ts'
import { isInForce, type LiveOverrides } from './overrides.ts'
import { pseudonyms } from './rule-charge.ts'

/** An override of a key, for the operator. */
export interface KeyOverride extends Pick<Override, 'rule' | 'limit' | 'until'> {
  /** All values of the rule's key, null for absent ones. Pseudonyms if the policy asks for them. */
  readonly key: readonly (string | null)[]
  /** From the policy, or set at run time. The latter takes precedence. */
  readonly origin: 'policy' | 'set'
}

export interface KeyOverrides {
  /**
   * The overrides in force that have the key among their values. Those set at run time come before those of the policy.
   * @throws LimiterError INVALID_KEY, UNKNOWN_RULE if there is no such rule, or INVALID_OPTIONS for a rule without a key
   */
  overridesOfKey(target: KeyTarget): readonly KeyOverride[]
  /** Removes the overrides of a key that were set at run time, and returns them. */
  withdrawKey(target: KeyTarget): readonly Override[]
}

export function keyOverrides(loaded: () => Loaded, live: LiveOverrides, now: () => Micros): KeyOverrides {
  return {
    overridesOfKey(target) {
      const { policy, rulesByName, pseudonym, overrides } = loaded()
      const at = now()
      const find = finder(policy.rules, rulesByName, target, at)
      const shown = (origin: KeyOverride['origin'], { rule, values, limit, until }: Override): KeyOverride => {
        const key = pseudonym === undefined ? values : pseudonyms(rulesByName.get(rule)?.key.flat() ?? [], values, pseudonym)
        return { rule, key: key.map((value) => value ?? null), limit, ...(until === undefined ? {} : { until }), origin }
      }
      return [...find(live.index).map((one) => shown('set', one)), ...find(overrides).map((one) => shown('policy', one))]
    },
    withdrawKey(target) {
      const { policy, rulesByName } = loaded()
      const found = finder(policy.rules, rulesByName, target, now())(live.index)
      for (const { rule, values } of found) live.remove(rule, values)
      return found
    },
  }
}

/**
 * Finds the overrides in force for a key, whatever its spelling. If the rule of an override is gone, one of its values must equal the key
 * exactly. The finder looks the key up in each spelling that a source of the rules gives it. It does not scan: an index has thousands of
 * overrides, most of them for other keys.
 */
function finder(
  rules: readonly Rule[],
  rulesByName: ReadonlyMap<string, Rule>,
  target: KeyTarget,
  at: Micros,
): (index: OverrideIndex) => Override[] {
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
  return (index) => {
    const candidates = new Set([key, ...spellings.values()].flatMap((value) => [...index.withValue(value)]))
    return [...candidates].filter(isAbout)
  }
}
