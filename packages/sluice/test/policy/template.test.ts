import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readRequest, type Request, type RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { indexRules } from '../../src/policy/model/match.ts'
import { finish } from '../../src/policy/model/sliced.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import { keyOf, type Rule } from '../../src/policy/model/rule.ts'

const text = readFileSync(new URL('../fixtures/seed-000.yaml', import.meta.url), 'utf8')
const request = (facts: Partial<RequestFacts> = {}): Request =>
  readRequest({ method: 'GET', path: '/', headers: {}, ip: '192.0.2.1', ...facts }, facts.claims, trustProxies(['10.0.0.0/8']))
const matching = (policy: Policy, facts: Partial<RequestFacts>): string[] =>
  finish(indexRules(policy.rules))(request(facts)).map(({ name }) => name)
const named = (policy: Policy, name: string): Rule => policy.rules.find((rule) => rule.name === name) as Rule

describe("the template's dialect", () => {
  const policy = parsePolicy(text, { filename: 'seed-000.yaml' })

  it('reads the printed template, indented', () => {
    expect(policy).toMatchObject({
      dialect: 'rate-limits',
      failure: { policy: 'deny' },
      headers: { limit: true, remaining: true, retryAfter: true },
    })
    expect(
      policy.rules.map(({ name, tiers: [tier], onStoreFailure }) => [name, tier?.limit.capacity, tier?.limit.windowMs, onStoreFailure]),
    ).toEqual([
      ['global', 10_000, 1_000, 'deny'],
      ['tenant:default', 100, 10_000, 'deny'],
      ['tenant:premium', 1_000, 10_000, 'deny'],
      ['endpoint:/api/search', 50, 10_000, 'deny'],
      ['endpoint:/api/data', 1_000, 10_000, 'deny'],
    ])
    expect(named(policy, 'global').tiers[0]?.windowMs).toBe(1_000)
    expect(policy.warnings).toEqual([
      'seed-000.yaml:10:14: rate_limits.tenants.default: capacity is the bucket already; of capacity 100 and burst 20 the larger is used, 100',
      'seed-000.yaml:14:14: rate_limits.tenants.premium: capacity is the bucket already; of capacity 1000 and burst 200 the larger is used, 1000',
      'seed-000.yaml:12:7: rate_limits.tenants.premium: no request reaches this tenant: identity.tiers does not name it, and the policy has neither jwt nor trustedProxies',
    ])
  })

  it('charges the cost of the endpoint at every level', () => {
    const costs = (path: string): number[] => policy.rules.map((rule) => rule.cost.of(request({ path })))
    expect(costs('/api/search')).toEqual([5, 5, 5, 5, 5])
    expect(costs('//API/Search/?q=1')).toEqual([5, 5, 5, 5, 5])
    expect(costs('/api/data')).toEqual([1, 1, 1, 1, 1])
    expect(costs('/elsewhere')).toEqual([1, 1, 1, 1, 1])
  })

  it('applies global, one tenant and the endpoint together', () => {
    expect(matching(policy, { path: '/api/search' })).toEqual(['global', 'tenant:default', 'endpoint:/api/search'])
    expect(matching(policy, { path: '/x', claims: { plan: 'premium' } })).toEqual(['global', 'tenant:premium'])
    expect(matching(policy, { path: '/x', claims: { plan: 'unheard-of' } })).toEqual(['global', 'tenant:default'])
  })

  it('counts tenants and endpoints by subject, else by address, never mixing the two', () => {
    const tenant = named(policy, 'tenant:default')
    expect(keyOf(named(policy, 'global'), request())).toEqual([])
    expect(keyOf(tenant, request({ claims: { sub: 'u1' } }))).toEqual(['u1', undefined])
    expect(keyOf(tenant, request())).toEqual([undefined, '192.0.2.1'])
    expect(keyOf(tenant, request({ claims: { sub: '192.0.2.1' } }))).not.toEqual(keyOf(tenant, request()))
    expect(keyOf(named(policy, 'endpoint:/api/search'), request())).toEqual([undefined, '192.0.2.1'])
  })

  it('believes a tier of a trusted proxy only, and a verified plan before it', () => {
    const headers = { 'x-tenant-tier': 'premium' }
    expect(matching(policy, { headers })).toContain('tenant:default')
    expect(matching(policy, { headers, ip: '10.1.1.1' })).toContain('tenant:premium')
    expect(matching(policy, { headers, ip: '10.1.1.1', claims: { plan: 'default' } })).toContain('tenant:default')
  })

  it('takes identity and tier from a header where a block says so', () => {
    const keyed = parsePolicy(`${text}identity:\n  header: X-API-Key\n  tiers:\n    k-premium: premium\n    constructor: premium\n`)
    const facts = { headers: { 'x-api-key': 'k-premium', 'x-tenant-tier': 'default' }, ip: '10.1.1.1' }
    expect(matching(keyed, facts)).toContain('tenant:premium')
    expect(keyOf(named(keyed, 'tenant:premium'), request(facts))).toEqual(['k-premium', undefined])
    expect(matching(keyed, { headers: { 'x-api-key': 'toString' } })).toContain('tenant:default')
    expect(keyOf(named(keyed, 'tenant:default'), request({ claims: { sub: 'u' } }))).toEqual([undefined, '192.0.2.1'])
  })

  const levels = (more: string): Policy => parsePolicy(`rate_limits:\n  global: { capacity: 10, refill_rate: 10 }\n${more}`)

  it.each([
    ['outside rate_limits', 'failure_policy: fail_open\n', ['allow']],
    ['in rate_limits', '  failure_policy: local\n', ['local']],
    ['nowhere', '', ['deny']],
    ['in one endpoint', '  endpoints:\n    /a: { capacity: 1, refill_rate: 1, failure_policy: fail_open }\n', ['deny', 'allow']],
    [
      'in one tenant',
      '  tenants:\n    default: { capacity: 1, refill_rate: 1, failure_policy: local }\nfailure_policy: fail_open\n',
      ['allow', 'local'],
    ],
  ])('reads a failure policy %s', (_, more, expected) => {
    expect(levels(more).rules.map(({ onStoreFailure }) => onStoreFailure)).toEqual(expected)
  })

  it('reads headers outside and inside rate_limits', () => {
    expect(levels('headers: { include_limit: false }\n').headers).toMatchObject({ limit: false, remaining: true, retryAfter: true })
    expect(levels('  headers: { include_retry_after: false, include_remaining: false }\n').headers).toMatchObject({
      limit: true,
      remaining: false,
      retryAfter: false,
    })
  })

  it('shares a bucket where configured, reads the rate over the window, takes the larger burst, and prices paths without a bucket', () => {
    const shared = levels(
      '  tenants:\n    default: { capacity: 60, refill_rate: 60, window: 1m, shared: true, burst: 90 }\n  endpoints:\n    /big/**: { cost: 7 }\n    /big/x: { cost: 2 }\n',
    )
    const tenant = named(shared, 'tenant:default')
    expect(keyOf(tenant, request())).toEqual([])
    expect(tenant.tiers[0]).toMatchObject({ windowMs: 60_000, limit: { capacity: 90, plan: { n: 1, m: 1, burst: 90_000_000 } } })
    expect(shared.warnings.join('\n')).toMatch(
      /of capacity 60 and burst 90 the larger is used, 90[\s\S]*a bucket of 90 fills in 90000 ms, and window says 60000 ms/,
    )
    expect(shared.rules.map(({ name }) => name)).toEqual(['global', 'tenant:default'])
    expect(tenant.cost.of(request({ path: '/big/x' }))).toBe(7)
  })

  it('warns of tenants without default and of a cost that is never admitted', () => {
    expect(levels('  tenants:\n    gold: { capacity: 1, refill_rate: 1 }\n').warnings).toEqual([
      expect.stringMatching(/without default, identities of no tier are not limited/),
      expect.stringMatching(/gold: no request reaches this tenant/),
    ])
    expect(levels('  endpoints:\n    /a: { capacity: 1, refill_rate: 1, cost: 2 }\n').warnings).toEqual([
      expect.stringMatching(/a cost of 2 is above its capacity/),
    ])
  })

  it.each([
    ['rate_limits: {}', '1:14: rate_limits has no limit'],
    ['rate_limits: 5', '1:14: rate_limits is 5: expected a map'],
    ['rate_limits:\n  gobal: {}', '2:3: rate_limits.gobal is unknown: did you mean global?'],
    ['rate_limits:\n  global: { capacity: 5 }', '2:11: rate_limits.global.refill_rate is missing'],
    ['rate_limits:\n  global: { capacity: -1, refill_rate: 1 }', '2:23: rate_limits.global.capacity is -1'],
    ['rate_limits:\n  global: { capacity: 1, refill_rate: 1, window: 1 fortnight }', 'rate_limits.global.window is "1 fortnight"'],
    ['rate_limits:\n  global: { capacity: 1, refill_rate: 1, shared: true }', 'rate_limits.global.shared is unknown'],
    ['rate_limits:\n  endpoints:\n    api: { cost: 1 }', '3:5: rate_limits.endpoints.api is "api": expected a path'],
    ['rate_limits:\n  endpoints:\n    /a: { cost: 0 }', '3:17: rate_limits.endpoints["/a"].cost is 0'],
    ['rate_limits:\n  tenants:\n    "a b": { capacity: 1, refill_rate: 1 }', '3:5: rate_limits.tenants["a b"]: a tenant'],
    ['rate_limits:\n  tenants:\n    __proto__: { capacity: 1, refill_rate: 1 }', '3:5: __proto__ is refused'],
    ['rate_limits:\n  failure_policy: local\nfailure_policy: local', '2:19: failure_policy is both inside and outside rate_limits'],
    ['rate_limits: {}\nfailure_policy: closed', '2:17: failure_policy is "closed": expected fail_open, fail_closed, local'],
    ['rate_limits: {}\nheaders: { include_limit: 1 }', '2:27: headers.include_limit is 1: expected true or false'],
    ['rate_limits: {}\nexempt: {}', '2:9: exempt is a map: expected a list'],
    ['rate_limits: {}\nidentity: { tiers: {} }', '2:11: identity.header is missing'],
    [
      'rate_limits:\n  tenants: { default: { capacity: 1, refill_rate: 1 } }\nidentity: { header: x, tiers: { secret-key: gold } }',
      '3:45: identity.tiers[0] is "gold": expected one of the tenants default',
    ],
  ])('refuses %j', (wrong, message) => {
    expect(() => parsePolicy(wrong)).toThrow(message)
    expect(() => parsePolicy(wrong)).not.toThrow(/secret-key/)
  })
})
