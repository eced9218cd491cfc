import type { AnyLimit } from '../algorithms/algorithm.ts'
import { composeKey } from '../keys/encode.ts'
import type { Override, Rule } from '../policy/model/rule.ts'
import type { Sliced } from '../policy/model/sliced.ts'
import type { Micros } from '../time/micros.ts'

type Values = Override['values']

/** Overrides by rule and key, and by each value of the key. */
export class OverrideTable {
  readonly #byKey = new Map<string, Override>()
  readonly #byValue = new Map<string, Set<Override>>()

  get size(): number {
    return this.#byKey.size
  }

  of(rule: string, values: Values): Override | undefined {
    return this.#byKey.get(nameOf(rule, values))
  }

  /** Overrides with exactly this value anywhere in their key, in the order in which they were added. */
  withValue(value: string): Iterable<Override> {
    return this.#byValue.get(value) ?? []
  }

  all(): Iterable<Override> {
    return this.#byKey.values()
  }

  /** Replaces the override of the same rule and key. */
  add(override: Override): void {
    this.remove(override.rule, override.values)
    this.#byKey.set(nameOf(override.rule, override.values), override)
    for (const value of override.values) {
      if (value !== undefined) this.#byValue.set(value, (this.#byValue.get(value) ?? new Set<Override>()).add(override))
    }
  }

  remove(rule: string, values: Values): Override | undefined {
    const found = this.of(rule, values)
    if (found === undefined) return undefined
    this.#byKey.delete(nameOf(rule, values))
    for (const value of found.values) {
      const having = value === undefined ? undefined : this.#byValue.get(value)
      having?.delete(found)
      if (having?.size === 0) this.#byValue.delete(value as string)
    }
    return found
  }
}

/** Names of rules have no blanks. */
function nameOf(rule: string, values: Values): string {
  return `${rule} ${composeKey(values)}`
}

export function* indexOverrides(overrides: readonly Override[]): Sliced<OverrideTable> {
  const table = new OverrideTable()
  for (const override of overrides) {
    yield
    table.add(override)
  }
  return table
}

export function isInForce({ until }: Override, now: Micros): boolean {
  return until === undefined || now < until
}

export function overrideOf(table: OverrideTable, rule: Rule, values: Values, now: Micros): AnyLimit | undefined {
  const found = table.size === 0 ? undefined : table.of(rule.name, values)
  return found === undefined || !isInForce(found, now) ? undefined : found.limit
}
