import { describe, expect, it } from 'vitest'
import { problemOf } from '../../src/http/problem.ts'
import type { RequestFacts } from '../../src/identity/request.ts'
import { prometheusMetrics } from '../../src/observe/metrics.ts'
import { createEngine, type Engine, type EngineDecision, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { bench, facts } from './bench.ts'
import { bare, bundleBench } from './bundle-bench.ts'

/** Of 46 bytes, with more readings than anybody would list. */
const BOMB = '/a;%2f..%5c%252e%252e%253b//x/../y;z%2f%5c;%2f'
const FRAGMENT = '/api/1#/edit'
const QUERY = '/q?key=junk#&key=real'

const rules = (...texts: string[]): string => `rules:\n${texts.map((text) => `  - ${text}\n`).join('')}`
const LIMIT = 'rate: 1/h, burst: 3'
const isBad = ({ outcome, reason, allowed }: EngineDecision): boolean => outcome === 'impossible' && reason === 'bad-request' && !allowed

/** Sends requests to an engine, and counts how many passed and how many were refused as bad requests. */
async function fare(engine: Engine, requests: readonly Partial<RequestFacts>[]): Promise<{ passed: number; bad: number }> {
  let [passed, bad] = [0, 0]
  for (const request of requests) {
    const decision = await engine.decide(facts(request))
    if (decision.allowed) passed += 1
    if (isBad(decision)) bad += 1
  }
  return { passed, bad }
}

describe('S9: a target that cannot be read in a bounded number of ways is a bad request', () => {
  it('one path of 46 bytes is charged at no rule, and not at every one', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const many = Array.from(
      { length: 200 },
      (_, index) => `{ name: r${index}, match: { path: /p${index}/** }, key: ["ip:address"], ${LIMIT} }`,
    )
    const engine = createEngine({ policy: parsePolicy(`version: 1\n${rules(...many)}`), store, clock })
    const decision = await engine.decide(facts({ path: BOMB }))
    expect([isBad(decision), decision.rules, decision.violated, store.size]).toEqual([true, [{ name: 'r0', mode: 'enforce' }], ['r0'], 0])
    expect(
      await fare(
        engine,
        Array.from({ length: 40 }, () => ({ path: '/p7/x' })),
      ),
    ).toEqual({ passed: 3, bad: 0 })
  })

  it('what follows a # in a path escapes no rule', async () => {
    const { engine, store } = bench(rules(`{ name: a, match: { path: /api/*/edit }, key: [], ${LIMIT} }`))
    expect(
      await fare(
        engine,
        Array.from({ length: 50 }, () => ({ path: FRAGMENT })),
      ),
    ).toEqual({ passed: 0, bad: 50 })
    expect(store.size).toBe(0)
  })

  it('what follows a # in a query gives no new key', async () => {
    const { engine, store } = bench(rules(`{ name: a, key: ["query:key"], ${LIMIT} }`))
    const spelt = (index: number): string => `/x?key=junk${index}#&key=real`
    expect(
      await fare(
        engine,
        Array.from({ length: 50 }, (_, index) => ({ path: spelt(index) })),
      ),
    ).toEqual({ passed: 0, bad: 50 })
    expect(store.size).toBe(0)
  })

  it.each([
    ['a pattern', '{ name: a, match: { path: /api/** }, key: [], rate: 1/h, burst: 3 }', [true, true, false]],
    ['a key by path', '{ name: a, key: ["path:"], rate: 1/h, burst: 3 }', [true, true, false]],
    ['a key by template', '{ name: a, key: ["ip:address", path:template], rate: 1/h, burst: 3 }', [true, true, false]],
    ['a key by query', '{ name: a, key: ["query:key"], rate: 1/h, burst: 3 }', [false, true, true]],
    [
      'a tier by path',
      '{ name: a, key: [], tiers: [{ when: { "path:": /x }, rate: 1/h, burst: 3 }, { rate: 1/h, burst: 9 }] }',
      [true, true, false],
    ],
    [
      'a tier by query',
      '{ name: a, key: [], tiers: [{ when: { "query:a": x }, rate: 1/h, burst: 3 }, { rate: 1/h, burst: 9 }] }',
      [false, true, true],
    ],
    ['a cost by query', '{ name: a, key: [], rate: 1/h, burst: 3, cost: { from: query:w, max: 2 } }', [false, true, true]],
    ['a cost by endpoint', '{ name: a, key: [], rate: 1/h, burst: 3, cost: { endpoints: { /x: 2 } } }', [true, true, false]],
    ['a sampled rule', '{ name: a, match: { path: /x }, key: [], rate: 1/h, burst: 3, sample: 2 }', [true, true, false]],
    [
      'an exemption that the request has not',
      '{ name: a, match: { path: /x }, key: [], rate: 1/h, burst: 3, exempt: [{ ip: [10.0.0.0/8] }] }',
      [true, true, false],
    ],
    ['the address alone', '{ name: a, key: ["ip:address"], rate: 1/h, burst: 3 }', [false, false, false]],
    ['an exemption by path', '{ name: a, key: [], rate: 1/h, burst: 3, exempt: [{ path: /api/** }] }', [false, false, false]],
    [
      'an exemption that the request has',
      '{ name: a, match: { path: /x }, key: [], rate: 1/h, burst: 3, exempt: [{ ip: [192.0.2.0/24] }] }',
      [false, false, false],
    ],
    ['another method', '{ name: a, match: { path: /api/**, method: POST }, key: [], rate: 1/h, burst: 3 }', [false, false, false]],
    ['another host', '{ name: a, match: { path: /api/**, host: b.example }, key: [], rate: 1/h, burst: 3 }', [false, false, false]],
    ['a rule that is off', '{ name: a, match: { path: /api/** }, key: [], rate: 1/h, burst: 3, mode: off }', [false, false, false]],
  ])('where a rule would read it, and only there: %s', async (_what, rule, bad) => {
    const { engine } = bench(rules(rule))
    const decisions = await Promise.all(
      [BOMB, FRAGMENT, QUERY].map((path) => engine.decide(facts({ path, headers: { host: 'a.example' } }))),
    )
    expect(decisions.map(isBad)).toEqual(bad)
    expect(decisions.map(({ allowed }) => allowed)).toEqual(bad.map((one) => !one))
  })

  it('the caller who names the cost needs none of the rule', async () => {
    const { engine } = bench(rules(`{ name: a, key: [], ${LIMIT}, cost: { from: query:w, max: 2 } }`))
    expect((await engine.decide(facts({ path: QUERY, cost: 1 }))).allowed).toBe(true)
  })

  it('a # in the query leaves the path readable, and what only reads that is charged', async () => {
    const { engine } = bench(rules(`{ name: a, match: { path: /q }, key: [], ${LIMIT} }`))
    expect(
      await fare(
        engine,
        Array.from({ length: 9 }, () => ({ path: QUERY })),
      ),
    ).toEqual({ passed: 3, bad: 0 })
  })

  it('an exemption of the whole policy that does not read it holds, one by path does not', async () => {
    const { engine } = bench(`exempt: [{ ip: [10.0.0.1] }, { path: /free/** }]\n${rules(`{ name: a, key: ["path:"], ${LIMIT} }`)}`)
    expect((await engine.decide(facts({ path: FRAGMENT, ip: '10.0.0.1' }))).exempt).toBeDefined()
    for (const path of ['/free/x#/../../api', `/free/x/../${BOMB}`]) expect(isBad(await engine.decide(facts({ path })))).toBe(true)
  })
})

