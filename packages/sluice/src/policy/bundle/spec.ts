import { elsesOf, noneOf } from './else.ts'
import { scopedName } from './name.ts'
import { type BundleRule, readBundleRule } from './rule.ts'
import { refuseSection } from './section.ts'
import { readSelector, type SelectorOptions } from './selector.ts'
import type { PolicyNode } from '../document/node.ts'
import { type Fields, openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import type { Condition, Match, Mode, Rule } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'

export const SPEC: readonly string[] = ['selector', 'mode', 'rules', 'fallback_limit', 'loop_detection', 'circuit_breaker']

/**
 * Reads the rules of one policy in their order, and last its `fallback_limit`, which applies if the conditions of no rule hold.
 * @param id undefined for rules without a bundle
 */
export function* readSpec(fields: Fields, id: string | undefined, options: SelectorOptions, issues: Issues): Sliced<Rule[]> {
  refuseSection(fields, 'loop_detection', 'block', issues)
  refuseSection(fields, 'circuit_breaker', 'block', issues)
  const mode = fields.choice('mode', ['enforce', 'shadow']) ?? 'enforce'
  const selector = fields.node('selector')
  if (selector === undefined && id !== undefined) fields.require('selector', 'a map with pathExact or pathPrefix')
  const match = selector === undefined ? { when: [] } : yield* readSelector(selector, fields.pathOf('selector'), options, issues)
  const rules = yield* readRules(fields, options, issues)
  const fallback = yield* readFallback(fields, rules, options, issues)
  refuseTwins(fallback === undefined ? rules : [...rules, fallback], issues)
  const compile = compiler(id, mode, match)
  const elses = yield* elsesOf(rules, issues)
  const compiled = yield* flatMapSliced(rules, (rule) => {
    const otherwise = elses.get(rule)
    return compile(rule, [...(rule.match ?? []), ...(otherwise === undefined ? [] : [otherwise])])
  })
  if (fallback !== undefined) compiled.push(compile(fallback, rules.length === 0 ? [] : [yield* noneOf(rules)]))
  return compiled
}

/** Compiles one rule without a bundle. */
export function compileAlone(rule: BundleRule): Rule {
  return compiler(undefined, 'enforce', { when: [] })(rule, rule.match ?? [])
}

function compiler(id: string | undefined, mode: Mode, match: Match): (rule: BundleRule, when: readonly Condition[]) => Rule {
  return ({ name, keys, limit, cost }, when) => ({
    name: scopedName(id, name),
    mode,
    match: { ...match, when: [...match.when, ...when] },
    key: keys.map((source) => [source]),
    tiers: [{ label: '', when: [], limit }],
    cost,
    onStoreFailure: 'allow',
  })
}

function* readRules(fields: Fields, { lenient }: SelectorOptions, issues: Issues): Sliced<BundleRule[]> {
  const node = fields.node('rules')
  if (node === undefined) fields.require('rules', 'a list of rules')
  else if (node.kind !== 'list') issues.wrong(node, fields.pathOf('rules'), 'a list of rules')
  if (node?.kind !== 'list') return []
  const rules: BundleRule[] = []
  for (const [index, item] of node.items.entries()) {
    const rule = yield* readBundleRule(item, `${fields.pathOf('rules')}[${index}]`, { lenient }, issues)
    if (rule !== undefined) rules.push(rule)
  }
  return rules
}

function* readFallback(
  fields: Fields,
  rules: readonly BundleRule[],
  options: SelectorOptions,
  issues: Issues,
): Sliced<BundleRule | undefined> {
  const node: PolicyNode | undefined = fields.node('fallback_limit')
  const path = fields.pathOf('fallback_limit')
  const fallback =
    node === undefined ? undefined : yield* readBundleRule(node, path, { lenient: options.lenient, name: 'fallback_limit' }, issues)
  if (fallback?.match !== undefined)
    options.overlook(fallback.at, `${path}.match`, `${path}.match is ignored: a fallback is for what no rule matches`)
  if (fallback !== undefined && rules.some(({ match = [] }) => match.length === 0))
    issues.warn(fallback.at, `${path} is never used: a rule without match leaves nothing over`)
  return fallback
}

function refuseTwins(rules: readonly BundleRule[], issues: Issues): void {
  const paths = new Map<string, string>()
  for (const { at, path, name } of rules) {
    const earlier = paths.get(name)
    if (earlier === undefined) paths.set(name, path)
    else issues.add(at, `${path}.name`, `${path}.name is ${JSON.stringify(name)}: expected a name of its own, ${earlier} has it`)
  }
}

/** Opens the map that `readSpec` reads. */
export function openSpec(node: PolicyNode, path: string, lenient: boolean, issues: Issues): Fields | undefined {
  return openFields(node, path, { names: SPEC, lenient }, issues)
}
