import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { createEngine } from '../../src/create-engine.ts'
import { attempt, LimiterError } from '../../src/errors/limiter-error.ts'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  memoryStore,
  slidingWindowCounter,
  slidingWindowLog,
  tokenBucket,
} from '../../src/index.ts'
import { bench, facts } from '../engine/bench.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import type { Rule } from '../../src/policy/model/rule.ts'
import { manualClock } from '../../src/time/manual.ts'

const policy = (fields: string): Policy => parsePolicy(`version: 1\nrules:\n  - { name: a, key: [], ${fields} }\n`)
const only = ({ rules: [rule] }: Policy): Rule => rule as Rule
const at = (fields: string): unknown => only(policy(fields)).tiers[0]?.limit

describe('a function, a rule, an override of the file and one of a program accept the same limits', () => {
  type Number = string
  const FUNCTIONS: Readonly<Record<string, (limit: Number) => AnyLimit>> = {
    'rate: 1/s, burst: N': (burst) => tokenBucket({ rate: '1/s', burst }),
    'algorithm: fixed-window, limit: N, window: 1m': (limit) => fixedWindow({ limit, window: '1m' }),
    'algorithm: sliding-window-counter, limit: N, window: 1m': (limit) => slidingWindowCounter({ limit, window: '1m' }),
    'algorithm: sliding-window-log, limit: N, window: 1m': (limit) => slidingWindowLog({ limit, window: '1m' }),
    'algorithm: concurrency, limit: N, hold: 1s': (limit) => concurrency({ limit, holdMs: 1_000 }),
  }
  const LIMITS = ['0', '-1', '0.0000001', '0.000001', '0.5', '1', '1.5', '4000', '4000.5', '10000', '4503599627', '4503599628', '1e3']
  const capacityOf = (make: () => AnyLimit | undefined): number | 'refused' => {
    const made = attempt(make)
    return made instanceof LimiterError || made === undefined ? 'refused' : made.capacity
  }

  it.each(Object.keys(FUNCTIONS).flatMap((fields) => LIMITS.map((limit) => [fields, limit] as const)))('%s, N is %s', (fields, limit) => {
    const written = fields.replace('N', limit)
    const rules = 'version: 1\nrules: [{ name: a, key: [header:x], rate: 1/s, burst: 9 }]'
    const [name, ...more] = written.split(', ').map((field) => field.split(': ') as [string, string])
    const given = Object.fromEntries([name, ...more] as [string, string][]) as { rate?: string }
    const engine = createEngine({ policy: parsePolicy(rules), store: memoryStore() })
    expect([
      capacityOf(() => only(policy(written)).tiers[0]?.limit),
      capacityOf(() => parsePolicy(`${rules}\noverrides: [{ rule: a, key: k, ${written} }]`).overrides?.[0]?.limit),
      capacityOf(() => engine.override({ rule: 'a', key: 'k', ...given }).limit),
    ]).toEqual(Array.from({ length: 3 }, () => capacityOf(() => (FUNCTIONS[fields] as (limit: Number) => AnyLimit)(limit))))
  })

  it.each(Object.entries(FUNCTIONS))('%s: a limit below 1 admits calls whose cost is as low', async (_fields, make) => {
    const limiter = createLimiter({ limit: make('0.5'), clock: manualClock() })
    expect((await limiter.check('k')).outcome).toBe('impossible')
    expect((await limiter.check('k', { cost: 0.5 })).outcome).toBe('allowed')
    expect((await limiter.check('k', { cost: 0.5 })).outcome).toBe('denied')
  })
})

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
