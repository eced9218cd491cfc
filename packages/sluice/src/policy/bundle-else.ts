import type { Request } from '../identity/request.ts'
import type { BundleRule } from './bundle-rule.ts'
import type { Issues } from './issues.ts'
import { allHold, type Condition, type Truth } from './rule.ts'

/**
 * The rules that a rule is the else of: those before it with conditions, the same keys and the same algorithm, where it has no
 * `match` itself. An empty `match` says that a rule is for every request.
 */
export function siblingsOf(rule: BundleRule, all: readonly BundleRule[], issues: Issues): readonly BundleRule[] {
  if (rule.match !== undefined) return []
  const index = all.indexOf(rule)
  const alike = (other: BundleRule): boolean => other.match !== undefined && other.match.length > 0 && other.counting === rule.counting
  const before = all.slice(0, index).filter(alike)
  const after = all.slice(index + 1).filter(alike)
  if (before.length > 0)
    issues.warn(
      rule.at,
      `${rule.path}: ${rule.name} has no match and follows ${namesOf(before)} with the same limit_keys, so it is read as their else; with "match": {} it would apply to every request`,
    )
  if (after.length > 0)
    issues.warn(
      rule.at,
      `${rule.path}: ${rule.name} has no match and applies to requests of ${namesOf(after)} as well; behind them it would be their else`,
    )
  return before
}

/** Holds where the conditions of none of these rules do. */
export function noneOf(rules: readonly BundleRule[]): Condition {
  const groups = rules.map(({ match = [] }) => match)
  const test = (request: Request): Truth => {
    let none: Truth = true
    for (const conditions of groups) {
      const truth = allHold(conditions, request)
      if (truth === true) return false
      if (truth === undefined) none = undefined
    }
    return none
  }
  return { source: { text: `match of ${namesOf(rules)}`, read: (request) => String(test(request) === false) }, value: 'false', test }
}

const MOST_NAMES = 5

function namesOf(rules: readonly BundleRule[]): string {
  const names = rules.slice(0, MOST_NAMES).map(({ name }) => name)
  return [...names, ...(rules.length > MOST_NAMES ? [`${rules.length - MOST_NAMES} more`] : [])].join(' or ')
}
