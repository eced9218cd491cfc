import { composeKey } from '../keys/encode.ts'
import type { Override } from '../policy/model/override.ts'

type Values = Override['values']

/** Finds overrides by rule and key, or by any one value of the key, without scanning the others. */
export interface OverrideIndex {
  readonly size: number
  of(rule: string, values: Values): Override | undefined
  /** Overrides with exactly this value anywhere in their key, in the order in which they were added. */
  withValue(value: string): Iterable<Override>
}

export interface OverrideTable extends OverrideIndex {
  /** Replaces the override of the same rule and key. */
  add(override: Override): void
  remove(rule: string, values: Values): Override | undefined
  all(): Iterable<Override>
}

export function overrideTable(): OverrideTable {
  const byRule = new Map<string, Map<string, Override>>()
  const byValue = new Map<string, Set<Override>>()
  let size = 0
  const remove = (rule: string, values: Values): Override | undefined => {
    const ofRule = byRule.get(rule)
    const name = composeKey(values)
    const found = ofRule?.get(name)
    if (ofRule === undefined || found === undefined) return undefined
    size -= 1
    ofRule.delete(name)
    if (ofRule.size === 0) byRule.delete(rule)
    for (const value of valuesOf(found)) {
      const having = byValue.get(value)
      having?.delete(found)
      if (having?.size === 0) byValue.delete(value)
    }
    return found
  }
  return {
    get size() {
      return size
    },
    of: (rule, values) => byRule.get(rule)?.get(composeKey(values)),
    withValue: (value) => byValue.get(value) ?? [],
    add(override) {
      remove(override.rule, override.values)
      size += 1
      const ofRule = byRule.get(override.rule) ?? new Map<string, Override>()
      byRule.set(override.rule, ofRule.set(composeKey(override.values), override))
      for (const value of valuesOf(override)) byValue.set(value, (byValue.get(value) ?? new Set<Override>()).add(override))
    },
    remove,
    *all() {
      for (const ofRule of byRule.values()) yield* ofRule.values()
    },
  }
}

function valuesOf({ values }: Override): readonly string[] {
  return values.filter((value) => value !== undefined)
}
