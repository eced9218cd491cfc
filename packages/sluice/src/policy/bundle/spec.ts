import { type Fields, openFields } from '../document/fields.ts'
import { itemsOf, refuse, type Value, warn, wrong } from '../document/value.ts'
import type { Condition, Match, Mode, Rule } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { elsesOf, noneOf } from './else.ts'
import { scopedName } from './name.ts'
import { type BundleRule, readBundleRule } from './rule.ts'
import { readSelector } from './selector.ts'
import { overlook, refuseSection } from './tolerated.ts'

export const SPEC: readonly string[] = ['selector', 'mode', 'rules', 'fallback_limit', 'loop_detection', 'circuit_breaker']

/**
 * Reads the rules of one policy in their order, and last its `fallback_limit`, which applies if the conditions of no rule hold.
 * @param id undefined for rules without a bundle
 */
export function* readSpec(fields: Fields, id: string | undefined, strict: boolean): Sliced<Rule[]> {
  refuseSection(fields, 'loop_detection', 'block')
  refuseSection(fields, 'circuit_breaker', 'block')
  const mode = fields.choice('mode', ['enforce', 'shadow']) ?? 'enforce'
  const selector = id === undefined ? fields.get('selector') : fields.require('selector', 'a map with pathExact or pathPrefix')
  const match = selector === undefined ? { when: [] } : yield* readSelector(selector, strict)
  const rules = yield* readRules(fields.require('rules', 'a list of rules'), strict)
  const fallback = yield* readFallback(fields.get('fallback_limit'), rules, strict)
  refuseTwins(fallback === undefined ? rules : [...rules, fallback])
  const elses = yield* elsesOf(rules)
  const compiled = yield* flatMapSliced(rules, (rule) => {
    const otherwise = elses.get(rule)
    return compile(rule, [...(rule.match ?? []), ...(otherwise === undefined ? [] : [otherwise])], id, mode, match)
  })
  if (fallback !== undefined) compiled.push(compile(fallback, rules.length === 0 ? [] : [yield* noneOf(rules)], id, mode, match))
  return compiled
}

/** Compiles one rule without a bundle. */
export function compileAlone(rule: BundleRule): Rule {
  return compile(rule, rule.match ?? [], undefined, 'enforce', { when: [] })
}

function compile(
  { name, keys, limit, cost }: BundleRule,
  when: readonly Condition[],
  id: string | undefined,
  mode: Mode,
  match: Match,
): Rule {
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

function* readRules(list: Value | undefined, strict: boolean): Sliced<BundleRule[]> {
  if (list !== undefined && list.node.kind !== 'list') wrong(list, 'a list of rules')
  const rules: BundleRule[] = []
  for (const item of list === undefined ? [] : itemsOf(list)) {
    const rule = yield* readBundleRule(item, { strict })
    if (rule !== undefined) rules.push(rule)
  }
  return rules
}

function* readFallback(value: Value | undefined, rules: readonly BundleRule[], strict: boolean): Sliced<BundleRule | undefined> {
  if (value === undefined) return undefined
  const fallback = yield* readBundleRule(value, { strict, name: 'fallback_limit' })
  if (fallback?.match !== undefined)
    overlook({ ...value, path: `${value.path}.match` }, ' is ignored: a fallback is for what no rule matches', strict)
  if (fallback !== undefined && rules.some(({ match = [] }) => match.length === 0))
    warn(value, ' is never used: a rule without match leaves nothing over')
  return fallback
}

function refuseTwins(rules: readonly BundleRule[]): void {
  const paths = new Map<string, string>()
  for (const { at, name } of rules) {
    const earlier = paths.get(name)
    if (earlier === undefined) paths.set(name, at.path)
    else refuse({ ...at, path: `${at.path}.name` }, ` is ${JSON.stringify(name)}: expected a name of its own, ${earlier} has it`)
  }
}

/** Opens the map that `readSpec` reads. */
export function openSpec(value: Value, strict: boolean): Fields | undefined {
  return openFields(value, { names: SPEC, lenient: !strict })
}
