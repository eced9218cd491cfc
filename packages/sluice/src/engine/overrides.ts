import type { AnyLimit } from '../algorithms/algorithm.ts'
import { composeKey } from '../keys/encode.ts'
import type { KeyValues, Override, Rule } from '../policy/model/rule.ts'
import type { Micros } from '../time/micros.ts'

export class OverrideTable {
  readonly #byKey = new Map<string, Override>()
  readonly #byValue = new Map<string, Set<Override>>()

  get size(): number {
    return this.#byKey.size
  }

  of(rule: string, values: KeyValues): Override | undefined {
    return this.#byKey.get(nameOf(rule, values))
  }

  /** Exactly this value in the key; in order of addition. */
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

  remove(rule: string, values: KeyValues): Override | undefined {
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

/** Names of rules contain no blank. */
function nameOf(rule: string, values: KeyValues): string {
  return `${rule} ${composeKey(values)}`
}

export function isInForce({ until }: Override, now: Micros): boolean {
  return until === undefined || now < until
}

export function overrideOf(table: OverrideTable, rule: Rule, values: KeyValues, now: Micros): AnyLimit | undefined {
  const found = table.size === 0 ? undefined : table.of(rule.name, values)
  return found === undefined || !isInForce(found, now) ? undefined : found.limit
}
