import { describe, expect, it } from 'vitest'
import { createLimiter, fixedWindow, memoryStore, type Store, tokenBucket } from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { prometheusMetrics } from '../../src/observe/metrics.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { manualClock } from '../../src/time/manual.ts'
import { failingStore } from '../remote-memory.ts'

function observed(rules: string, store?: Store) {
  const clock = manualClock()
  const metrics = prometheusMetrics()
  const events: DecisionEvent[] = []
  const engine = createEngine({
    policy: parsePolicy(`version: 1\nrules:\n${rules}`),
    store: store ?? memoryStore({ clock }),
    clock,
    observers: [metrics, { onDecision: (event) => void events.push(event) }],
  })
  const decide = (path: string, ip = '1.1.1.1') => engine.decide({ method: 'GET', path, headers: {}, ip })
  /** The series of a metric and their values. */
  const series = (name: string): Record<string, number> =>
    Object.fromEntries(
      [...metrics.text().matchAll(new RegExp(`^${name}\\{(.*)\\} (.*)$`, 'gm'))].map(([, at, value]) => [at, Number(value)]),
    )
  return { clock, engine, metrics, events, decide, series }
}

const sum = (series: Record<string, number>): number => Object.values(series).reduce((all, one) => all + one, 0)

describe('O1: metrics give the block rate', () => {
  const RULES = `  - { name: a, key: [], rate: 1/h, burst: 1 }
  - { name: b, key: [], rate: 1/h, burst: 1 }
  - { name: c, key: [], rate: 100/s, burst: 100 }
`

  it('11 requests of which 10 are refused are 11 decisions and 10 refusals, whatever number of rules applies', async () => {
    const { decide, series } = observed(RULES)
    for (let sent = 0; sent < 11; sent += 1) await decide('/')
    expect(series('sluice_decisions_total')).toEqual({ 'route="",outcome="allowed"': 1, 'route="",outcome="denied"': 10 })
    expect(sum(series('sluice_requests_blocked_total'))).toBe(10)
  })

  it('a rule that charged nothing because another refused is withheld, not allowed', async () => {
    const { decide, series } = observed(RULES)
    for (let sent = 0; sent < 11; sent += 1) await decide('/')
    expect(series('sluice_requests_total')).toMatchObject({
      'rule="c",route="",result="allowed"': 1,
      'rule="c",route="",result="withheld"': 10,
      'rule="a",route="",result="denied"': 10,
      'rule="b",route="",result="denied"': 10,
    })
  })

  it('a refusal counts for the rule that the decision names', async () => {
    const { decide, series } = observed(`  - { name: short, key: [], rate: 1/s, burst: 1 }
  - { name: long, key: [], rate: 1/h, burst: 1 }
`)
    await decide('/')
    expect((await decide('/')).limitName).toBe('long')
    expect(series('sluice_requests_blocked_total')).toEqual({ 'rule="long",route="",reason="quota"': 1 })
  })

  it('a refusal without a store counts for the rule whose policy refuses', async () => {
    const { decide, series } = observed(
      `  - { name: open, key: [], rate: 1/s, burst: 1, onStoreFailure: allow }
  - { name: shut, key: [], rate: 1/s, burst: 1, onStoreFailure: deny }
`,
      failingStore(),
    )
    await decide('/')
    expect(series('sluice_requests_blocked_total')).toEqual({ 'rule="shut",route="",reason="store"': 1 })
    expect(series('sluice_requests_total')).toEqual({
      'rule="open",route="",result="undecided"': 1,
      'rule="shut",route="",result="undecided"': 1,
    })
  })

  it('counts requests that no rule applies to, and exempt ones', async () => {
    const { engine, series } = observed(
      '  - { name: a, match: { path: /api/** }, key: [], rate: 1/h, burst: 1 }\nexempt:\n  - { path: /free }\n',
    )
    for (const path of ['/', '/free', '/api/x']) await engine.decide({ method: 'GET', path, headers: {} })
    expect(series('sluice_decisions_total')).toEqual({ 'route="",outcome="allowed"': 2, 'route="/api/**",outcome="allowed"': 1 })
  })
})

