import type { DecisionEvent } from 'sluice'
import { parsePolicy } from 'sluice/policy'
import { expect, it } from 'vitest'
import { createOutage } from '../src/http/outage-metric.ts'

const POLICY = parsePolicy(`version: 1
failure: { processes: 2, outage: 10s, policy: local }
rules:
  - { name: bounded, key: [], rate: 1/s, burst: 5 }
  - { name: open, key: [], rate: 1/s, burst: 5, onStoreFailure: allow }
  - { name: shut, key: [], rate: 1/s, burst: 5, onStoreFailure: deny }
  - { name: seen, key: [], rate: 1/s, burst: 5, mode: shadow }
`)
const RULES = ['bounded', 'open', 'shut', 'seen', 'gone']

function outage() {
  let now = 0
  const { metric, observer } = createOutage(
    () => POLICY,
    'shared',
    () => now,
  )
  const decide = (at: number, more: Partial<DecisionEvent['decision']>): unknown => {
    now = at
    const results = RULES.map((rule) =>
      rule === 'seen' ? ({ rule, result: 'allowed', shadow: true } as const) : ({ rule, result: 'allowed' } as const),
    )
    const base = { outcome: 'allowed', allowed: true, limits: [], at, atMicros: 0, source: 'store' }
    const decision = { ...base, ...more } as DecisionEvent['decision']
    observer.onDecision?.({ limiter: 'policy', store: 'redis', decision, results, durationMs: 1 })
    return metric.read()
  }
  return decide
}

const LOST = { source: 'fallback', degraded: { kind: 'connection', executed: 'no', message: '' } } as const
const counted = (value: number) => [{ labels: { rule: 'bounded' }, value }]

it('counts what passes under a finite bound after the longest outage that the policy expects', () => {
  const decide = outage()
  expect(decide(0, {})).toEqual(counted(0))
  expect(decide(1_000, LOST)).toEqual(counted(0))
  expect(decide(11_000, LOST)).toEqual(counted(0))
  expect(decide(11_001, LOST)).toEqual(counted(1))
  expect(decide(12_000, { ...LOST, allowed: false })).toEqual(counted(1))
  expect(decide(13_000, LOST)).toEqual(counted(2))
})

it('counts in a partial outage, where decisions of other keys or nodes succeed between the failed ones', () => {
  const decide = outage()
  for (let at = 0; at <= 600_000; at += 1_000) decide(at, at % 2_000 === 0 ? LOST : {})
  // 301 decisions failed. The 6 of the first 10 s are within the outage that the policy expects, so 295 are counted.
  expect(decide(600_000, {})).toEqual(counted(295))
})

it('begins again once the store has decided for more than a second without a failure, also if nothing was decided afterwards', () => {
  const decide = outage()
  decide(0, LOST)
  decide(9_000, {})
  expect(decide(10_000, LOST)).toEqual(counted(0))
  expect(decide(10_001, LOST)).toEqual(counted(1))
  decide(10_500, {})
  expect(decide(11_501, LOST)).toEqual(counted(1))
  expect(decide(21_501, LOST)).toEqual(counted(1))
  expect(decide(21_502, LOST)).toEqual(counted(2))
})

it('begins again once the store has decided, which remembered denials and leases do not say', () => {
  const decide = outage()
  decide(0, LOST)
  decide(5_000, { source: 'denied-cache' })
  expect(decide(10_001, LOST)).toEqual(counted(1))
  decide(10_002, {})
  expect(decide(20_002, LOST)).toEqual(counted(1))
  expect(decide(30_003, LOST)).toEqual(counted(2))
})
