import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { parseRate } from '../../src/algorithms/rate.ts'
import { reduced } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { limitFacts, rateText } from '../../src/policy/model/limit-facts.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { MAX_MICROS } from '../../src/time/micros.ts'

describe('the facts of a limit', () => {
  it.each([
    ['rate: 10/s, burst: 20', { algorithm: 'token-bucket', capacity: 20, rate: '10/s', windowMs: 2_000 }],
    ['rate: 100/min, burst: 20', { algorithm: 'token-bucket', capacity: 20, rate: '100/min', windowMs: 12_000 }],
    ['algorithm: fixed-window, limit: 5, window: 1m', { algorithm: 'fixed-window', capacity: 5, windowMs: 60_000 }],
    ['algorithm: sliding-window-counter, limit: 5, window: 1m', { algorithm: 'sliding-window-counter', capacity: 5, windowMs: 60_000 }],
    ['algorithm: sliding-window-log, limit: 5, window: 1m', { algorithm: 'sliding-window-log', capacity: 5, windowMs: 60_000 }],
    ['algorithm: concurrency, limit: 5, hold: 30s', { algorithm: 'concurrency', capacity: 5, windowMs: 30_000 }],
  ])('of %s are those of the policy', (fields, facts) => {
    const [rule] = parsePolicy(`version: 1\nrules: [{ name: a, key: [], ${fields} }]`).rules
    expect(rule?.tiers.map(({ limit }) => limitFacts(limit))).toEqual([facts])
  })

  it('have the period that the policy states, if it states one', () => {
    expect(limitFacts(tokenBucket({ rate: '1/s', burst: 5 }), 60_000).windowMs).toBe(60_000)
  })
})

describe('the text of a rate', () => {
  const textOf = (rate: string): string => {
    const { micro, per } = parseRate(rate)
    return rateText(...reduced(micro, per))
  }

  it.each([
    ['10/s', '10/s'],
    ['600/min', '10/s'],
    ['100/min', '100/min'],
    ['10/30s', '20/min'],
    ['0.5/s', '30/min'],
    ['5000/h', '5000/h'],
    ['1/day', '1/d'],
    ['7/w', '1/d'],
    ['3/w', '3/w'],
    ['1/30d', '1/30d'],
    ['10/11s', '1/1100ms'],
    ['10/7s', '864000/w'],
    ['0.016667/s', '1.00002/min'],
    ['1/1333us', '1/1333us'],
    ['0.000001/90001us', '1/90001s'],
    ['0.000001/5000w', '0.000001/5000w'],
  ])('%s is %s', (rate, text) => expect(textOf(rate)).toBe(text))

  it('is the same rate when a policy has it', () => {
    const micro = fc.oneof(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1, max: MICRO * 1_000 }),
      fc.maxSafeInteger().map(Math.abs),
    )
    const per = fc.oneof(
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.integer({ min: 1, max: 100_000 }).map((s) => s * MICRO),
    )
    fc.assert(
      fc.property(
        micro.filter((one) => one > 0),
        fc.oneof(per, fc.integer({ min: 1, max: MAX_MICROS })),
        (tokens, micros) => {
          const [n, m] = reduced(tokens, micros)
          const read = parseRate(rateText(n, m))
          expect(reduced(read.micro, read.per)).toEqual([n, m])
        },
      ),
      { seed: 5, numRuns: 2_000 },
    )
  })
})
