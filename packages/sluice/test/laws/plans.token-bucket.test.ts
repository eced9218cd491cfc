import { describe, expect, it } from 'vitest'
import { affordable, after, floorDiv, planOf, reduced, spanOf } from '../../src/algorithms/bucket-plan.ts'
import { roughly, weighted } from '../../src/algorithms/counter-weight.ts'
import { microCost, toMicroTokens } from '../../src/algorithms/decimal.ts'
import { parseRate, type Rate } from '../../src/algorithms/rate.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { LimiterError } from '../../src/errors/limiter-error.ts'
import { usedOf } from '../../src/limiter/held-change.ts'
import { seeded } from '../../src/testing/random.ts'
import { draws } from '../draws.ts'

/** Makes a bucket. Returns the burst of its plan, or the error for a bucket that cannot be computed exactly. */
function made(tokens: number | string, per: string | number, burst: number | string): string | number {
  try {
    return tokenBucket({ rate: { tokens, per }, burst }).plan.burst
  } catch (error) {
    if (error instanceof LimiterError) return `${error.code}: ${error.message}`
    throw error
  }
}

const TIME = 'it must fill within a hundred years'
const SIZE = 'exact whole numbers end there'

describe('the largest burst that whole numbers carry', () => {
  it.each([
    // A hundred years have 36,525 days.
    [1, '1d', 36_525, TIME],
    [1, '36525d', 1, TIME],
    [3, '36525d', 3, TIME],
    // 2^53 / 10^6 - 10^6 - 2, whole parts of it.
    [1_000_000, '1s', 9_006_199_252, SIZE],
    // The rate with the most digits for which a burst of one token is still exact: floor((2^53 - 1) / n) is 1,000,003.
    ['9007.172233', '1s', 1, SIZE],
  ] as const)('of %s in %s is %s', (tokens, per, largest, why) => {
    expect(made(tokens, per, largest)).toBe(largest * 1e6)
    expect(made(tokens, per, largest + 1)).toBe(
      `LIMIT_NOT_EXACT: token bucket of rate ${tokens} per ${per} and burst ${largest + 1}: the largest burst at this rate is ${largest} (${why})`,
    )
    expect(made(tokens, per, `${largest}.000001`)).toContain(`the largest burst at this rate is ${largest} (${why})`)
  })

  it('reports a rate as it was written', () => {
    const of = (rate: Rate): string => {
      try {
        return String(tokenBucket({ rate, burst: 9_007_199_254 }).plan.burst)
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(of('1/d')).toMatch(/^token bucket of rate 1\/d and burst /)
    expect(of({ tokens: 1, per: '1d' })).toMatch(/^token bucket of rate 1 per 1d and burst /)
    expect(of({ tokens: 1, per: 86_400_000 })).toMatch(/^token bucket of rate 1 per 86400000 ms and burst /)
  })

  it('is none where a rate has too many digits or is too slow', () => {
    const round = 'the rate has too many digits or is too slow to be exact; round it'
    // One n-th more than above: floor((2^53 - 1) / n) is 1,000,002.
    expect(made('9007.181240', '1s', 1)).not.toContain(round)
    expect(made('9007.181241', '1s', 1)).toBe(`LIMIT_NOT_EXACT: token bucket of rate 9007.181241 per 1s and burst 1: ${round}`)
    expect(made('0.5', '36525d', 1)).toContain(round)
    const slow = 'the rate is too slow to be exact; the slowest takes about 285 years for a token'
    expect(made('0.000001', '9007199254us', '0.000001')).not.toContain(slow)
    expect(made('0.000001', '9007199255us', '0.000001')).toBe(
      `LIMIT_NOT_EXACT: token bucket of rate 0.000001 per 9007199255us and burst 0.000001: ${slow}`,
    )
  })
})

describe('the arithmetic of buckets, against whole numbers without end', () => {
  const ceil = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

  it('counts how many tokens have flowed in, and when the next ones will have', () => {
    const random = seeded(11)
    const below = (most: number): number => Math.floor(random() * most)
    for (let count = 0; count < draws(30_000, 3_000); count += 1) {
      const [n, m] = reduced(1 + below(count % 3 === 0 ? 10 : 1_000_000), 1 + below(count % 2 === 0 ? 100 : 1_000_000_000))
      const plan = planOf(n, m, 1_000_000)
      const unit = count % 2 === 0 ? plan.perToken : plan.perMicro
      const size = count % 2 === 0 ? 1_000_000n : 1n
      const zero = 1_763_692_800_000_000 + below(1_000)
      const rest = n === 1 ? 0 : below(n)
      // At a tie, a microsecond off it, anywhere, and before zero.
      const tie = after(plan, unit, zero, rest, 1 + below(50))
      const time = [tie, tie - 1, tie + 1, zero + below(1e9), zero - below(100)][count % 5] as number
      const elapsed = (BigInt(time) - BigInt(zero)) * BigInt(n) - BigInt(rest)
      const expected = elapsed <= 0n ? 0n : elapsed / (size * BigInt(m))
      // As kernels call it: within what a bucket holds.
      if (expected > 9_000_000_000n) continue
      expect(affordable(plan, unit, zero, rest, time)).toBe(Number(expected))
      const many = 1 + below(1_000)
      expect(after(plan, unit, zero, rest, many)).toBe(zero + Number(ceil(BigInt(rest) + BigInt(many) * size * BigInt(m), BigInt(n))))
    }
  })

  it('knows how long any amount flows, and rounds down below 0 too', () => {
    const random = seeded(12)
    for (let count = 0; count < draws(20_000, 2_000); count += 1) {
      const [n, m] = reduced(1 + Math.floor(random() * 1_000_000), 1 + Math.floor(random() * 1_000_000))
      const micro = Math.floor(random() * 100_000_000)
      const { micros, rest } = spanOf(planOf(n, m, 1_000_000), micro)
      const [whole, left] = [(BigInt(micro) * BigInt(m)) / BigInt(n), (BigInt(micro) * BigInt(m)) % BigInt(n)]
      expect([micros, rest]).toEqual([Number(whole), Number(left)])
      const [a, b] = [BigInt(micro) - 50_000_000n, BigInt(n)]
      expect([floorDiv(a, b) * b <= a, (floorDiv(a, b) + 1n) * b > a]).toEqual([true, true])
    }
  })

  it('weighs what is left of a window, rounded up', () => {
    const random = seeded(13)
    for (let count = 0; count < draws(20_000, 2_000); count += 1) {
      const quanta = 1 + Math.floor(random() * 1_000_000)
      const left = Math.floor(random() * (quanta + 1))
      const previous = Math.floor(random() * 1e12)
      expect(weighted(previous, left, quanta)).toBe(Number(ceil(BigInt(previous) * BigInt(left), BigInt(quanta))))
    }
  })

  it.each([
    [1_000_000, 1, 1_000_000],
    [1_000_001, 10, 100_000],
    [9_999_999, 10, 999_999],
    [60_000_000, 100, 600_000],
    [3_155_760_000_000_000, 10_000_000_000, 315_576],
  ])('takes a window of %s us whose plan is not known in steps of %s', (window, quantum, quanta) => {
    expect(roughly(window)).toEqual({ quantum, quanta })
  })
})

describe('decimals', () => {
  it('of six places are themselves, in every double and a few roundings off it', () => {
    const random = seeded(6)
    for (let count = 0; count < draws(20_000, 2_000); count += 1) {
      const micro = 1 + Math.floor(random() ** 4 * 1e15)
      const value = micro / 1_000_000
      expect(toMicroTokens(value)).toBe(micro)
      const sum = value / 3 + value / 3 + value / 3
      if (value < 1e7) expect(toMicroTokens(sum)).toBe(micro)
      // A seventh decimal is never rounded away.
      if (value < 1e8) expect(toMicroTokens(Number(`${value.toFixed(6)}5`))).toBeUndefined()
    }
  })

  it.each([
    [0, 0],
    ['0', 0],
    [-1, undefined],
    [-0.5, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [0.000001, 1],
    [1.000001, 1_000_001],
    [1.0000001, undefined],
    [9_007_199_254, 9_007_199_254_000_000],
    [9_007_199_255, undefined],
    ['9007199254.740991', 9_007_199_254_740_991],
    ['9007199254.740992', undefined],
    ['1.5', 1_500_000],
    ['1e3', undefined],
    // What comes of computing with decimals, and what nobody computed.
    [0.1 + 0.2, 300_000],
    [1.1 * 3, 3_300_000],
    [0.000001 * 3, 3],
    [100_000_000.1 + 0.2, 100_000_000_300_000],
    [100 / 3, undefined],
    [0.3000001, undefined],
    [5.000000001, undefined],
    [0.0000009, undefined],
    [100_000_000.00000003, undefined],
  ])('%s is %s micro-tokens', (value, micro) => {
    expect(toMicroTokens(value)).toBe(micro)
  })

  it.each([
    ['5', '"5"'],
    [0, '0'],
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    [1.0000001, '1.0000001'],
    [undefined, 'undefined'],
    [null, 'null'],
  ])('%s is no cost', (cost, shown) => {
    const computed = typeof cost === 'number' && cost > 0
    const hint = computed ? '; round what was computed: Number(cost.toFixed(6))' : ' (to read without charging, use peek)'
    const form = `expected a number above 0 and at most 9007199254 with at most six decimals${hint}`
    expect(() => microCost(cost)).toThrow(`cost is ${shown}, ${form}`)
    expect(microCost(0.000001)).toBe(1)
  })

  it.each([9_007_199_255, 1e10, 1e300, Infinity])('%d is too large: the message names the largest cost, and no rounding', (cost) => {
    const form = 'and at most 9007199254 with at most six decimals'
    expect(() => microCost(cost)).toThrow(new RegExp(`^cost is .*, expected a number above 0 ${form}$`))
    expect(() => usedOf(cost)).toThrow(new RegExp(`^the actual cost is .*, expected a number of at least 0 ${form}$`))
    expect([microCost(9_007_199_254), usedOf(9_007_199_254)]).toEqual([9_007_199_254_000_000, 9_007_199_254_000_000])
  })
})

describe('rates', () => {
  const read = (rate: Rate): unknown => {
    try {
      return parseRate(rate)
    } catch (error) {
      return error instanceof LimiterError ? `${error.code}: ${error.message}` : error
    }
  }

  it.each([
    ['10/s', 10_000_000, 1_000_000],
    [' 100 / min ', 100_000_000, 60_000_000],
    ['0.5/s', 500_000, 1_000_000],
    ['10/30s', 10_000_000, 30_000_000],
    [{ tokens: 1.5, per: '250ms' }, 1_500_000, 250_000],
    [{ tokens: '3', per: '1d' }, 3_000_000, 86_400_000_000],
  ] as const)('%o is %s micro-tokens every %s us', (rate, micro, per) => {
    expect(read(rate)).toEqual({ micro, per })
  })

  it.each(['', '10', '10/', '/s', '/', '10/s/s', '10/s/', 'x/s', '0/s', '-1/s', '1e3/s', { tokens: 0, per: '1s' }] as const)(
    '%o is not one',
    (rate) => {
      const form = 'expected tokens with at most six decimals per duration, such as 10/s, 100/min, 0.5/s or 10/30s'
      expect(read(rate)).toBe(`INVALID_RATE: ${JSON.stringify(rate)} is not a rate: ${form}`)
    },
  )

  it.each(['10/soon', '10/0s', '10/-1s', { tokens: 1, per: 0 }] as const)('%o has no period', (rate) => {
    expect(read(rate)).toMatch(/^INVALID_RATE: .* is not a rate: its period must be /)
  })
})

describe('tokenBucket refuses by name', () => {
  const refusal = (options: object): string => {
    try {
      tokenBucket({ rate: '10/s', burst: 10, ...options })
    } catch (error) {
      if (error instanceof LimiterError) return `${error.code}: ${error.message}`
      throw error
    }
    return 'nothing'
  }

  it.each([0, -5, Number.NaN, 1e309, '0x10', '5 ', '', 1.0000001, 9_007_199_255])('a burst of %s', (burst) => {
    const form = 'expected tokens above 0 and at most 9007199254, with at most six decimals'
    expect(refusal({ burst })).toBe(`INVALID_BURST: ${typeof burst === 'string' ? JSON.stringify(burst) : burst} is not a burst: ${form}`)
  })

  it('an option it does not know', () => {
    expect(refusal({ limit: 5 })).toMatch(/^INVALID_OPTIONS: .*unknown option limit; known are rate, burst/)
    expect(refusal({})).toBe('nothing')
  })

  it('and says for how long the burst is, in milliseconds rounded up', () => {
    const windowMs = (rate: string, burst: number): number => tokenBucket({ rate, burst }).windowMs
    expect(windowMs('10/s', 10)).toBe(1_000)
    expect(windowMs('1/1us', 1)).toBe(1)
    // Two tokens at 3/s take 666,666 2/3 microseconds, which is rounded up to 667 ms.
    expect(windowMs('3/s', 2)).toBe(667)
    expect(windowMs('3/3ms', 2)).toBe(2)
    // Two milliseconds and a seventh of a microsecond.
    expect(windowMs('7/14000001us', 1)).toBe(2_001)
  })
})
