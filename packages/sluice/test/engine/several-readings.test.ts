import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { bench, facts } from './bench.ts'
import { requestOf, bare, bundle, bundleBench } from './bundle-bench.ts'

const SPELLINGS = [
  '/api%2Fx',
  '/api;a/x',
  '/free/..;/api/x',
  '/free/..%2fapi/x',
  '/%2561pi/x',
  '/api\\x',
  '/api%5Cx',
  '/free/%252e%252e/api/x',
  '//host/api/x',
]
const PATHOLOGICAL = `//a/${'..;/%2f%5c%3b%2541//../%255c..%252f'.repeat(20)}`

describe('S9: a path is matched in every reading that an upstream may take', () => {
  it.each(SPELLINGS)('%s does not escape a rule that is used up', async (path) => {
    const { engine } = bench('rules: [{ name: a, match: { path: /api/** }, key: ["ip:address"], rate: 1/h, burst: 1 }]')
    expect((await engine.decide(facts({ path: '/api/x' }))).allowed).toBe(true)
    expect((await engine.decide(facts({ path }))).allowed).toBe(false)
    expect((await engine.explain(facts({ path }))).rules[0]).toMatchObject({ matches: true })
  })

  it.each(['path:', 'path:template'])('no spelling has a bucket of its own in a rule by %s', async (source) => {
    const { engine } = bench(`rules: [{ name: a, match: { path: /api/** }, key: ["${source}"], rate: 1/h, burst: 1 }]`)
    expect((await engine.decide(facts({ path: '/api/x' }))).allowed).toBe(true)
    for (const path of SPELLINGS) expect([path, (await engine.decide(facts({ path }))).allowed]).toEqual([path, false])
  })

  it('what differs by the order of reading has one bucket for all', async () => {
    const { engine } = bench('rules: [{ name: a, match: { path: /api/** }, key: ["path:"], rate: 1/h, burst: 2 }]')
    let allowed = 0
    for (let index = 0; index < 20; index += 1) if ((await engine.decide(facts({ path: `/api/j${index};%2f..%2fx` }))).allowed) allowed += 1
    for (let index = 0; index < 20; index += 1) if ((await engine.decide(facts({ path: `${PATHOLOGICAL}/${index}` }))).allowed) allowed += 1
    expect(allowed).toBe(2)
  })

  it('a rule of any reading applies, also where another reading has a rule', async () => {
    const { engine } = bench(`
rules:
  - { name: api, match: { path: /api/** }, key: [], rate: 1/h, burst: 9 }
  - { name: free, match: { path: /free/** }, key: [], rate: 1/h, burst: 9 }
  - { name: other, match: { path: /other }, key: [], rate: 1/h, burst: 9 }
`)
    const names = async (path: string) => (await engine.decide(facts({ path }))).rules.map(({ name }) => name)
    expect(await names('/free/..;/api/x')).toEqual(['api', 'free'])
    expect(await names('/elsewhere;x')).toEqual([])
  })

  it('an exemption by path holds only where every reading is exempt', async () => {
    const { engine } = bench('exempt: [{ path: /free/** }]\nrules: [{ name: a, key: [], rate: 1/h, burst: 99 }]')
    const exempt = async (path: string) => (await engine.decide(facts({ path }))).exempt !== undefined
    for (const path of ['/free/x', '/free/x;v=1', '/free/a%2Fb', '/FREE//x']) expect([path, await exempt(path)]).toEqual([path, true])
    for (const path of ['/free/..;/api/x', '/free/..%2fapi/x', '/free%2F..%2Fapi', '/api/../free/x', '//free/x', PATHOLOGICAL])
      expect([path, await exempt(path)]).toEqual([path, false])
  })

  it('of tiers by path the strictest that may be meant is used', async () => {
    const { engine } = bench(`
rules:
  - name: a
    key: []
    tiers:
      - { when: { "path:": /api/x }, rate: 1/h, burst: 1 }
      - { when: { "path:": /cheap }, rate: 100/h, burst: 100 }
      - { rate: 10/h, burst: 10 }
`)
    const capacity = async (path: string) => (await engine.explain(facts({ path }))).rules[0]?.limit?.capacity
    expect([await capacity('/api/x'), await capacity('/cheap'), await capacity('/y')]).toEqual([1, 100, 10])
    for (const path of SPELLINGS) expect([path, await capacity(path)]).toEqual([path, 1])
    expect(await capacity('/cheap;x')).toBe(10)
  })

  it('the endpoint with the highest cost of all readings is charged', async () => {
    const { engine } = bench(
      'rules: [{ name: a, key: [], rate: 1/h, burst: 99, cost: { endpoints: { /api/x: 7, /free/**: 3 }, default: 2 } }]',
    )
    const cost = async (path: string) => (await engine.explain(facts({ path }))).rules[0]?.cost
    for (const path of SPELLINGS) expect([path, await cost(path)]).toEqual([path, 7])
    expect([await cost('/free;x/y'), await cost('/y;x')]).toEqual([3, 2])
  })

  it.each([{ pathPrefix: '/api/' }, { pathExact: '/api/x' }, { pathExact: '/none', pathPrefix: '/api' }])(
    'selectors of a bundle read as well: %j',
    async (selector) => {
      const { engine } = bundleBench(bundle({ a: { selector, rules: [bare({ rps: 1, burst: 1 })] } }))
      expect((await engine.decide(requestOf({ path: '/api/x' }))).allowed).toBe(true)
      for (const path of [...SPELLINGS, PATHOLOGICAL])
        expect([path, (await engine.decide(requestOf({ path }))).allowed]).toEqual([path, false])
    },
  )
})