describe('O1: the route of a request', () => {
  const RULES = `  - { name: all, match: { path: /** }, key: [], rate: 100/s, burst: 100 }
  - { name: api, match: { path: /api/** }, key: [], rate: 100/s, burst: 100 }
  - { name: items, match: { path: /api/*/items }, key: [], rate: 100/s, burst: 100 }
  - { name: search, match: { path: /api/search }, key: [], rate: 1/h, burst: 1000, sample: 1000 }
  - { name: keyed, key: ["ip:address"], rate: 100/s, burst: 100 }
`

  it.each([
    ['/', '/**'],
    ['/api', '/api/**'],
    ['/api/7/other', '/api/**'],
    ['/api/7/items', '/api/*/items'],
    // Sampling skips its rule for this request, and the route stays.
    ['/api/search', '/api/search'],
  ])('of %s is the most specific pattern, %s, for every rule that applies', async (path, route) => {
    const { decide, events, series } = observed(RULES)
    await decide(path)
    expect(events.map((event) => event.route)).toEqual([route])
    expect(Object.keys(series('sluice_requests_total')).every((at) => at.includes(`route="${route}"`))).toBe(true)
  })

  it('is never a concrete path, and what the caller names goes before', async () => {
    const { engine, metrics } = observed('  - { name: a, key: ["ip:address"], rate: 1/s, burst: 1 }\n')
    await engine.decide({ method: 'GET', path: '/users/ada', headers: {}, ip: '1.1.1.1' })
    await engine.decide({ method: 'GET', path: '/users/ada', headers: {}, ip: '1.1.1.1', route: '/users/:name' })
    expect(metrics.text()).not.toContain('ada')
    expect(metrics.text()).toContain('sluice_decisions_total{route="/users/:name",outcome="denied"} 1')
  })
})

describe('O6: keys made', () => {
  const ALGORITHMS = [
    ['token bucket', 'rate: 10/s, burst: 20'],
    ['fixed window', 'algorithm: fixed-window, limit: 20, window: 2s'],
    ['sliding window counter', 'algorithm: sliding-window-counter, limit: 20, window: 2s'],
    ['sliding window log', 'algorithm: sliding-window-log, limit: 20, window: 2s'],
  ] as const

  it.each(ALGORITHMS)('%s: the first charge of each key counts, and the first after its state expired', async (_name, limit) => {
    const { clock, decide, series } = observed(`  - { name: r, key: ["ip:address"], ${limit} }\n`)
    for (const ip of ['1.1.1.1', '2.2.2.2', '1.1.1.1', '1.1.1.1', '2.2.2.2']) await decide('/', ip)
    expect(series('sluice_new_keys_total')).toEqual({ 'rule="r"': 2 })
    clock.advance(10_000)
    await decide('/', '1.1.1.1')
    expect(series('sluice_new_keys_total')).toEqual({ 'rule="r"': 3 })
  })

  it('a ramp starts below the capacity, and its new keys count all the same', async () => {
    const clock = manualClock()
    const metrics = prometheusMetrics()
    const limits = { ramped: fixedWindow({ limit: 20, window: '10s', ramp: '5s' }), decimal: tokenBucket({ rate: '0.3/s', burst: 7.5 }) }
    const limiter = createLimiter({ limits, clock, store: memoryStore({ clock }), observers: [metrics] })
    for (const key of ['a', 'b', 'a']) {
      expect((await limiter.check(key)).allowed).toBe(true)
      clock.advance(1_000)
    }
    expect(metrics.text().match(/^sluice_new_keys_total\{.*$/gm)).toEqual([
      'sluice_new_keys_total{rule="ramped"} 2',
      'sluice_new_keys_total{rule="decimal"} 2',
    ])
  })

  it('shadow rules count theirs; refusals, withheld charges and local fallbacks make none', async () => {
    const rules = `  - { name: s, key: ["ip:address"], rate: 1/h, burst: 1, mode: shadow }
  - { name: e, key: [], rate: 1/h, burst: 1, onStoreFailure: local }
  - { name: w, key: ["ip:address"], rate: 1/h, burst: 9, onStoreFailure: local }
`
    const { decide, series } = observed(rules)
    for (const ip of ['1.1.1.1', '2.2.2.2', '1.1.1.1']) await decide('/', ip)
    expect(series('sluice_new_keys_total')).toEqual({ 'rule="e"': 1, 'rule="w"': 1, 'rule="s"': 2 })
    const away = observed(rules, failingStore())
    await away.decide('/')
    expect(away.series('sluice_new_keys_total')).toEqual({})
    expect(away.series('sluice_degraded')).toEqual({ 'rule="e"': 1, 'rule="w"': 1, 'rule="s"': 1 })
  })
})

describe('O4: rules in shadow', () => {
  it('say for themselves whether the store decided them', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, clock })
    const { decide, series } = observed(
      `  - { name: e, key: [], rate: 100/s, burst: 100 }
  - { name: s, key: ["ip:address"], rate: 1/s, burst: 1, mode: shadow }
`,
      store,
    )
    await decide('/')
    expect(series('sluice_decisions_total')).toEqual({ 'route="",outcome="allowed"': 1 })
    expect(series('sluice_degraded')).toEqual({ 'rule="e"': 0, 'rule="s"': 1 })
    expect(series('sluice_store_errors_total')).toEqual({ 'store="memory",kind="memory"': 1 })
    expect(series('sluice_requests_blocked_total')).toEqual({})
  })
})
