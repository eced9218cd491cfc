import { type Fields, openFields, readChoice, readText, readWhole, requiredField } from '../document/fields.ts'
import { fieldOf, itemsOf, readAs, refuse, type Value, warn, wrong } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { type Cost, type OnStoreFailure, type Rule, sampleProblem, type Tier } from '../model/rule.ts'
import { eachSliced, type Sliced } from '../model/sliced.ts'
import { readCost } from './cost.ts'
import { readExempt } from './exempt.ts'
import { MAX_SAMPLED, MODES, RULE, RULE_NAME, STORE_FAILURES, TIER } from './grammar.ts'
import { type AlgorithmWord, hasLimit, readAlgorithm, readLimit } from './limit-form.ts'
import { readKey, readMatch, readWhen } from './match.ts'

const NAME_FORM = 'up to 64 printable characters without blanks, quotes, # and \\'
const KEY_FORM = 'a list of what requests are counted by, such as [ip:address]; [] is one bucket for everybody'
const KNOWN = { names: RULE.names, later: ['onFull', 'unit'] }

/** Reads one rule of the native dialect. A wrong one is reported and gives undefined. */
export function* readRule(value: Value, fallback: OnStoreFailure): Sliced<Rule | undefined> {
  const fields = openFields(value, KNOWN)
  if (fields === undefined) return undefined
  const name = readText(requiredField(fields, 'name', 'a name'), NAME_FORM, (text) => RULE_NAME.test(text))
  const key = readKey(requiredField(fields, 'key', KEY_FORM))
  const match = readMatch(fields)
  const exempt = yield* readExempt(fields)
  const tiers = yield* readTiers(fields)
  const cost = yield* readCost(fieldOf(fields, 'cost'))
  const sample = readWhole(fieldOf(fields, 'sample'), 1, MAX_SAMPLED)
  const mode = readChoice(fieldOf(fields, 'mode'), MODES) ?? 'enforce'
  const onStoreFailure = readChoice(fieldOf(fields, 'onStoreFailure'), STORE_FAILURES) ?? fallback
  const maxOvergrant = readMaxOvergrant(fields)
  if (name === undefined || key === undefined || cost === undefined) return undefined
  warnOfCost(fieldOf(fields, 'cost'), cost, tiers)
  const problem = sampleProblem(sample, cost, tiers)
  if (problem !== undefined) refuse(fieldOf(fields, 'sample') ?? fields, `: ${problem}`)
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

function readMaxOvergrant(fields: Fields): number | undefined {
  return readAs(fieldOf(fields, 'maxOvergrant'), 'tokens from 0 with at most six decimals, or unbounded', (node) => {
    if (node.kind !== 'scalar') return undefined
    if (node.text === 'unbounded') return Infinity
    return /^\d{1,15}(?:\.\d{1,6})?$/.test(node.text) ? Number(node.text) : undefined
  })
}

/** Warns of a fixed cost above a burst of the rule. */
function warnOfCost(value: Value | undefined, { text }: Cost, tiers: readonly Tier[]): void {
  if (value?.node.kind !== 'scalar' || !tiers.some(({ limit }) => Number(text) > limit.capacity)) return
  warn(value, `: a cost of ${text} is above a burst of this rule: such requests are never admitted`)
}

const MAX_TIERS = 1_000

/** Reads the listed tiers in order, and last the rule's own limit, if it has one. */
function* readTiers(rule: Fields): Sliced<Tier[]> {
  const algorithm = readAlgorithm(rule, 'token-bucket')
  if (algorithm === undefined) return []
  const list = fieldOf(rule, 'tiers')
  if (list !== undefined && (list.node.kind !== 'list' || list.node.items.length === 0 || list.node.items.length > MAX_TIERS))
    wrong(list, `a list of { when, and the fields of a limit }, at most ${MAX_TIERS}`)
  const tiers: { readonly at: Value; readonly tier: Tier | undefined }[] = yield* eachSliced(itemsOf(list), function* (at) {
    return { at, tier: yield* readTier(at, algorithm) }
  })
  const limit = list === undefined || hasLimit(rule) ? readLimit(rule, algorithm) : undefined
  if (limit !== undefined) tiers.push({ at: rule, tier: { label: '', when: [], limit } })
  const open = tiers.findIndex(({ tier }) => tier?.when.length === 0)
  for (const { at } of open === -1 ? [] : tiers.slice(open + 1))
    warn({ ...at, path: rule.path }, ': a tier after one without conditions is never used')
  if (list !== undefined && open === -1)
    warn({ ...list, path: rule.path }, ': requests that none of the tiers matches are not limited by this rule')
  return tiers.flatMap(({ tier }) => tier ?? [])
}

function* readTier(value: Value, fallback: AlgorithmWord): Sliced<Tier | undefined> {
  const fields = openFields(value, TIER)
  if (fields === undefined) return undefined
  const when = yield* readWhen(fields)
  const algorithm = readAlgorithm(fields, fallback)
  const limit = algorithm === undefined ? undefined : readLimit(fields, algorithm)
  const label = when.map(({ source, value: allowed }) => `${source.text}=${allowed}`).join(',')
  return limit === undefined ? undefined : { label, when, limit }
}
