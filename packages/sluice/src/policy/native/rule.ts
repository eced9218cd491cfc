import type { Fields } from '../document/fields.ts'
import { openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import { readCost } from './cost.ts'
import { readExempt } from './exempt.ts'
import { readKey, readMatch } from './match.ts'
import { MODES, MAX_SAMPLED, RULE, RULE_NAME, STORE_FAILURES } from './grammar.ts'
import { readTiers } from './tiers.ts'
import type { PolicyNode } from '../document/node.ts'
import type { Cost, OnStoreFailure, Rule, Tier } from '../model/rule.ts'
import { sampleProblem } from '../model/sample.ts'
import type { Sliced } from '../model/sliced.ts'

const KNOWN = { names: RULE.names, later: ['onFull', 'unit'] }

/** Reads one rule of the native dialect. A wrong one is reported and gives undefined. */
export function* readRule(node: PolicyNode, path: string, fallback: OnStoreFailure, issues: Issues): Sliced<Rule | undefined> {
  const fields = openFields(node, path, KNOWN, issues)
  if (fields === undefined) return undefined
  fields.require('name', 'a name')
  const name = fields.text('name', 'up to 64 printable characters without blanks, quotes, # and \\', (text) => RULE_NAME.test(text))
  fields.require('key', 'a list of what requests are counted by, such as [ip:address]; [] is one bucket for everybody')
  const key = readKey(fields, issues)
  const match = readMatch(fields, issues)
  const exempt = yield* readExempt(fields, issues)
  const tiers = yield* readTiers(fields, issues)
  const cost = yield* readCost(fields, issues)
  const sample = fields.whole('sample', 1, MAX_SAMPLED)
  const mode = fields.choice('mode', MODES) ?? 'enforce'
  const onStoreFailure = fields.choice('onStoreFailure', STORE_FAILURES) ?? fallback
  const maxOvergrant = readMaxOvergrant(fields, issues)
  if (name === undefined || key === undefined || cost === undefined) return undefined
  warnOfCost(fields, cost, tiers, issues)
  const sampled = sample === undefined || sample === 1 ? {} : { sample }
  const problem = sampled.sample === undefined ? undefined : sampleProblem(sampled.sample, cost, tiers)
  if (problem !== undefined)
    issues.add(fields.node('sample')?.at ?? fields.at, fields.pathOf('sample'), `${fields.pathOf('sample')}: ${problem}`)
  return {
    name,
    mode,
    match,
    ...(exempt.length === 0 ? {} : { exempt }),
    key,
    tiers,
    cost,
    ...sampled,
    onStoreFailure,
    ...(maxOvergrant === undefined ? {} : { maxOvergrant }),
  }
}

function readMaxOvergrant(fields: Fields, issues: Issues): number | undefined {
  const node = fields.node('maxOvergrant')
  if (node === undefined) return undefined
  if (node.kind === 'scalar' && node.text === 'unbounded') return Infinity
  if (node.kind === 'scalar' && /^\d{1,15}(?:\.\d{1,6})?$/.test(node.text)) return Number(node.text)
  issues.wrong(node, fields.pathOf('maxOvergrant'), 'tokens from 0 with at most six decimals, or unbounded')
  return undefined
}

/** Warns of a fixed cost above a burst of the rule. */
function warnOfCost(rule: Fields, cost: Cost, tiers: readonly Tier[], issues: Issues): void {
  const node = rule.node('cost')
  if (node?.kind !== 'scalar' || !tiers.some(({ limit }) => Number(cost.text) > limit.capacity)) return
  issues.warn(node.at, `${rule.pathOf('cost')}: a cost of ${cost.text} is above a burst of this rule: such requests are never admitted`)
}
