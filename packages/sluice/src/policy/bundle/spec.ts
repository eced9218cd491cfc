import { type Known, uniqueNames, type Value } from '../document/value.ts'
import { type FirstHolding, indexFirst } from '../model/first-holding.ts'
import type { Condition, Match, Mode, Rule } from '../model/rule.ts'
import { eachSliced, flatMapSliced, type Sliced } from '../model/sliced.ts'
import { type BundleRule, readBundleRule, scopedName } from './rule.ts'
import { readSelector } from './selector.ts'
import { refuseSection } from './tolerated.ts'

export const SPEC: Known = {
  names: ['selector', 'mode', 'rules', 'fallback_limit', 'loop_detection', 'circuit_breaker'],
  lenient: true,
}

const RULES_FORM = 'a list of rules'

/** @param id undefined for rules without a bundle */
export function* readSpec(fields: Value, id: string | undefined): Sliced<Rule[]> {
  refuseSection(fields, 'loop_detection', 'block')
  refuseSection(fields, 'circuit_breaker', 'block')
  const mode = fields.get('mode')?.choice(['enforce', 'shadow']) ?? 'enforce'
  const selector = id === undefined ? fields.get('selector') : fields.require('selector', 'a map with pathExact or pathPrefix')
  const match = selector === undefined ? { when: [] } : yield* readSelector(selector)
  const rules = yield* eachSliced(fields.require('rules', RULES_FORM)?.items(RULES_FORM), readBundleRule)
  const fallback = yield* readFallback(fields.get('fallback_limit'), rules)
  const unique = uniqueNames()
  for (const { at, name } of fallback === undefined ? rules : [...rules, fallback]) unique(at, name)
  const scope = { id, mode, match }
  const elses = yield* elsesOf(rules)
  const compiled = yield* flatMapSliced(rules, (rule) => {
    const otherwise = elses.get(rule)
    return compile(rule, [...(rule.match ?? []), ...(otherwise === undefined ? [] : [otherwise])], scope)
  })
  const none = fallback === undefined || rules.length === 0 ? [] : [conditionOf(rules, rules.length, yield* indexRules(rules))]
  if (fallback !== undefined) compiled.push(compile(fallback, none, scope))
  return compiled
}

export function compileAlone(rule: BundleRule): Rule {
  return compile(rule, rule.match ?? [], { id: undefined, mode: 'enforce', match: { when: [] } })
}

interface Scope {
  readonly id: string | undefined
  readonly mode: Mode
  readonly match: Match
}

function compile(rule: BundleRule, when: readonly Condition[], { id, mode, match }: Scope): Rule {
  const { name, keys, limit, cost } = rule
  return {
    name: scopedName(id, name),
    mode,
    match: { ...match, when: [...match.when, ...when] },
    key: keys.map((source) => [source]),
    tiers: [{ label: '', when: [], limit }],
    cost,
    onStoreFailure: 'allow',
  }
}

function* readFallback(value: Value | undefined, rules: readonly BundleRule[]): Sliced<BundleRule | undefined> {
  if (value === undefined) return undefined
  const fallback = yield* readBundleRule(value, { name: 'fallback_limit' })
  if (fallback?.match !== undefined) value.at(`${value.path}.match`).overlook(' is ignored: a fallback is for what no rule matches')
  if (fallback !== undefined && rules.some(({ match = [] }) => match.length === 0))
    value.warn(' is never used: a rule without match leaves nothing over')
  return fallback
}

/**
 * A rule without `match` is an "else": it applies if none of its siblings before it applies. Siblings are rules with conditions, the same
 * keys and the same algorithm. A rule with an empty `match` applies to every request.
 */
function* elsesOf(rules: readonly BundleRule[]): Sliced<ReadonlyMap<BundleRule, Condition>> {
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

function indexRules(rules: readonly BundleRule[]): Sliced<FirstHolding> {
  return indexFirst(rules.map(({ match = [] }) => match))
}

/** Holds if none of the first `count` rules matches. */
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
    at.warn(
      `: ${name} has no match and follows ${namesOf(siblings, 0, before)} with the same limit_keys, so it is read as their else; with "match": {} it would apply to every request`,
    )
  if (before < siblings.length)
    at.warn(
      `: ${name} has no match and applies to requests of ${namesOf(siblings, before, siblings.length)} as well; behind them it would be their else`,
    )
}

const MAX_NAMES = 5

function namesOf(rules: readonly BundleRule[], from: number, to: number): string {
  const names = rules.slice(from, Math.min(to, from + MAX_NAMES)).map(({ name }) => name)
  return [...names, ...(to - from > MAX_NAMES ? [`${to - from - MAX_NAMES} more`] : [])].join(' or ')
}
