import type { AnyLimit } from '../algorithms/algorithm.ts'
import { parseSource } from '../identity/source.ts'
import { readBucket, RATE_FORM } from './bucket.ts'
import { clientCost, DEAREST, fixedCost } from './cost.ts'
import type { PolicyNode } from './node.ts'
import { DECIMAL_FORM, type Fields, openFields } from './fields.ts'
import type { Issues } from './issues.ts'
import { readKey, readMatch, readWhen } from './native-match.ts'
import type { Cost, OnStoreFailure, Rule, Tier } from './rule.ts'

const RULE = {
  names: ['name', 'match', 'key', 'algorithm', 'rate', 'burst', 'tiers', 'cost', 'mode', 'onStoreFailure'],
  later: ['exempt', 'overrides', 'sample', 'limit', 'window', 'align', 'ramp', 'onPressure', 'unit', 'maxOvergrant'],
}
const WINDOWS = ['fixed-window', 'sliding-window-counter', 'sliding-window-log']
/** Names stand in headers, metrics and state ids; `#` parts a rule's name from its tier there. */
const NAME = /^[!$-[\]-~]{1,64}$/

/** Reads one rule of the native dialect; undefined where it is wrong, which is then reported. */
export function readRule(node: PolicyNode, path: string, fallback: OnStoreFailure, issues: Issues): Rule | undefined {
  const fields = openFields(
    node,
    path,
    otherAlgorithm(node) ? { ...RULE, names: [...RULE.names, 'limit', 'window', 'align', 'ramp'] } : RULE,
    issues,
  )
  if (fields === undefined) return undefined
  fields.require('name', 'a name')
  const name = fields.text('name', 'up to 64 printable characters without blanks, quotes, # and \\', (text) => NAME.test(text))
  const algorithm = fields.choice('algorithm', ['token-bucket'], WINDOWS)
  fields.require('key', 'a list of what requests are counted by, such as [ip:address]; [] is one bucket for everybody')
  const key = readKey(fields, issues)
  const match = readMatch(fields, issues)
  const bucketed = fields.node('algorithm') === undefined || algorithm !== undefined
  const tiers = bucketed ? readTiers(fields, issues) : []
  const cost = readCost(fields, issues)
  const mode = fields.choice('mode', ['enforce', 'shadow', 'off']) ?? 'enforce'
  const onStoreFailure = fields.choice('onStoreFailure', ['allow', 'deny', 'local']) ?? fallback
  if (name === undefined || key === undefined || cost === undefined) return undefined
  warnOfCost(fields, cost, tiers, issues)
  return { name, mode, match, key, tiers, cost, onStoreFailure }
}

function otherAlgorithm(node: PolicyNode): boolean {
  const algorithm = node.kind === 'map' ? node.fields.get('algorithm')?.value : undefined
  return algorithm?.kind === 'scalar' && WINDOWS.includes(algorithm.text)
}

/** The listed tiers in order, and last the rule's own rate and burst where it has them. */
function readTiers(rule: Fields, issues: Issues): Tier[] {
  const list = rule.node('tiers')
  if (list === undefined) {
    rule.require('rate', RATE_FORM)
    rule.require('burst', DECIMAL_FORM)
  } else if (list.kind !== 'list' || list.items.length === 0) issues.wrong(list, rule.pathOf('tiers'), 'a list of { when, rate, burst }')
  const tiers = list?.kind === 'list' ? list.items.map((item, index) => readTier(item, `${rule.pathOf('tiers')}[${index}]`, issues)) : []
  const own = rule.node('rate') !== undefined || rule.node('burst') !== undefined
  if (own && list !== undefined) {
    rule.require('rate', RATE_FORM)
    rule.require('burst', DECIMAL_FORM)
  }
  const limit = readLimit(rule, issues)
  const all = [...tiers, ...(limit === undefined ? [] : [{ at: rule.at, tier: { label: '', when: [], limit } }])]
  const open = all.findIndex(({ tier }) => tier !== undefined && tier.when.length === 0)
  for (const { at } of open === -1 ? [] : all.slice(open + 1))
    issues.warn(at, `${rule.path}: a tier after one without conditions is never used`)
  if (list !== undefined && open === -1)
    issues.warn(list.at, `${rule.path}: requests that none of the tiers matches are not limited by this rule`)
  return all.flatMap(({ tier }) => (tier === undefined ? [] : [tier]))
}

