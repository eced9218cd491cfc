import { canonicalValue } from '../identity/canonical.ts'
import type { Override } from '../policy/override.ts'
import type { Rule } from '../policy/rule.ts'
import type { Micros } from '../time/micros.ts'
import { pseudonyms } from './charges.ts'
import { keyedRules, type KeyTarget } from './keys.ts'
import type { Loaded } from './loaded.ts'
import type { LiveOverrides } from './overrides.ts'

/** An override that names a key, for the operator. */
export interface KeyOverride extends Pick<Override, 'rule' | 'limit' | 'until'> {
  /** All values of the rule's key, null for absent ones; where the policy asks for pseudonyms, these. */
  readonly key: readonly (string | null)[]
  /** Written in the policy, or set while the engine runs, which goes first. */
  readonly origin: 'policy' | 'set'
}

export interface KeyOverrides {
  /**
   * The overrides that hold now and have the key among their values, those that were set before those of the policy.
   * @throws LimiterError INVALID_KEY, or INVALID_OPTIONS for a rule that is not there or has no key
   */
  overridesOfKey(target: KeyTarget): readonly KeyOverride[]
  /**
   * Takes back the overrides of a key that were set while the engine runs, and says which.
   * @throws LimiterError as `overridesOfKey`
   */
  withdrawKey(target: KeyTarget): readonly Override[]
}

export function keyOverrides(loaded: () => Loaded, live: LiveOverrides, now: () => Micros): KeyOverrides {
  return {
    overridesOfKey(target) {
      const { policy, pseudonym } = loaded()
      const at = now()
      const names = namesKey(policy.rules, target)
      const shown = (origin: KeyOverride['origin'], { rule, values, limit, until }: Override): KeyOverride => {
        const known = policy.rules.find(({ name }) => name === rule)
        const told = pseudonym === undefined ? values : pseudonyms(known?.key.flat() ?? [], values, pseudonym)
        return { rule, key: told.map((value) => value ?? null), limit, ...(until === undefined ? {} : { until }), origin }
      }
      const written = (policy.overrides ?? []).filter(({ until }) => until === undefined || at < until)
      return [
        ...live
          .list(at)
          .filter(names)
          .map((one) => shown('set', one)),
        ...written.filter(names).map((one) => shown('policy', one)),
      ]
    },
    withdrawKey(target) {
      const found = live.list(now()).filter(namesKey(loaded().policy.rules, target))
      for (const { rule, values } of found) live.remove(rule, values)
      return found
    },
  }
}

/** Whether an override is about a key, however the key is spelt. One whose rule is gone is known by its very values. */
function namesKey(rules: readonly Rule[], target: KeyTarget): (override: Override) => boolean {
  keyedRules(rules, target)
  const { key, limit } = target
  return ({ rule, values }) => {
    if (limit !== undefined && rule !== limit) return false
    const sources = rules.find(({ name }) => name === rule)?.key.flat()
    return values.some((value, index) => {
      const source = sources?.[index]
      return value !== undefined && value === (source === undefined ? key : (canonicalValue(source, key) ?? key))
    })
  }
}
