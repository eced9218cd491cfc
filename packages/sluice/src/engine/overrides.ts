import type { AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { composeKey } from '../keys/encode.ts'
import type { Override } from '../policy/override.ts'
import type { Rule } from '../policy/rule.ts'
import type { Micros } from '../time/micros.ts'

type Values = readonly (string | undefined)[]

/** Overrides by rule and key. */
export type OverrideIndex = ReadonlyMap<string, ReadonlyMap<string, Override>>

export function indexOverrides(overrides: readonly Override[]): OverrideIndex {
  const index = new Map<string, Map<string, Override>>()
  for (const override of overrides) {
    const ofRule = index.get(override.rule) ?? new Map<string, Override>()
    index.set(override.rule, ofRule.set(composeKey(override.values), override))
  }
  return index
}

/** The limit that stands instead of the rule's own for this key at this instant. */
export function overrideOf(index: OverrideIndex, rule: Rule, values: Values, now: Micros): AnyLimit | undefined {
  const found = index.get(rule.name)?.get(composeKey(values))
  return found === undefined || (found.until !== undefined && now >= found.until) ? undefined : found.limit
}

/** Overrides that were set while the engine runs; they outlive a reload of the policy. */
export interface LiveOverrides {
  readonly index: OverrideIndex
  /** Those that still hold. */
  list(now: Micros): readonly Override[]
  /** @throws LimiterError INVALID_OPTIONS where there are too many already */
  set(override: Override, now: Micros): void
  /** Whether there was one. */
  remove(rule: string, values: Values): boolean
}

const MOST = 10_000

export function liveOverrides(): LiveOverrides {
  const index = new Map<string, Map<string, Override>>()
  const list = (now: Micros): Override[] =>
    [...index.values()].flatMap((ofRule) => [...ofRule.values()].filter(({ until }) => until === undefined || now < until))
  const remove = (rule: string, values: Values): boolean => {
    const ofRule = index.get(rule)
    const removed = ofRule?.delete(composeKey(values)) === true
    if (ofRule?.size === 0) index.delete(rule)
    return removed
  }
  return {
    index,
    list,
    set(override, now) {
      remove(override.rule, override.values)
      let count = 0
      for (const ofRule of index.values()) {
        for (const { rule, values, until } of ofRule.values()) if (until !== undefined && now >= until) remove(rule, values)
        count += ofRule.size
      }
      if (count >= MOST)
        throw new LimiterError('INVALID_OPTIONS', `override: there are ${MOST} already: remove some, or write them into the policy`)
      const ofRule = index.get(override.rule) ?? new Map<string, Override>()
      index.set(override.rule, ofRule.set(composeKey(override.values), override))
    },
    remove,
  }
}