describe('S8: a value that appears twice and feeds something else than a key', () => {
  const twice = (name: string, ...texts: string[]): Partial<RequestFacts> => ({ headers: { [name]: texts } })

  it('does not hold for a tier that is better than the next', async () => {
    const { engine } = bench(`
rules: [{ name: a, key: [], tiers: [{ when: { "header:x-plan": gold }, rate: 9/h, burst: 9 }, { rate: 1/h, burst: 1 }] }]
`)
    const capacity = async (more: Partial<RequestFacts>) => (await engine.explain(facts(more))).rules[0]?.limit?.capacity
    expect(await capacity({ headers: { 'x-plan': 'gold' } })).toBe(9)
    expect([await capacity(twice('x-plan', 'gold', 'x')), await capacity(twice('x-plan', 'gold', 'gold'))]).toEqual([1, 1])
  })

  it('does not evade a tier that is worse than the next', async () => {
    const { engine } = bench(`
rules:
  - { name: a, key: [], tiers: [{ when: { "header:x-plan": abuser }, rate: 1/h, burst: 1 }, { rate: 9/h, burst: 9 }] }
  - { name: b, key: [], tiers: [{ when: { "ua:bot": true }, rate: 1/h, burst: 2 }, { rate: 9/h, burst: 9 }] }
  - { name: c, key: [], tiers: [{ when: { "cookie:p": [x, y] }, rate: 1/h, burst: 3 }] }
`)
    const capacities = async (more: Partial<RequestFacts>) => (await engine.explain(facts(more))).rules.map(({ limit }) => limit?.capacity)
    expect(await capacities({})).toEqual([9, 9, undefined])
    expect(
      await capacities({ headers: { 'x-plan': ['other', 'abuser'], 'user-agent': ['Mozilla/5.0', 'curl/8'], cookie: 'p=a; p=y' } }),
    ).toEqual([1, 2, 3])
  })

  it('is no reason for an exemption', async () => {
    const { engine } = bench(`
trustedProxies: [10.0.0.1]
exempt: [{ header: { x-internal: "1" } }]
rules: [{ name: a, key: [], rate: 1/h, burst: 9 }]
`)
    const exempt = async (more: Partial<RequestFacts>) => (await engine.decide(facts({ ip: '10.0.0.1', ...more }))).exempt !== undefined
    expect([
      await exempt({ headers: { 'x-internal': '1' } }),
      await exempt(twice('x-internal', '1', '1')),
      await exempt(twice('x-internal', '1', '0')),
    ]).toEqual([true, false, false])
  })

  it('is charged by the rule it may match and by its else', async () => {
    const rules = [
      bare({ rps: 9, burst: 9 }, { name: 'enterprise', match: { 'header:x-plan': 'enterprise' } }),
      bare({ rps: 1, burst: 1 }, { name: 'free' }),
    ]
    const { engine } = bundleBench({ rules })
    const names = async (more: Partial<RequestFacts>) =>
      (await engine.explain(requestOf(more))).rules.filter(({ matches }) => matches).map(({ name }) => name)
    expect(await names({ headers: { 'x-plan': 'enterprise' } })).toEqual(['enterprise'])
    expect(await names(twice('x-plan', 'enterprise', 'x'))).toEqual(['enterprise', 'free'])
    expect(await names(twice('x-plan', 'y', 'x'))).toEqual(['free'])
  })

  it('does not fall through to the next source of an identity', async () => {
    const clock = manualClock()
    const text = `
rate_limits:
  identity: { header: x-api-key, tiers: { known: gold } }
  tenants: { gold: { capacity: 9, refill_rate: 9 }, default: { capacity: 3, refill_rate: 0.001 } }
`
    const engine = createEngine({ policy: parsePolicy(text), store: memoryStore({ clock }), clock })
    let allowed = 0
    for (let index = 0; index < 10; index += 1)
      if ((await engine.decide(facts({ ip: `192.0.2.${index}`, headers: { 'x-api-key': ['known', `junk${index}`] } }))).allowed)
        allowed += 1
    expect(allowed).toBe(3)
  })

  it('two tokens count as no token', async () => {
    const claims = () => ({ sub: 'user' })
    const { engine } = bench('rules: [{ name: a, key: ["jwt:sub"], rate: 1/h, burst: 9 }]', { claims })
    const key = async (more: Partial<RequestFacts>) => (await engine.explain(facts(more))).rules[0]?.key?.[0]?.value
    const raw = { headers: { authorization: 'Bearer a' }, rawHeaders: ['Authorization', 'Bearer a', 'authorization', 'Bearer b'] }
    expect([
      await key({ headers: { authorization: 'Bearer a' } }),
      await key(raw),
      await key(twice('authorization', 'Bearer a', 'Bearer b')),
    ]).toEqual(['user', null, null])
  })
})
