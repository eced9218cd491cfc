import { describe, expect, it } from 'vitest'
import { readRequest, type Request, type RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { indexRules } from '../../src/policy/model/match.ts'
import { finish } from '../../src/policy/model/sliced.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import { keyOf, type Rule, tierOf } from '../../src/policy/model/rule.ts'

const TEXT = `
version: 1
store: memory:                       # the line of the manual, as it is there
trustedProxies: [loopback, 10.0.0.0/8]
identifiers: { mode: plain }
headers: { dialect: draft-11, legacy: delta }
failure: { deadline: 20ms, policy: local }
rules:
  - name: global
    algorithm: token-bucket
    rate: 10000/s
    burst: 10000
    key: []
  - name: per-key
    match: { path: /api/**, method: [GET, post] }
    key: [header:X-API-Key]
    tiers:
      - { when: { jwt:plan: enterprise }, rate: 1000/s, burst: 2000 }
      - { rate: 10/s, burst: 20 }
    cost: { from: header:x-request-weight, default: 1, max: 100 }
    mode: enforce
    onStoreFailure: allow
  - name: search
    match: { path: /API/Search/, host: ["*.example.com", localhost] }
    key: [ip:address, path:, method:, const:a]
    rate: 0.333333/s
    burst: 2.5
    cost: 0.5
    mode: shadow
`

const request = (facts: Partial<RequestFacts> = {}): Request =>
  readRequest({ method: 'GET', path: '/', headers: {}, ip: '192.0.2.1', ...facts }, facts.claims, trustProxies([]))
const one = (lines: string): Policy => parsePolicy(`version: 1\nrules:\n  - name: a\n    key: []\n    rate: 1/s\n    burst: 9\n${lines}`)
const only = ({ rules: [rule] }: Policy): Rule => rule ?? expect.fail('no rule')

describe('the native dialect', () => {
  const policy = parsePolicy(TEXT)
  const [global, perKey, search] = policy.rules as [Rule, Rule, Rule]

  it('is read whole', () => {
    expect(policy).toMatchObject({
      dialect: 'native',
      store: 'memory:',
      failure: { deadlineMs: 20, policy: 'local' },
      headers: { dialect: 'draft-11', legacy: 'delta', limit: true, remaining: true, retryAfter: true },
      warnings: [],
      hash: expect.stringMatching(/^[\da-f]{16}$/),
    })
    expect(policy.trustedProxies?.source).toBe('x-forwarded-for')
    expect(policy.rules.map(({ name, mode, onStoreFailure }) => ({ name, mode, onStoreFailure }))).toEqual([
      { name: 'global', mode: 'enforce', onStoreFailure: 'local' },
      { name: 'per-key', mode: 'enforce', onStoreFailure: 'allow' },
      { name: 'search', mode: 'shadow', onStoreFailure: 'local' },
    ])
    expect(global.tiers[0]?.limit).toMatchObject({ capacity: 10_000, windowMs: 1_000 })
    expect(search.tiers[0]?.limit).toMatchObject({ capacity: 2.5, plan: { n: 333_333, m: 1_000_000, burst: 2_500_000 } })
    expect(search.cost.of(request())).toBe(0.5)
  })

  it('chooses the first tier whose conditions hold', () => {
    expect(tierOf(perKey, request({ claims: { plan: 'enterprise' } }))).toMatchObject({
      label: 'jwt:plan=enterprise',
      limit: { capacity: 2_000 },
    })
    expect(tierOf(perKey, request({ claims: { plan: 'Enterprise' } }))).toMatchObject({ label: '', limit: { capacity: 20 } })
    expect(tierOf(perKey, request())?.limit.capacity).toBe(20)
  })

  it('takes keys from requests, and distinguishes absent values from empty ones', () => {
    expect(keyOf(global, request())).toEqual([])
    expect(keyOf(perKey, request({ headers: { 'x-api-key': 'k' } }))).toEqual(['k'])
    expect(keyOf(perKey, request({ headers: { 'x-api-key': '' } }))).toEqual([''])
    expect(keyOf(perKey, request())).toEqual([undefined])
    expect(keyOf(search, request({ path: '/API/search//', method: 'HEAD' }))).toEqual(['192.0.2.1', '/api/search', 'GET', 'a'])
  })

  it.each([
    ['GET', '/', undefined, ['global']],
    ['GET', '/api', undefined, ['global', 'per-key']],
    ['POST', '/api/x/y', undefined, ['global', 'per-key']],
    ['HEAD', '/api/x', undefined, ['global', 'per-key']],
    ['PUT', '/api/x', undefined, ['global']],
    ['get', '//API/../%61pi/./x?y#z', undefined, ['global', 'per-key']],
    ['GET', 'http://evil/api/x', undefined, ['global', 'per-key']],
    ['GET', '/apix', undefined, ['global']],
    ['GET', '/api/search', 'api.example.com', ['global', 'per-key', 'search']],
    ['GET', '/api/SEARCH/?q=1', 'API.Example.com.:443', ['global', 'per-key', 'search']],
    ['DELETE', '/api/search', 'localhost:8080', ['global', 'search']],
    ['GET', '/api/search', 'a.b.example.com', ['global', 'per-key']],
    ['GET', '/api/search', 'example.com', ['global', 'per-key']],
    ['GET', '/api/search', undefined, ['global', 'per-key']],
    ['GET', '/api/search/more', 'localhost', ['global', 'per-key']],
  ])('%s %s at %s matches %j', (method, path, host, names) => {
    const matching = finish(indexRules(policy.rules))(request({ method, path, headers: { host } }))
    expect(matching.map(({ name }) => name)).toEqual(names)
  })

  it.each([
    ['memory', 'memory:'],
    ['redis://u:p@h:6379/0', 'redis://u:p@h:6379/0'],
    ['pglite:./data', 'pglite:./data'],
    ['"pglite:"', 'pglite:'],
  ])('store %s is %s', (text, url) => {
    expect(parsePolicy(`version: 1\nstore: ${text}\nrules: []`).store).toBe(url)
  })

  it('has defaults', () => {
    const plain = one('')
    expect(plain).toMatchObject({ failure: { deadlineMs: 50, policy: 'deny' }, headers: { dialect: 'draft-11', legacy: 'off' } })
    expect(plain.store).toBeUndefined()
    expect(plain.trustedProxies).toBeUndefined()
    expect(only(plain)).toMatchObject({ mode: 'enforce', onStoreFailure: 'deny', match: { when: [] } })
    expect(only(plain).cost.of(request())).toBe(1)
  })

  it('is the same in JSON, with a byte order mark, and with carriage returns', () => {
    const json = '\ufeff{"version": 1, "rules": [{"name": "a", "key": ["ip:address"], "rate": "10/s", "burst": 0.1}]}'
    expect(only(parsePolicy(json, { format: 'json' })).tiers[0]?.limit.plan).toMatchObject({ burst: 100_000 })
    expect(parsePolicy(TEXT.replaceAll('\n', '\r\n')).rules).toHaveLength(3)
  })

  it('separates texts by their hash, and one text is always itself', () => {
    expect(parsePolicy(TEXT).hash).toBe(policy.hash)
    expect(parsePolicy(`${TEXT}#`).hash).not.toBe(policy.hash)
  })

  it('warns of what is probably not meant', () => {
    expect(one('    cost: 10\n').warnings).toEqual([
      'policy.yaml:7:11: rules[0].cost: a cost of 10 is above every burst of this rule (9): such requests are never admitted',
    ])
    expect(
      parsePolicy('version: 1\nrules:\n  - name: a\n    key: []\n    tiers:\n      - { when: { jwt:plan: a }, rate: 1/s, burst: 1 }\n')
        .warnings,
    ).toEqual(['policy.yaml:6:7: rules[0]: requests that none of the tiers matches are not limited by this rule'])
    expect(one('    tiers:\n      - { rate: 1/s, burst: 1 }\n').warnings).toEqual([
      'policy.yaml:3:5: rules[0]: a tier after one without conditions is never used',
    ])
  })

  it('uses the own rate of a rule for requests that none of its tiers matches', () => {
    const rule = only(one('    tiers:\n      - { when: { query:big: "1", jwt:level: 3 }, rate: 1/s, burst: 99 }\n'))
    expect(tierOf(rule, request({ path: '/?big=1', claims: { level: 3 } }))?.limit.capacity).toBe(99)
    expect(tierOf(rule, request({ path: '/?big=1' }))?.limit.capacity).toBe(9)
  })
})

describe('a cost that the client says', () => {
  const header = only(one('    cost: { from: header:X-Weight, default: 2, min: 1.5, max: 100 }\n')).cost
  const query = only(one('    cost: { from: query:n, max: 100 }\n')).cost
  const open = only(one('    cost: { from: query:n }\n')).cost

  it.each([
    [undefined, 2],
    ['3', 3],
    ['3.25', 3.25],
    ['100', 100],
    ['101', 100],
    ['99999999999999999999', 100],
    ['1', 1.5],
    ['0', 1.5],
    ['0.000001', 1.5],
    ['', 2],
    ['-5', 2],
    ['+5', 2],
    ['0x10', 2],
    ['1e9', 2],
    ['1e400', 2],
    ['NaN', 2],
    ['Infinity', 2],
    ['5 ', 2],
    [' 5', 2],
    ['3, -5', 3],
    ['1, -5', 2],
    ['.5', 2],
    ['5.', 2],
    ['1.0000001', 1.5],
    ['3.3333333333333335', 3.333334],
    ['99.9999999', 100],
    ['٣', 2],
  ])('as %j is %d', (text, cost) => {
    expect(header.of(request({ headers: { 'x-weight': text } }))).toBe(cost)
  })

  it('counts as the highest where it is said more than once', () => {
    expect(query.of(request({ path: '/?n=3&n=7&n=2' }))).toBe(7)
    expect(query.of(request({ path: '/?n=x&n=0' }))).toBe(1)
    expect(header.of(request({ headers: { 'x-weight': ['4', '50', 'x'] } }))).toBe(50)
  })

  it('is never more than can be counted exactly', () => {
    expect(open.of(request({ path: `/?n=${'9'.repeat(400)}` }))).toBe(9_007_199_254)
  })
})