describe('S9: rules in shadow begin to block nothing', () => {
  const SHADOW = rules(
    `{ name: a, match: { path: /api/** }, key: [], ${LIMIT}, mode: shadow }`,
    `{ name: b, match: { path: /x }, key: [], ${LIMIT}, mode: shadow }`,
    `{ name: per-ip, key: ["ip:address"], ${LIMIT} }`,
    `{ name: seen, key: ["ip:address"], rate: 1/h, burst: 1, mode: shadow }`,
  )

  it.each([BOMB, FRAGMENT])('%s passes and is reported, and the rules that read nothing of it are charged', async (path) => {
    const metrics = prometheusMetrics()
    const { engine } = bench(SHADOW, { observers: [metrics] })
    const first = await engine.decide(facts({ path }))
    expect(first).toMatchObject({ outcome: 'allowed', violated: [], limits: [{ name: 'per-ip', remaining: 2 }] })
    expect(first.shadow).toEqual([
      { rule: 'seen', outcome: 'allowed' },
      { rule: 'a', outcome: 'impossible' },
    ])
    expect(first.rules.map(({ name }) => name)).toEqual(['per-ip', 'seen', 'a'])
    expect(
      await fare(
        engine,
        Array.from({ length: 9 }, () => ({ path })),
      ),
    ).toEqual({ passed: 2, bad: 0 })
    expect(metrics.text()).toContain('sluice_requests_total{rule="a",route="",result="shadow_denied"} 10')
  })

  it('one rule that enforces is enough to refuse, wherever it is', async () => {
    const { engine, store } = bench(`${SHADOW}  - { name: c, match: { path: /y }, key: [], ${LIMIT} }\n`)
    const decision = await engine.decide(facts({ path: FRAGMENT }))
    expect([isBad(decision), decision.limitName, decision.shadow, store.size]).toEqual([true, 'c', [], 0])
  })
})

