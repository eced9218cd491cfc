import type { Fields } from '../document/fields.ts'
import { openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import { type AlgorithmWord, hasLimit, readAlgorithm, readLimit } from './limit-form.ts'
import { readWhen } from './match.ts'
import { TIER } from './grammar.ts'
import type { PolicyNode } from '../document/node.ts'
import type { Tier } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'

const MAX_TIERS = 1_000

/** Reads the listed tiers in order, and last the rule's own limit, if it has one. */
export function* readTiers(rule: Fields, issues: Issues): Sliced<Tier[]> {
  const algorithm = readAlgorithm(rule, 'token-bucket')
  if (algorithm === undefined) return []
  const list = rule.node('tiers')
  if (list !== undefined && (list.kind !== 'list' || list.items.length === 0 || list.items.length > MAX_TIERS))
    issues.wrong(list, rule.pathOf('tiers'), `a list of { when, and the fields of a limit }, at most ${MAX_TIERS}`)
  const items = list?.kind === 'list' ? list.items : []
  const tiers: Placed[] = []
  for (const [index, item] of items.entries()) tiers.push(yield* readTier(item, `${rule.pathOf('tiers')}[${index}]`, algorithm, issues))
  const limit = list === undefined || hasLimit(rule) ? readLimit(rule, algorithm, issues) : undefined
  const all = [...tiers, ...(limit === undefined ? [] : [{ at: rule.at, tier: { label: '', when: [], limit } }])]
  const open = all.findIndex(({ tier }) => tier !== undefined && tier.when.length === 0)
  for (const { at } of open === -1 ? [] : all.slice(open + 1))
    issues.warn(at, `${rule.path}: a tier after one without conditions is never used`)
  if (list !== undefined && open === -1)
    issues.warn(list.at, `${rule.path}: requests that none of the tiers matches are not limited by this rule`)
  return all.flatMap(({ tier }) => (tier === undefined ? [] : [tier]))
}

interface Placed {
  readonly at: number
  readonly tier: Tier | undefined
}

function* readTier(node: PolicyNode, path: string, fallback: AlgorithmWord, issues: Issues): Sliced<Placed> {
  yield
  const fields = openFields(node, path, TIER, issues)
  if (fields === undefined) return { at: node.at, tier: undefined }
  const when = yield* readWhen(fields, issues)
  const algorithm = readAlgorithm(fields, fallback)
  const limit = algorithm === undefined ? undefined : readLimit(fields, algorithm, issues)
  const label = when.map(({ source, value }) => `${source.text}=${value}`).join(',')
  return { at: node.at, tier: limit === undefined ? undefined : { label, when, limit } }
}
