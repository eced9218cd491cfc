import { describe, expect, it } from 'vitest'
import { readRequest, type Request, type RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { type Rule, tierOf } from '../../src/policy/model/rule.ts'

const request = (facts: Partial<RequestFacts>): Request =>
  readRequest({ method: 'GET', path: '/', headers: {}, ip: '192.0.2.1', ...facts }, facts.claims, trustProxies([]))
const ruleOf = (text: string): Rule => parsePolicy(`version: 1\nrules:\n  - name: a\n    key: []\n${text}`).rules[0] as Rule

describe('tiers by every source', () => {
  it.each([
    ['"jwt:plan": pro', { claims: { plan: 'pro' } }, { claims: { plan: 'Pro' } }],
    ['"jwt:level": 3', { claims: { level: 3 } }, { claims: { level: 4 } }],
    ['"jwt:plan": [pro, team]', { claims: { plan: 'team' } }, {}],
    ['"header:X-Tier": gold', { headers: { 'x-tier': 'gold' } }, { headers: { 'x-tier': 'gold, gold' } }],
    ['query:big: "1"', { path: '/?big=1' }, { path: '/?big=2' }],
    ['cookie:beta: yes', { headers: { cookie: 'a=b; beta=yes' } }, { headers: { cookie: 'beta=no' } }],
    ['"ip:address": 192.0.2.0/24', { ip: '192.0.2.99' }, { ip: '192.0.3.1' }],
    ['"ip:address": "2001:db8::1"', { ip: '2001:DB8:0:0::1' }, { ip: '2001:db8::2' }],
    ['"ip:/24": [10.0.0.0/8, 192.0.2.7]', { ip: '::ffff:192.0.2.7' }, { ip: '192.0.2.8' }],
    ['ua:bot: true', { headers: { 'user-agent': 'curl/8' } }, { headers: { 'user-agent': 'Mozilla/5.0' } }],
    ['ua:bot: false', { headers: { 'user-agent': 'Mozilla/5.0' } }, {}],
    ['"method:": [put, PATCH]', { method: 'patch' }, { method: 'POST' }],
    ['"method:": get', { method: 'HEAD' }, { method: 'PUT' }],
    ['"host:": API.example.com', { headers: { host: 'api.EXAMPLE.com:443' } }, { headers: { host: 'example.com' } }],
    ['"path:": /Admin/', { path: '/./admin//' }, { path: '/admin/x' }],
    ['"path:template": "/users/{id}"', { path: '/users/77' }, { path: '/users/me' }],
    ['"jwt:plan": pro, "method:": POST', { method: 'POST', claims: { plan: 'pro' } }, { claims: { plan: 'pro' } }],
  ])('{ %s } holds for %j and not for %j', (when, yes, no) => {
    const rule = ruleOf(`    tiers: [{ when: { ${when} }, rate: 1/s, burst: 7 }, { rate: 1/s, burst: 1 }]\n`)
    expect(tierOf(rule, request(yes))?.limit.capacity).toBe(7)
    expect(tierOf(rule, request(no))?.limit.capacity).toBe(1)
  })
})

describe('a cost for each endpoint', () => {
  const { cost } = ruleOf(
    '    rate: 1/s\n    burst: 100\n    cost: { endpoints: { /Search/: 5, /search/**: 2, /free: 0.25 }, default: 3 }\n',
  )

  it.each([
    ['/search', 5],
    ['//SEARCH/?q=1', 5],
    ['/search/deep', 2],
    ['/free', 0.25],
    ['/', 3],
  ])('of %s is %d', (path, expected) => {
    expect(cost.of(request({ path }))).toBe(expected)
  })

  it('is the default where nothing is known, and at most the highest cost', () => {
    expect([cost.unknown, cost.most]).toEqual([3, 5])
  })
})

describe('R13: many tiers', () => {
  it('are found by what the request says, without comparing each of them', () => {
    const tiers = Array.from({ length: 1_000 }, (_, index) => `{ when: { "header:x-tier": t${index} }, rate: 1/s, burst: ${index + 1} }`)
    const rule = ruleOf(`    tiers: [${tiers.join(', ')}]\n`)
    let reads = 0
    for (const { when } of rule.tiers) {
      for (const { source } of when) {
        const { read } = source
        Object.assign(source, {
          read: (requested: Request) => {
            reads += 1
            return read(requested)
          },
        })
      }
    }
    const found = ['t0', 't999', 'none'].map((tier) => tierOf(rule, request({ headers: { 'x-tier': tier } }))?.limit.capacity)
    expect(found).toEqual([1, 1_000, undefined])
    expect(reads).toBeLessThan(20)
  })
})
