import type { MapNode, PolicyNode } from '../document/node.ts'
import { DEFAULT_DEADLINE } from '../model/failure-choice.ts'
import { type Fields, openFields, openMap } from '../document/fields.ts'
import { type HeaderChoice, headerChoice } from '../model/header-choice.ts'
import { type Issues, join } from '../document/issues.ts'
import { readPath } from '../native/match.ts'
import { MAX_SAMPLED } from '../native/grammar.ts'
import type { PolicyBody } from '../model/policy.ts'
import type { Cost, KeyPart, Match, OnStoreFailure, Rule, Tier } from '../model/rule.ts'
import { sampleProblem } from '../model/sample.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { BESIDE, readBeside } from '../native/surroundings.ts'
import { endpointCost, type Prices, priceList } from './cost.ts'
import { readTenancy, type Tenancy } from './identity.ts'
import { type Level, readLevel } from './level.ts'

const INNER = ['global', 'tenants', 'endpoints', 'failure_policy', 'headers', 'identity']
const OUTER = ['rate_limits', 'failure_policy', 'headers', 'identity', ...BESIDE]

/**
 * Reads the template of Rate Limiting at Scale: global, tenant and endpoint buckets, which are charged together. A tenant is one
 * identity; its tier chooses the bucket.
 */
export function* readTemplate(root: MapNode, issues: Issues): Sliced<PolicyBody | undefined> {
  const outer = openFields(root, '', { names: OUTER }, issues)
  const inside = outer?.node('rate_limits')
  const inner = inside === undefined ? undefined : openFields(inside, 'rate_limits', { names: INNER }, issues)
  if (outer === undefined || inner === undefined) return undefined
  const failure = readFailure(either('failure_policy', outer, inner, issues)?.fields) ?? 'deny'
  const headers = readHeaders(either('headers', outer, inner, issues), issues)
  const tenants = namesOf(inner, 'tenants', issues)
  const tenancy = yield* readTenancy(either('identity', outer, inner, issues), [...tenants.keys()], issues)
  const prices = priceList()
  const make = maker({ cost: endpointCost(prices), failure, issues })
  const rules = [
    ...readGlobal(inner, make),
    ...(yield* readTenants(tenants, tenancy, make, issues)),
    ...(yield* readEndpoints(inner, tenancy, prices, make, issues)),
  ]
  yield* prices.index()
  if (tenants.size > 0 && !tenants.has('default'))
    issues.warn(inner.at, 'rate_limits.tenants: without default, identities of no tier are not limited')
  for (const { name, sample, cost, tiers: limits } of rules) {
    const problem = sample === undefined ? undefined : sampleProblem(sample, cost, limits)
    if (problem !== undefined) issues.add(inner.at, 'rate_limits', `sample of ${name}: ${problem}`)
  }
  if (rules.length === 0 && !issues.failed)
    issues.add(inner.at, 'rate_limits', 'rate_limits has no limit: expected global, tenants or endpoints')
  return {
    rules,
    failure: { ...DEFAULT_DEADLINE, policy: failure },
    headers,
    ...(yield* readBeside(outer, rules, issues)),
  }
}

interface Use {
  /** Field names of this level only. */
  readonly extra: readonly string[]
  readonly key: (level: Level) => readonly KeyPart[]
  readonly match: Match
}

interface Made {
  readonly level: Level
  readonly rule: Rule | undefined
}

type Make = (name: string, node: PolicyNode, path: string, use: Use) => Made | undefined

function maker({ cost, failure, issues }: { readonly cost: Cost; readonly failure: OnStoreFailure; readonly issues: Issues }): Make {
  return (name, node, path, { extra, key, match }) => {
    const level = readLevel(node, path, extra, issues)
    if (level === undefined) return undefined
    const { fields, limit, windowMs } = level
    const onStoreFailure = readFailure(fields) ?? failure
    if (limit === undefined) return { level, rule: undefined }
    const tier: Tier = { label: '', when: [], limit, ...(windowMs === undefined ? {} : { windowMs }) }
    const sample = fields.whole('sample', 1, MAX_SAMPLED) ?? 1
    const sampled = sample === 1 ? {} : { sample }
    return { level, rule: { name, mode: 'enforce', match, key: key(level), tiers: [tier], cost, ...sampled, onStoreFailure } }
  }
}

