import type { Micros } from '../../time/micros.ts'
import type { Value } from '../document/value.ts'
import { endpointCosts } from '../model/cost.ts'
import { type HeaderChoice, headerChoice } from '../model/header-choice.ts'
import { DEFAULT_DEADLINE, type Rule, sampleProblem } from '../model/rule.ts'
import type { PolicyBody } from '../model/policy.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { readPath } from '../native/match.ts'
import { readSharedSections, SHARED_SECTIONS } from '../native/shared-sections.ts'
import { readTenancy } from './identity.ts'
import { readFailure, readLevel } from './level.ts'

const INNER = ['global', 'tenants', 'endpoints', 'failure_policy', 'headers', 'identity']
const OUTER = ['rate_limits', 'failure_policy', 'headers', 'identity', ...SHARED_SECTIONS]

/** The format of the article "Rate Limiting at Scale". Global, tenant and endpoint buckets are charged together. */
export function* readTemplate(root: Value, now: Micros): Sliced<PolicyBody | undefined> {
  const outer = root.open({ names: OUTER })
  const inner = outer?.get('rate_limits')?.open({ names: INNER })
  if (outer === undefined || inner === undefined) return undefined
  const onStoreFailure = readFailure(blockOf('failure_policy', outer, inner)) ?? 'deny'
  const headers = readHeaders(blockOf('headers', outer, inner))
  const tenantsNode = inner.get('tenants')?.node
  const tenants = tenantsNode?.kind === 'map' ? [...tenantsNode.fields.keys()] : []
  const { identity, tier, named } = yield* readTenancy(blockOf('identity', outer, inner), tenants)
  const costs = endpointCosts()
  const shared = { cost: costs.cost, onStoreFailure }
  const global = inner.get('global')
  const globalRule = global === undefined ? undefined : readLevel(global, 'global', { ...shared, key: [], match: { when: [] } })
  const tenantRules = yield* flatMapSliced(inner.get('tenants')?.entries(), ({ name, key, value }) => {
    if (!/^[\w.-]{1,64}$/.test(name)) key.refuse(": a tenant's name is expected to be letters, digits, dots, - and _")
    const match = { when: [{ source: tier, value: name }] }
    return readLevel(value, `tenant:${name}`, { ...shared, extra: ['shared'], key: [identity], match }) ?? []
  })
  const endpointRules = yield* flatMapSliced(inner.get('endpoints')?.entries(), ({ name, key, value }) => {
    const path = readPath(key)
    if (path === undefined) return []
    if (!/^[!$-[\]-~]{1,200}$/.test(name)) key.refuse(': expected at most 200 printable characters without blanks, quotes, # and \\')
    const use = { ...shared, extra: ['shared', 'cost'], key: [identity], match: { path, when: [] } }
    const rule = readLevel(value, `endpoint:${name}`, use)
    const cost = value.get('cost')?.decimal()
    if (cost !== undefined) {
      costs.add({ path, cost: Number(cost) })
      warnOfPrice(value.get('cost') as Value, Number(cost), [globalRule ?? [], tenantRules].flat())
    }
    return rule === undefined ? [] : { ...rule, cost: { ...costs.cost, text: cost ?? '1', unknown: Number(cost ?? 1) } }
  })
  yield* costs.index()
  const rules = [globalRule, tenantRules, endpointRules].flatMap((some): Rule | readonly Rule[] => some ?? [])
  if (tenants.length > 0 && !tenants.includes('default')) inner.warn('.tenants: without default, identities of no tier are not limited')
  for (const { name, sample, cost, tiers } of rules) {
    const problem = sampleProblem(sample, cost, tiers)
    if (problem !== undefined) inner.issues.add(inner.node.at, inner.path, `sample of ${name}: ${problem}`)
  }
  if (rules.length === 0 && !inner.issues.failed) inner.refuse(' has no limit: expected global, tenants or endpoints')
  const failure = { ...DEFAULT_DEADLINE, policy: onStoreFailure }
  const sections = yield* readSharedSections(outer, rules, now)
  // A verified token or a trusted proxy may name any tenant. With neither, only `identity.tiers` names tenants.
  if (sections.jwt === undefined && sections.trustedProxies === undefined) warnOfUnreached(inner.get('tenants'), named)
  return { rules, failure, headers, ...sections }
}

function warnOfUnreached(tenants: Value | undefined, named: ReadonlySet<string>): void {
  for (const { name, value } of tenants?.entries() ?? [])
    if (name !== 'default' && !named.has(name))
      value.warn(': no request reaches this tenant: identity.tiers does not name it, and the policy has neither jwt nor trustedProxies')
}

/** The global limit and the tenant's are charged the endpoint's cost too. */
function warnOfPrice(at: Value, cost: number, levels: readonly Rule[]): void {
  const tooSmall = levels.filter(({ tiers }) => tiers.some(({ limit }) => limit.capacity < cost))
  if (tooSmall.length > 0)
    at.warn(
      `: a cost of ${cost} is above the capacity of ${tooSmall.map(({ name }) => name).join(', ')}: such requests are never admitted there`,
    )
}

/** Next to `rate_limits` or inside it, but not both. */
function blockOf(name: string, outer: Value, inner: Value): Value | undefined {
  const [outside, within] = [outer.get(name), inner.get(name)]
  if (outside !== undefined && within !== undefined) {
    const message = `${name} is both inside and outside rate_limits: expected one of them`
    inner.issues.add(within.node.at, within.path, message)
  }
  return outside ?? within
}

function readHeaders(block: Value | undefined): HeaderChoice {
  const fields = block?.open({ names: ['include_limit', 'include_remaining', 'include_retry_after'] })
  const flag = (name: string): boolean => fields?.get(name)?.flag() ?? true
  const [limit, remaining, retryAfter] = [flag('include_limit'), flag('include_remaining'), flag('include_retry_after')]
  return headerChoice({ limit, remaining, retryAfter })
}
