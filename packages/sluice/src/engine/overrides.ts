import type { AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import type { Override } from '../policy/model/override.ts'
import type { Rule } from '../policy/model/rule.ts'
import type { Sliced } from '../policy/model/sliced.ts'
import type { Micros } from '../time/micros.ts'
import { type OverrideIndex, overrideTable } from './override-index.ts'

type Values = Override['values']

export function* indexOverrides(overrides: readonly Override[]): Sliced<OverrideIndex> {
  const table = overrideTable()
  for (const override of overrides) {
    yield
    table.add(override)
  }
  return table
}

/** Whether an override is in force at this instant. */
export function isInForce({ until }: Override, now: Micros): boolean {
  return until === undefined || now < until
}

/** The limit that overrides the rule's own for this key at this instant. */
export function overrideOf(index: OverrideIndex, rule: Rule, values: Values, now: Micros): AnyLimit | undefined {
  const found = index.size === 0 ? undefined : index.of(rule.name, values)
  return found === undefined || !isInForce(found, now) ? undefined : found.limit
}

/** Overrides that were set at run time. They outlive a reload of the policy. */
export interface LiveOverrides {
  readonly index: OverrideIndex
  /** The overrides in force. */
  list(now: Micros): readonly Override[]
  /** @throws LimiterError INVALID_OPTIONS if there are too many already */
  set(override: Override, now: Micros): void
  /** Returns whether there was one. */
  remove(rule: string, values: Values): boolean
}

const MAX_OVERRIDES = 10_000

export function liveOverrides(): LiveOverrides {
  const table = overrideTable()
  const forgetEnded = (now: Micros): void => {
    for (const { rule, values } of [...table.all()].filter((override) => !isInForce(override, now))) table.remove(rule, values)
  }
  return {
    index: table,
    list: (now) => [...table.all()].filter((override) => isInForce(override, now)),
    set(override, now) {
      const replaces = table.of(override.rule, override.values) !== undefined
      if (!replaces && table.size >= MAX_OVERRIDES) forgetEnded(now)
      if (!replaces && table.size >= MAX_OVERRIDES)
        throw new LimiterError(
          'INVALID_OPTIONS',
          `override: there are ${MAX_OVERRIDES} already: remove some, or write them into the policy`,
        )
      table.add(override)
    },
    remove: (rule, values) => table.remove(rule, values) !== undefined,
  }
}