function readGlobal(inner: Fields, make: Make): Rule[] {
  const node = inner.node('global')
  const made =
    node === undefined ? undefined : make('global', node, inner.pathOf('global'), { extra: [], key: () => [], match: { when: [] } })
  return made?.rule === undefined ? [] : [made.rule]
}

function* readTenants(
  tenants: ReadonlyMap<string, { at: number; value: PolicyNode }>,
  tenancy: Tenancy,
  make: Make,
  issues: Issues,
): Sliced<Rule[]> {
  return yield* flatMapSliced(tenants, ([name, { at, value }]) => {
    const path = join('rate_limits.tenants', name)
    if (!/^[\w.-]{1,64}$/.test(name)) issues.add(at, path, `${path}: a tenant's name is expected to be letters, digits, dots, - and _`)
    const made = make(`tenant:${name}`, value, path, {
      extra: ['shared'],
      key: ({ shared }) => (shared ? [] : [tenancy.identity]),
      match: { when: [{ source: tenancy.tier, value: name }] },
    })
    return made?.rule === undefined ? [] : [made.rule]
  })
}

function* readEndpoints(inner: Fields, tenancy: Tenancy, prices: Prices, make: Make, issues: Issues): Sliced<Rule[]> {
  return yield* flatMapSliced(namesOf(inner, 'endpoints', issues), ([name, { at, value }]) => {
    const path = join('rate_limits.endpoints', name)
    const glob = readPath({ kind: 'scalar', at, text: name, type: 'text' }, path, issues)
    if (glob === undefined) return []
    if (!/^[!$-[\]-~]{1,200}$/.test(name))
      issues.add(at, path, `${path}: expected at most 200 printable characters without blanks, quotes, # and \\`)
    const made = make(`endpoint:${name}`, value, path, {
      extra: ['shared', 'cost'],
      key: ({ shared }) => (shared ? [] : [tenancy.identity]),
      match: { path: glob, when: [] },
    })
    const cost = made?.level.fields.decimal('cost')
    if (cost !== undefined) prices.add({ path: glob, cost: Number(cost) })
    return made?.rule === undefined
      ? []
      : [{ ...made.rule, cost: { ...made.rule.cost, text: String(cost ?? 1), unknown: Number(cost ?? 1) } }]
  })
}

function namesOf(inner: Fields, name: string, issues: Issues): MapNode['fields'] {
  const node = inner.node(name)
  return (node === undefined ? undefined : openMap(node, inner.pathOf(name), issues))?.fields ?? new Map()
}

interface Found {
  readonly node: PolicyNode
  readonly path: string
  readonly fields: Fields
}

/** A block that may be next to rate_limits or inside it, but not both. */
function either(name: string, outer: Fields, inner: Fields, issues: Issues): Found | undefined {
  const [beside, within] = [outer.node(name), inner.node(name)]
  if (beside !== undefined && within !== undefined)
    issues.add(within.at, inner.pathOf(name), `${name} stands beside rate_limits and in it: expected one of them`)
  if (beside !== undefined) return { node: beside, path: name, fields: outer }
  return within === undefined ? undefined : { node: within, path: inner.pathOf(name), fields: inner }
}

const FAILURES: ReadonlyMap<string, OnStoreFailure> = new Map([
  ['fail_open', 'allow'],
  ['fail_closed', 'deny'],
  ['local', 'local'],
])

function readFailure(fields: Fields | undefined): OnStoreFailure | undefined {
  return FAILURES.get(fields?.choice('failure_policy', [...FAILURES.keys()]) ?? '')
}

function readHeaders(found: Found | undefined, issues: Issues): HeaderChoice {
  const names = ['include_limit', 'include_remaining', 'include_retry_after']
  const headers = found === undefined ? undefined : openFields(found.node, found.path, { names }, issues)
  return headerChoice({
    limit: headers?.flag('include_limit') ?? true,
    remaining: headers?.flag('include_remaining') ?? true,
    retryAfter: headers?.flag('include_retry_after') ?? true,
  })
}
