import type { Value } from '../document/value.ts'
import { endpointCosts } from '../model/cost.ts'
import { type HeaderChoice, headerChoice } from '../model/header-choice.ts'
import { DEFAULT_DEADLINE, type Rule, sampleProblem } from '../model/rule.ts'
import type { PolicyBody } from '../model/policy.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { readPath } from '../native/match.ts'
import { readSharedSections, SHARED_SECTIONS } from '../native/shared-sections.ts'
import { readTenancy } from './identity.ts'
import { type Defaults, readFailure, readLevel } from './level.ts'

const INNER = ['global', 'tenants', 'endpoints', 'failure_policy', 'headers', 'identity']
const OUTER = ['rate_limits', 'failure_policy', 'headers', 'identity', ...SHARED_SECTIONS]

/** Reads the template of Rate Limiting at Scale: global, tenant and endpoint buckets, charged together. A tenant is one identity. */
export function* readTemplate(root: Value): Sliced<PolicyBody | undefined> {
  const outer = root.open({ names: OUTER })
  const inner = outer?.get('rate_limits')?.open({ names: INNER })
  if (outer === undefined || inner === undefined) return undefined
  const onStoreFailure = readFailure(blockOf('failure_policy', outer, inner)) ?? 'deny'
  const headers = readHeaders(blockOf('headers', outer, inner))
  const tenantsNode = inner.get('tenants')?.node
  const tenants = tenantsNode?.kind === 'map' ? [...tenantsNode.fields.keys()] : []
  const { identity, tier } = yield* readTenancy(blockOf('identity', outer, inner), tenants)
  const costs = endpointCosts()
  const defaults: Defaults = { cost: costs.cost, onStoreFailure }
  const global = inner.get('global')
  const globalRule = global === undefined ? undefined : readLevel(global, 'global', { key: [], match: { when: [] } }, defaults)
  const tenantRules = yield* flatMapSliced(inner.get('tenants')?.entries(), ({ name, key, value }) => {
    if (!/^[\w.-]{1,64}$/.test(name)) key.refuse(": a tenant's name is expected to be letters, digits, dots, - and _")
    const match = { when: [{ source: tier, value: name }] }
    return readLevel(value, `tenant:${name}`, { extra: ['shared'], key: [identity], match }, defaults) ?? []
  })
  const endpointRules = yield* flatMapSliced(inner.get('endpoints')?.entries(), ({ name, key, value }) => {
    const path = readPath(key)
    if (path === undefined) return []
    if (!/^[!$-[\]-~]{1,200}$/.test(name)) key.refuse(': expected at most 200 printable characters without blanks, quotes, # and \\')
    const use = { extra: ['shared', 'cost'], key: [identity], match: { path, when: [] } }
    const rule = readLevel(value, `endpoint:${name}`, use, defaults)
    const cost = value.get('cost')?.decimal()
    if (cost !== undefined) costs.add({ path, cost: Number(cost) })
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
  return { rules, failure: { ...DEFAULT_DEADLINE, policy: onStoreFailure }, headers, ...(yield* readSharedSections(outer, rules)) }
}

/** A block, which may be next to rate_limits or inside it, but not both. */
function blockOf(name: string, outer: Value, inner: Value): Value | undefined {
  const [outside, within] = [outer.get(name), inner.get(name)]
  if (outside !== undefined && within !== undefined)
    inner.issues.add(within.node.at, within.path, `${name} is both inside and outside rate_limits: expected one of them`)
  return outside ?? within
}

function readHeaders(block: Value | undefined): HeaderChoice {
  const fields = block?.open({ names: ['include_limit', 'include_remaining', 'include_retry_after'] })
  const flag = (name: string): boolean => fields?.get(name)?.flag() ?? true
  return headerChoice({ limit: flag('include_limit'), remaining: flag('include_remaining'), retryAfter: flag('include_retry_after') })
}
