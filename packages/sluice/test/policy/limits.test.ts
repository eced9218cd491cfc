import { describe, expect, it } from 'vitest'
import { bench, facts } from '../engine/bench.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import type { Rule } from '../../src/policy/model/rule.ts'

const policy = (fields: string): Policy => parsePolicy(`version: 1\nrules:\n  - { name: a, key: [], ${fields} }\n`)
const only = ({ rules: [rule] }: Policy): Rule => rule as Rule
const at = (fields: string): unknown => only(policy(fields)).tiers[0]?.limit

describe('limits of all algorithms', () => {
  it.each([
    ['rate: 10/s, burst: 20', 'token-bucket', 20, 2_000],
    ['algorithm: token-bucket, rate: 1/min, burst: 0.5', 'token-bucket', 0.5, 30_000],
    ['algorithm: fixed-window, limit: 100, window: 1m', 'fixed-window', 100, 60_000],
    ['algorithm: sliding-window-counter, limit: 2.5, window: 1500', 'sliding-window-counter', 2.5, 1_500],
    ['algorithm: fixed-window, limit: 10, window: 90d', 'fixed-window', 10, 7_776_000_000],
    ['algorithm: sliding-window-log, limit: "10", window: 1h', 'sliding-window-log', 10, 3_600_000],
    ['algorithm: concurrency, limit: 10, hold: 30s', 'concurrency', 10, 30_000],
  ])('%s is a %s of %d over %d ms', (fields, name, capacity, windowMs) => {
    expect(at(fields)).toMatchObject({ algorithm: { name }, capacity, windowMs })
  })

  it('take where a window begins, and its soft start', () => {
    expect(at('algorithm: fixed-window, limit: 10, window: 1m, align: key, ramp: 30s')).toMatchObject({
      plan: { align: 'key', ramp: 30_000_000 },
      phased: true,
    })
    expect(at('algorithm: fixed-window, limit: 10, window: 1m')).toMatchObject({ plan: { align: 'clock', ramp: 0 } })
  })

  it('U3: warn of a window that is a bare number, as it may be meant as seconds', () => {
    expect(policy('algorithm: sliding-window-log, limit: 10, window: 60').warnings).toEqual([
      expect.stringContaining(
        "rules[0].window: 60 has no unit: write '60s' for seconds or '60ms' for milliseconds; it is taken for milliseconds",
      ),
    ])
    expect(policy('algorithm: sliding-window-log, limit: 10, window: 60000').warnings).toEqual([])
  })

  it('warn of the double rate of a fixed window, where it is chosen', () => {
    expect(policy('algorithm: fixed-window, limit: 100, window: 1m').warnings).toEqual([
      'policy.yaml:3:36: rules[0]: a fixed window may admit 200 around its end, twice its limit; sliding-window-counter or token-bucket does not',
    ])
    expect(policy('algorithm: sliding-window-counter, limit: 100, window: 1m').warnings).toEqual([])
  })

  it.each([
    ['algorithm: fixed-window, limit: 5', 'rules[0].window is missing: expected a number and a unit'],
    ['algorithm: fixed-window, window: 1m', 'rules[0].limit is missing: expected a number above 0'],
    ['algorithm: fixed-window, limit: 0, window: 1m', 'rules[0].limit is 0: expected a number above 0'],
    ['algorithm: fixed-window, limit: -3, window: 1m', 'rules[0].limit is -3'],
    ['algorithm: fixed-window, limit: 1e309, window: 1m', 'rules[0].limit is 1e309'],
    ['algorithm: fixed-window, limit: 5, window: 0s', 'rules[0].window is "0s"'],
    ['algorithm: fixed-window, limit: 5, window: 3 fortnights', 'rules[0].window is "3 fortnights"'],
    ['algorithm: fixed-window, limit: 5, window: 1m, align: wall', 'rules[0].align is "wall": expected clock, first, key'],
    ['algorithm: fixed-window, limit: 5, window: 1m, ramp: 2m', 'rules[0].ramp: fixedWindow: ramp'],
    ['algorithm: fixed-window, limit: 5, window: 1m, align: first, ramp: 2s', 'rules[0].ramp: fixedWindow: ramp goes with'],
    ['algorithm: sliding-window-log, limit: 10001, window: 1m', 'rules[0].limit: slidingWindowLog'],
    ['algorithm: concurrency, limit: 5', 'rules[0].hold is missing: expected a number and a unit'],
    ['algorithm: concurrency, limit: 4001, hold: 30s', 'rules[0].limit: concurrency: limit is 4001, the largest is 4000'],
    ['algorithm: concurrency, limit: 5, hold: 31d', 'rules[0].hold: concurrency: holdMs is 2678400000, expected 1 to 2592000000'],
    ['algorithm: concurrency, limit: 5, window: 30s', 'rules[0].window is not a field of concurrency: expected limit, hold'],
    ['algorithm: concurrency, limit: 5, hold: 30s, sample: 2', 'a concurrency limit counts every request'],
    [
      'algorithm: sliding-window-counter, limit: 5, window: 1m, align: key',
      'rules[0].align is not a field of sliding-window-counter: expected limit, window',
    ],
    ['algorithm: sliding-window-counter, rate: 5/s, burst: 5', 'rules[0].burst is not a field of sliding-window-counter'],
    ['rate: 5/s, burst: 5, limit: 3', 'rules[0].limit is not a field of token-bucket: expected rate, burst'],
    ['rate: 0/s, burst: 5', 'rules[0].rate is "0/s": expected tokens per duration'],
    ['rate: -1/s, burst: 5', 'rules[0].rate is "-1/s"'],
    ['rate: 1e309/s, burst: 5', 'rules[0].rate is "1e309/s"'],
    ['rate: Infinity/s, burst: 5', 'rules[0].rate is "Infinity/s"'],
    ['rate: 1/parsec, burst: 5', 'rules[0].rate is "1/parsec"'],
    ['rate: 1/s, burst: .inf', 'rules[0].burst is .inf: expected a number above 0'],
    ['rate: 1/s, burst: NaN', 'rules[0].burst is "NaN"'],
    ['rate: 1/s, burst: 0x10', 'rules[0].burst is 0x10'],
  ])('%s is refused', (fields, message) => {
    expect(() => policy(fields)).toThrow(message)
  })

  it('apply by tier, each with the algorithm it names', async () => {
    const { engine, clock } = bench(`
rules:
  - name: a
    key: ["header:x-key"]
    algorithm: sliding-window-log
    tiers:
      - { when: { jwt:plan: pro }, algorithm: token-bucket, rate: 1/s, burst: 3 }
      - { when: { jwt:plan: team }, algorithm: fixed-window, limit: 2, window: 1h, align: first }
      - { limit: 1, window: 10s }
overrides: [{ rule: a, key: vip, algorithm: sliding-window-counter, limit: 4, window: 1m }]
`)
    const admitted = async (plan: string, key = 'k'): Promise<number> => {
      let count = 0
      while ((await engine.decide(facts({ claims: { plan }, headers: { 'x-key': key } }))).allowed) count += 1
      return count
    }
    expect([await admitted('pro'), await admitted('team'), await admitted('free'), await admitted('pro', 'vip')]).toEqual([3, 2, 1, 4])
    clock.advance(10_000)
    expect([await admitted('pro'), await admitted('team'), await admitted('free')]).toEqual([3, 0, 1])
  })
})
