import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { prometheusMetrics } from '../../src/observe/metrics.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { manualClock } from '../../src/time/manual.ts'
import { failingStore } from '../remote-memory.ts'

const lines = (text: string, name: string): string[] => text.split('\n').filter((line) => line.startsWith(`${name}{`))

describe('prometheusMetrics', () => {
  it('counts a limiter by limit, result and reason', async () => {
    const metrics = prometheusMetrics()
    const limits = { wide: tokenBucket({ rate: '9/s', burst: 9 }), narrow: tokenBucket({ rate: '1/s', burst: 1 }) }
    const limiter = createLimiter({ name: 'api', limits, clock: manualClock(), observers: [metrics] })
    for (let index = 0; index < 3; index += 1) await limiter.check('k')
    await limiter.check('k', { cost: 2 })
    expect(lines(metrics.text(), 'sluice_requests_total')).toEqual([
      'sluice_requests_total{rule="wide",route="",result="allowed"} 1',
      'sluice_requests_total{rule="narrow",route="",result="allowed"} 1',
      'sluice_requests_total{rule="wide",route="",result="withheld"} 3',
      'sluice_requests_total{rule="narrow",route="",result="denied"} 2',
      'sluice_requests_total{rule="narrow",route="",result="impossible"} 1',
    ])
    expect(lines(metrics.text(), 'sluice_requests_blocked_total')).toEqual([
      'sluice_requests_blocked_total{rule="narrow",route="",reason="quota"} 2',
      'sluice_requests_blocked_total{rule="narrow",route="",reason="capacity"} 1',
    ])
  })

  it('O4: a store failure of a rule in shadow is undecided and degraded, and blocks nothing', async () => {
    const clock = manualClock()
    const metrics = prometheusMetrics()
    const engineOf = (rules: string) =>
      createEngine({ policy: parsePolicy(`version: 1\nrules:\n${rules}`), store: failingStore(), clock, observers: [metrics] })
    const shadow = '  - { name: s, key: [], rate: 1/s, burst: 1, mode: shadow, onStoreFailure: deny }\n'
    await engineOf(shadow).decide({ method: 'GET', path: '/', headers: {} })
    expect(metrics.text().split('\n')).toEqual(
      expect.arrayContaining([
        'sluice_requests_total{rule="s",route="",result="undecided"} 1',
        'sluice_degraded{rule="s"} 1',
        'sluice_store_errors_total{store="away",kind="connection"} 1',
      ]),
    )
    expect(metrics.text()).not.toContain('shadow_denied')
    await engineOf(`${shadow}  - { name: e, key: [], rate: 1/s, burst: 1, onStoreFailure: deny }\n`).decide({
      method: 'GET',
      path: '/',
      headers: {},
    })
    expect(metrics.text()).toContain('sluice_requests_blocked_total{rule="e",route="",reason="store"} 1')
    expect(metrics.text()).not.toContain('sluice_requests_blocked_total{rule="s"')
  })

  it('distinguishes shadow from enforcement, and a store’s failure from a quota', async () => {
    const metrics = prometheusMetrics()
    const policy = parsePolicy(
      'version: 1\nrules:\n  - { name: s, key: [], rate: 1/s, burst: 1, mode: shadow }\n  - { name: e, key: ["ip:address"], rate: 1/s, burst: 9 }',
    )
    const clock = manualClock()
    const engine = createEngine({ policy, store: memoryStore({ maxKeys: 2, clock }), clock, observers: [metrics] })
    const decide = (ip: string) => engine.decide({ method: 'GET', path: '/', headers: {}, ip, route: '/"a"\n' })
    await decide('1.1.1.1')
    await decide('1.1.1.1')
    expect((await decide('2.2.2.2')).outcome).toBe('undecided')
    expect(lines(metrics.text(), 'sluice_requests_total')).toEqual([
      'sluice_requests_total{rule="e",route="/\\"a\\"\\n",result="allowed"} 2',
      'sluice_requests_total{rule="s",route="/\\"a\\"\\n",result="allowed"} 1',
      'sluice_requests_total{rule="s",route="/\\"a\\"\\n",result="shadow_denied"} 2',
      'sluice_requests_total{rule="e",route="/\\"a\\"\\n",result="undecided"} 1',
    ])
    expect(lines(metrics.text(), 'sluice_requests_blocked_total')).toEqual([
      'sluice_requests_blocked_total{rule="e",route="/\\"a\\"\\n",reason="store"} 1',
    ])
    expect(metrics.text()).toContain('sluice_store_errors_total{store="memory",kind="memory"} 1')
    expect(metrics.text()).not.toContain('1.1.1.1')
  })

  it('keeps a bounded number of series, and a histogram that adds up', async () => {
    const metrics = prometheusMetrics()
    const clock = manualClock()
    const engine = createEngine({
      policy: parsePolicy('version: 1\nrules:\n  - { name: e, key: [], rate: 9000/s, burst: 9000 }'),
      store: memoryStore({ clock }),
      clock,
      observers: [metrics],
    })
    for (let index = 0; index < 2_000; index += 1) await engine.decide({ method: 'GET', path: '/', headers: {}, route: `/r${index}` })
    const total = lines(metrics.text(), 'sluice_requests_total')
    expect(total).toHaveLength(1_001)
    expect(total.at(-1)).toBe('sluice_requests_total{rule="other",route="other",result="other"} 1000')
    expect(metrics.text()).toContain('sluice_decision_duration_seconds_bucket{source="store",le="+Inf"} 2000')
    expect(metrics.text()).toContain('sluice_decision_duration_seconds_count{source="store"} 2000')
  })
})
