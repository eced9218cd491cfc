import { canonicalValue } from '../../identity/canonical.ts'
import { INSTANT_FORM, parseInstant } from '../../time/instant.ts'
import { type Fields, openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import { readAlgorithm, readLimit } from './limit-form.ts'
import { OVERRIDE } from './grammar.ts'
import type { PolicyNode } from '../document/node.ts'
import type { Override } from '../model/override.ts'
import type { Rule } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'

const MAX_OVERRIDES = 10_000

/** Reads the `overrides` of a policy; no message shows a key. */
export function* readOverrides(fields: Fields, rules: readonly Rule[], issues: Issues): Sliced<Override[]> {
  const node = fields.node('overrides')
  if (node === undefined) return []
  if (node.kind !== 'list' || node.items.length > MAX_OVERRIDES) {
    issues.wrong(node, fields.pathOf('overrides'), `a list of { rule, key, the fields of a limit, until }, at most ${MAX_OVERRIDES}`)
    return []
  }
  const known = new Map(rules.map((rule) => [rule.name, rule]))
  const seen = new Map<string, number>()
  return yield* flatMapSliced(node.items, (item, index) => {
    const path = `${fields.pathOf('overrides')}[${index}]`
    const override = readOverride(item, path, known, issues)
    if (override === undefined) return []
    const same = JSON.stringify([override.rule, ...override.values.map((value) => value ?? null)])
    const earlier = seen.get(same)
    if (earlier === undefined) seen.set(same, index)
    else issues.add(item.at, path, `${path} is about the key of overrides[${earlier}]: expected one of them`)
    return [override]
  })
}

/** Reads one override. A wrong one is reported and gives undefined. */
export function readOverride(node: PolicyNode, path: string, rules: ReadonlyMap<string, Rule>, issues: Issues): Override | undefined {
  const fields = openFields(node, path, OVERRIDE, issues)
  if (fields === undefined) return undefined
  fields.require('rule', 'the name of a rule')
  fields.require('key', 'the value of the key, or a list of its values')
  const written = fields.node('rule')
  // The names of all rules are listed only for a message, because there may be thousands of overrides.
  const isRule = written?.kind === 'scalar' && written.type === 'text' && rules.has(written.text)
  const known = isRule ? '' : `one of ${[...rules.keys()].slice(0, 20).join(', ')}`
  const name = fields.text('rule', known, (text) => rules.has(text))
  const rule = name === undefined ? undefined : (rules.get(name) as Rule)
  const values = rule === undefined ? undefined : readValues(fields, rule, issues)
  const algorithm = readAlgorithm(fields, rule?.tiers[0]?.limit.algorithm.name ?? 'token-bucket')
  const limit = algorithm === undefined ? undefined : readLimit(fields, algorithm, issues)
  const text = fields.text('until', INSTANT_FORM, (found) => parseInstant(found) !== undefined)
  const until = text === undefined ? undefined : parseInstant(text)
  if (rule === undefined || values === undefined || limit === undefined) return undefined
  return { rule: rule.name, values, limit, ...(until === undefined ? {} : { until }) }
}

function readValues(fields: Fields, rule: Rule, issues: Issues): (string | undefined)[] | undefined {
  const node = fields.node('key')
  if (node === undefined) return undefined
  const sources = rule.key.flat()
  const form = sources.map(({ text }) => text).join(', ')
  const path = fields.pathOf('key')
  const items = node.kind === 'list' ? node.items : [node]
  if (items.length !== sources.length) {
    const message = `${path} has ${items.length} values: expected ${sources.length}${form === '' ? '' : ` (${form})`}`
    issues.add(node.at, path, message, { allowed: form })
    return undefined
  }
  const values = items.map((item, index) => {
    const source = sources[index]
    const value = item.kind === 'scalar' && item.type !== 'null' ? item.text : undefined
    const found = source === undefined || value === undefined ? undefined : canonicalValue(source, value)
    const absent = item.kind === 'scalar' && item.type === 'null'
    if (!absent && found === undefined)
      issues.add(item.at, path, `${path} ${index + 1} is no value of ${source?.text ?? 'the key'}`, { allowed: source?.text ?? '' })
    return found
  })
  return values
}