function readTier(node: PolicyNode, path: string, issues: Issues): { at: number; tier: Tier | undefined } {
  const fields = openFields(node, path, { names: ['when', 'rate', 'burst'] }, issues)
  if (fields === undefined) return { at: node.at, tier: undefined }
  fields.require('rate', RATE_FORM)
  fields.require('burst', DECIMAL_FORM)
  const when = readWhen(fields, issues)
  const limit = readLimit(fields, issues)
  const label = when.map(({ source, value }) => `${source.text}=${value}`).join(',')
  return { at: node.at, tier: limit === undefined ? undefined : { label, when, limit } }
}

function readLimit(fields: Fields, issues: Issues): AnyLimit | undefined {
  const rate = fields.node('rate')
  const burst = fields.node('burst')
  const burstText = fields.decimal('burst')
  if (rate === undefined || burst === undefined) return undefined
  const text = rate.kind === 'scalar' && rate.type === 'text' ? rate.text : ''
  // A wrong burst is reported already; the rate is still looked at.
  const at = { rate: { node: rate, path: fields.pathOf('rate') }, burst: { node: burst, path: fields.pathOf('burst') } }
  const limit = readBucket(text, burstText ?? '0.000001', at, issues)
  return burstText === undefined ? undefined : limit
}

const COST = ['from', 'default', 'min', 'max']
const COST_FORM = `${DECIMAL_FORM}, or { from: header:<name> or query:<name>, default, min, max }`

function readCost(rule: Fields, issues: Issues): Cost | undefined {
  const node = rule.node('cost')
  if (node === undefined) return fixedCost(1)
  const path = rule.pathOf('cost')
  if (node.kind === 'list') {
    issues.wrong(node, path, COST_FORM)
    return undefined
  }
  if (node.kind === 'scalar') {
    const fixed = rule.decimal('cost')
    return fixed === undefined ? undefined : fixedCost(Number(fixed))
  }
  const fields = openFields(node, path, { names: COST }, issues)
  if (fields === undefined) return undefined
  fields.require('from', 'header:<name> or query:<name>')
  const from = fields.text(
    'from',
    'header:<name> or query:<name>',
    (text) => /^(?:header|query):/.test(text) && parseSource(text) !== undefined,
  )
  const min = Number(fields.decimal('min') ?? 1)
  const max = Number(fields.decimal('max') ?? DEAREST)
  const fallback = Number(fields.decimal('default') ?? Math.min(max, Math.max(min, 1)))
  if (min > max) issues.add(node.at, path, `${path}: min ${min} is above max ${max}`)
  else if (fallback < min || fallback > max)
    issues.add(node.at, path, `${path}: default ${fallback} is not between min ${min} and max ${max}`)
  if (from === undefined) return undefined
  const kind = from.startsWith('header:') ? 'header' : 'query'
  const name = from.slice(kind.length + 1)
  return clientCost({ kind, name: kind === 'header' ? name.toLowerCase() : name, fallback, min, max })
}

/** A fixed cost that no bucket of the rule can ever pay. */
function warnOfCost(rule: Fields, cost: Cost, tiers: readonly Tier[], issues: Issues): void {
  const node = rule.node('cost')
  if (node?.kind !== 'scalar' || !tiers.some(({ limit }) => Number(cost.text) > limit.capacity)) return
  issues.warn(node.at, `${rule.pathOf('cost')}: a cost of ${cost.text} is above a burst of this rule: such requests are never admitted`)
}
