import type { Value } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { type Match, type OnStoreFailure, type Rule, sampleProblem, type Tier } from '../model/rule.ts'
import { contradicts, coveringTier } from '../model/covered-tier.ts'
import { eachSliced, type Sliced } from '../model/sliced.ts'
import { readCost, warnOfCost } from './cost.ts'
import { readExempt } from './exempt.ts'
import { MAX_SAMPLED, MODES, RULE, RULE_NAME, STORE_FAILURES, TIER } from './grammar.ts'
import { type AlgorithmWord, hasLimit, readAlgorithm, readLimit } from './limit-form.ts'
import { readKey, readMatch, readWhen } from './match.ts'

const NAME_FORM = 'up to 64 printable characters without blanks, quotes, # and \\'
const KEY_FORM = 'a list of what requests are counted by, such as [ip:address]; [] is one bucket for everybody'
const KNOWN = { names: RULE.names, later: ['onFull', 'unit'] }

export function* readRule(value: Value, fallback: OnStoreFailure): Sliced<Rule | undefined> {
  const fields = value.open(KNOWN)
  if (fields === undefined) return undefined
  const name = fields.require('name', 'a name')?.text(NAME_FORM, (text) => RULE_NAME.test(text))
  const key = readKey(fields.require('key', KEY_FORM))
  const match = readMatch(fields)
  const exempt = yield* readExempt(fields)
  const tiers = yield* readTiers(fields, match)
  const cost = yield* readCost(fields.get('cost'))
  const sample = fields.get('sample')?.whole(1, MAX_SAMPLED)
  const mode = fields.get('mode')?.choice(MODES) ?? 'enforce'
  const onStoreFailure = fields.get('onStoreFailure')?.choice(STORE_FAILURES) ?? fallback
  const maxOvergrant = readMaxOvergrant(fields)
  if (name === undefined || key === undefined || cost === undefined) return undefined
  warnOfCost(fields, cost, tiers)
  const problem = sampleProblem(sample, cost, tiers)
  if (problem !== undefined) (fields.get('sample') ?? fields).refuse(`: ${problem}`)
  return {
    name,
    mode,
    match,
    key,
    tiers,
    cost,
    onStoreFailure,
    ...defined({ exempt, sample: sample === 1 ? undefined : sample, maxOvergrant }),
  }
}

function readMaxOvergrant(fields: Value): number | undefined {
  return fields.get('maxOvergrant')?.as('tokens from 0 with at most six decimals, or unbounded', (node) => {
    if (node.kind !== 'scalar') return undefined
    if (node.text === 'unbounded') return Infinity
    return /^\d{1,15}(?:\.\d{1,6})?$/.test(node.text) ? Number(node.text) : undefined
  })
}

const MAX_TIERS = 1_000
const TIERS_FORM = `a list of { when, and the fields of a limit }, at most ${MAX_TIERS}`

/** The listed tiers in order, and last the rule's own limit. */
function* readTiers(rule: Value, match: Match): Sliced<Tier[]> {
  const algorithm = readAlgorithm(rule, 'token-bucket')
  if (algorithm === undefined) return []
  const list = rule.get('tiers')
  const count = list?.node.kind === 'list' ? list.node.items.length : 0
  if (list?.node.kind === 'list' && count === 0) list.refuse(` is an empty list: expected ${TIERS_FORM}`, { allowed: TIERS_FORM })
  else if (list !== undefined && (count === 0 || count > MAX_TIERS)) list.wrong(TIERS_FORM)
  const tiers: ReadTier[] = yield* eachSliced(list?.items(), function* (at) {
    return { at, tier: yield* readTier(at, algorithm) }
  })
  const limit = list === undefined || hasLimit(rule) ? readLimit(rule, algorithm) : undefined
  if (limit !== undefined) tiers.push({ at: rule, tier: { label: '', when: [], limit } })
  const open = tiers.findIndex(({ tier }) => tier?.when.length === 0)
  for (const { at } of open === -1 ? [] : tiers.slice(open + 1))
    at.at(rule.path).warn(': a tier after one without conditions is never used')
  yield* warnOfUnused(open === -1 ? tiers : tiers.slice(0, open), match)
  if (list !== undefined && open === -1) list.at(rule.path).warn(': requests that none of the tiers matches are not limited by this rule')
  return tiers.flatMap(({ tier }) => tier ?? [])
}

interface ReadTier {
  readonly at: Value
  readonly tier: Tier | undefined
}

function* warnOfUnused(read: readonly ReadTier[], match: Match): Sliced<void> {
  const earlier: Tier[] = []
  for (const { at, tier } of read) {
    yield
    if (tier === undefined) continue
    const covering = coveringTier(tier, earlier)
    if (covering !== undefined) at.warn(`: this tier is never used: each request that it matches gets the earlier tier ${covering.label}`)
    else if (contradicts(tier, match)) at.warn(': this tier is never used: the match of its rule excludes its method')
    earlier.push(tier)
  }
}

function* readTier(value: Value, fallback: AlgorithmWord): Sliced<Tier | undefined> {
  const fields = value.open(TIER)
  if (fields === undefined) return undefined
  const when = yield* readWhen(fields)
  const algorithm = readAlgorithm(fields, fallback)
  const limit = algorithm === undefined ? undefined : readLimit(fields, algorithm)
  const label = when.map(({ source, value: allowed }) => `${source.text}=${allowed}`).join(',')
  return limit === undefined ? undefined : { label, when, limit }
}
