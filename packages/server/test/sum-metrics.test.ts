import { prometheusMetrics } from 'sluice/observe'
import { describe, expect, it } from 'vitest'
import { countersOf, sumMetrics } from '../src/workers/sum-metrics.ts'

const family = (name: string, type: string, ...series: readonly string[]): string =>
  [`# HELP ${name} About it.`, `# TYPE ${name} ${type}`, ...series].join('\n')

describe('metrics of several processes', () => {
  it('are added where they count, and kept where they measure', () => {
    const one = [
      family('a_total', 'counter', 'a_total{rule="x y",route=""} 3', 'a_total{rule="z",route=""} 1'),
      family(
        'b_seconds',
        'histogram',
        'b_seconds_bucket{le="0.1"} 1',
        'b_seconds_bucket{le="+Inf"} 2',
        'b_seconds_sum 0.5',
        'b_seconds_count 2',
      ),
      family('sluice_overgrant_bound', 'gauge', 'sluice_overgrant_bound{rule="x"} 5'),
      family('sluice_lease_tokens', 'gauge', 'sluice_lease_tokens{state="leased"} 7'),
    ].join('\n')
    const other = [
      family('sluice_lease_tokens', 'gauge', 'sluice_lease_tokens{state="leased"} 2'),
      family('a_total', 'counter', 'a_total{rule="x y",route=""} 4'),
      family(
        'b_seconds',
        'histogram',
        'b_seconds_bucket{le="0.1"} 0',
        'b_seconds_bucket{le="+Inf"} 1',
        'b_seconds_sum 0.25',
        'b_seconds_count 1',
      ),
      family('sluice_overgrant_bound', 'gauge', 'sluice_overgrant_bound{rule="x"} 4', 'sluice_overgrant_bound{rule="y"} +Inf'),
    ].join('\n')
    expect(sumMetrics([one, '', `${other}\n`])).toBe(
      `${[
        family('a_total', 'counter', 'a_total{rule="x y",route=""} 7', 'a_total{rule="z",route=""} 1'),
        family(
          'b_seconds',
          'histogram',
          'b_seconds_bucket{le="0.1"} 1',
          'b_seconds_bucket{le="+Inf"} 3',
          'b_seconds_sum 0.75',
          'b_seconds_count 3',
        ),
        family('sluice_overgrant_bound', 'gauge', 'sluice_overgrant_bound{rule="x"} 5', 'sluice_overgrant_bound{rule="y"} +Inf'),
        family('sluice_lease_tokens', 'gauge', 'sluice_lease_tokens{state="leased"} 9'),
      ].join('\n')}\n`,
    )
  })

  it('are those of one where there is one', () => {
    const metrics = prometheusMetrics()
    const limits = [] as const
    const decision = { outcome: 'allowed', allowed: true, limits, at: 0, atMicros: 0, source: 'store' } as const
    metrics.onDecision({
      limiter: 'l',
      store: 's',
      route: '/a "b" {c}',
      decision,
      results: [{ rule: 'r', result: 'allowed' }],
      durationMs: 1,
    })
    expect(sumMetrics([metrics.text()])).toBe(metrics.text())
    expect(sumMetrics([metrics.text(), metrics.text()])).toContain(
      'sluice_requests_total{rule="r",route="/a \\"b\\" {c}",result="allowed"} 2\n',
    )
  })

  it('keep of a process that has ended what it counted', () => {
    const text = [family('a_total', 'counter', 'a_total 3'), family('b', 'gauge', 'b 3'), family('c', 'histogram', 'c_count 2')].join('\n')
    expect(countersOf(text)).toBe([family('a_total', 'counter', 'a_total 3'), family('c', 'histogram', 'c_count 2')].join('\n'))
    expect(countersOf('')).toBe('')
  })
})
