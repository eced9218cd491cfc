import type { BundleRule } from './rule.ts'
import { warn } from '../document/value.ts'
import { type FirstHolding, indexFirst } from '../model/first-holding.ts'
import type { Condition } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'

/**
 * The conditions of the rules that act as the else of others. A rule without `match` is the else of the earlier rules that have
 * conditions, the same keys and the same algorithm. A rule with an empty `match` applies to every request instead. All elses share one
 * index of the earlier rules, so a request is compared with these once and not once for each else.
 */
export function* elsesOf(rules: readonly BundleRule[]): Sliced<ReadonlyMap<BundleRule, Condition>> {
  const alike = new Map<string, BundleRule[]>()
  const unmatched: { readonly rule: BundleRule; readonly siblings: readonly BundleRule[]; readonly before: number }[] = []
  for (const rule of rules) {
    yield
    const siblings = alike.get(rule.counting) ?? []
    alike.set(rule.counting, siblings)
    if (rule.match === undefined) unmatched.push({ rule, siblings, before: siblings.length })
    else if (rule.match.length > 0) siblings.push(rule)
  }
  const elses = new Map<BundleRule, Condition>()
  const indexes = new Map<readonly BundleRule[], FirstHolding>()
  for (const { rule, siblings, before } of unmatched) {
    yield
    warnOfSiblings(rule, siblings, before)
    if (before === 0) continue
    const index = indexes.get(siblings) ?? (yield* indexRules(siblings))
    indexes.set(siblings, index)
    elses.set(rule, conditionOf(siblings, before, index))
  }
  return elses
}

/** Holds if the conditions of none of these rules hold. */
export function* noneOf(rules: readonly BundleRule[]): Sliced<Condition> {
  return conditionOf(rules, rules.length, yield* indexRules(rules))
}

function indexRules(rules: readonly BundleRule[]): Sliced<FirstHolding> {
  return indexFirst(rules.map(({ match = [] }) => match))
}

/** Holds if the conditions of none of the first `count` rules hold. */
function conditionOf(rules: readonly BundleRule[], count: number, index: FirstHolding): Condition {
  const test: Condition['test'] = (request) => {
    const truth = index(request, count)
    return truth === undefined ? undefined : !truth
  }
  return {
    source: { text: `match of ${namesOf(rules, 0, count)}`, read: (request) => String(test(request) === false) },
    value: 'false',
    test,
  }
}

function warnOfSiblings({ at, name }: BundleRule, siblings: readonly BundleRule[], before: number): void {
  if (before > 0)
    warn(
      at,
      `: ${name} has no match and follows ${namesOf(siblings, 0, before)} with the same limit_keys, so it is read as their else; with "match": {} it would apply to every request`,
    )
  if (before < siblings.length)
    warn(
      at,
      `: ${name} has no match and applies to requests of ${namesOf(siblings, before, siblings.length)} as well; behind them it would be their else`,
    )
}

const MAX_NAMES = 5

function namesOf(rules: readonly BundleRule[], from: number, to: number): string {
  const names = rules.slice(from, Math.min(to, from + MAX_NAMES)).map(({ name }) => name)
  return [...names, ...(to - from > MAX_NAMES ? [`${to - from - MAX_NAMES} more`] : [])].join(' or ')
}