describe('S9: how a bad request is reported', () => {
  it.each([
    [FRAGMENT, 'The path "/api/1#/edit" has a #; expected a request target without one, %23 in place of it.'],
    [QUERY, 'The query of the path "/q" has a #; expected a request target without one, %23 in place of it.'],
    [`/${'x'.repeat(100)}#secret`, `The path "/${'x'.repeat(59)}"... has a #; expected a request target without one, %23 in place of it.`],
    [
      `${BOMB}?key=secret`,
      `The path ${JSON.stringify(BOMB)} can be read in too many ways; expected one of fewer %2F, %5C, \\, ;, %25, .. and //.`,
    ],
  ])('%s', async (path, detail) => {
    const metrics = prometheusMetrics()
    const { engine } = bench(rules(`{ name: a, match: { path: /** }, key: ["query:key"], ${LIMIT} }`), { observers: [metrics] })
    const decision = await engine.decide(facts({ path }))
    expect(decision).toMatchObject({ outcome: 'impossible', reason: 'bad-request', limitName: 'a', detail, limits: [] })
    expect(decision.retryAfterMs).toBeUndefined()
    if (!decision.allowed)
      expect(problemOf(decision)).toEqual({ type: 'about:blank', title: 'Bad Request', status: 400, detail, reason: 'bad-request' })
    expect(JSON.stringify(decision)).not.toContain('secret')
    // If the path of a request cannot be read, its route is not known, and the label is empty.
    const route = path === QUERY ? '/**' : ''
    expect(metrics.text()).toContain(`sluice_requests_blocked_total{rule="a",route="${route}",reason="bad-request"} 1`)
  })

  it('of several questions only its own', async () => {
    const { engine } = bench(rules(`{ name: a, match: { path: /api/** }, key: [], ${LIMIT} }`))
    const decisions = await engine.decideMany(['/api/x', FRAGMENT, '/api/y', BOMB].map((path) => facts({ path })))
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['allowed', 'impossible', 'allowed', 'impossible'])
    expect(decisions[2]?.limits[0]?.remaining).toBe(1)
  })

  it('by peek and by explain, which charge nothing', async () => {
    const { engine, store } = bench(rules(`{ name: a, key: [], ${LIMIT} }`, `{ name: b, match: { path: /api/** }, key: [], ${LIMIT} }`))
    expect(isBad(await engine.peek(facts({ path: FRAGMENT })))).toBe(true)
    const explained = await engine.explain(facts({ path: FRAGMENT }))
    expect(explained).toMatchObject({ path: '(ambiguous)', unreadable: expect.stringContaining('has a #'), refusedBy: 'b' })
    expect(explained.rules).toMatchObject([{ matches: true }, { matches: false, why: 'it reads what cannot be read' }])
    expect(store.size).toBe(0)
  })

  it('no key of a policy is such a path', () => {
    expect(() => bench(rules(`{ name: a, key: [], tiers: [{ when: { "path:": "/a#b" }, ${LIMIT} }] }`))).toThrow('/a#b')
  })
})

describe('S9: other dialects', () => {
  it('the template reads paths where an endpoint has a cost', async () => {
    const engineOf = (more: string): Engine =>
      createEngine({ policy: parsePolicy(`rate_limits:\n  global: { capacity: 9, refill_rate: 1 }\n${more}`), store: memoryStore() })
    expect(isBad(await engineOf('').decide(facts({ path: BOMB })))).toBe(false)
    expect(isBad(await engineOf('  endpoints: { /x: { cost: 2 } }\n').decide(facts({ path: BOMB })))).toBe(true)
  })

  it('a bundle reads what its selector, its keys and its match name', async () => {
    const limit = { rps: 0.001, burst: 3 }
    const bad = async (rule: object, path: string): Promise<boolean> =>
      isBad(await bundleBench({ rules: [bare(limit, { name: 'a', ...rule })] }).engine.decide(facts({ path, ip: '192.0.2.1' })))
    expect(await bad({ limit_keys: ['query:k'] }, QUERY)).toBe(true)
    expect(await bad({ limit_keys: ['header:k'] }, QUERY)).toBe(false)
    expect(await bad({ match: { 'query:k': 'x' } }, QUERY)).toBe(true)
  })

  it('rules that are found by their condition are found where it cannot be read, and no others', async () => {
    const engineOf = (source: string): Engine =>
      bundleBench({
        rules: Array.from({ length: 20 }, (_, index) =>
          bare({ rps: 0.001, burst: 3 }, { name: `r${index}`, match: { [source]: `v${index}` } }),
        ),
      }).engine
    expect(isBad(await engineOf('query:k').decide(facts({ path: QUERY })))).toBe(true)
    const decision = await engineOf('header:k').decide(facts({ path: QUERY, headers: { k: 'v7' } }))
    expect([decision.allowed, decision.rules]).toEqual([true, [{ name: 'r7', mode: 'enforce' }]])
  })
})
