import fc from 'fast-check'
import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { type BucketState, tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { CompiledLimit } from '../../src/algorithms/algorithm.ts'

export const SEED = 20_261_121
export const START = 1_763_692_800_123_456

/**
 * Rates that make one token in whole microseconds or not, in a day, or in a microsecond. Bursts of one token, of many, and with decimals.
 */
export const BUCKETS = [
  { tokens: '10', per: '1s', burst: '10' },
  { tokens: '3', per: '1s', burst: '1' },
  { tokens: '7', per: '1s', burst: '13' },
  { tokens: '333', per: '1s', burst: '333' },
  { tokens: '100', per: '1min', burst: '20' },
  { tokens: '5000', per: '1h', burst: '5000' },
  { tokens: '1', per: '1d', burst: '1' },
  { tokens: '1000000', per: '1s', burst: '1000000' },
  { tokens: '1234567', per: '1d', burst: '1234567' },
  { tokens: '0.333333', per: '7s', burst: '2.5' },
  { tokens: '333.333333', per: '1s', burst: '10000' },
  { tokens: '0.000001', per: '30s', burst: '0.5' },
  { tokens: '17', per: '1234567us', burst: '99.999999' },
]

/** A limit as text, for the kernel and the oracle alike. */
export type BucketInput = (typeof BUCKETS)[number]

export const limits = fc.constantFrom(...BUCKETS)
/** In microseconds, by how much time moves: not at all, by up to 3 microseconds, two seconds, a day or five years, or backwards. */
export const jump = fc.oneof(
  { weight: 6, arbitrary: fc.nat(2_000_000) },
  { weight: 2, arbitrary: fc.nat(3) },
  { weight: 2, arbitrary: fc.nat(86_400_000_000) },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.nat(5 * 31_557_600_000_000) },
  { weight: 1, arbitrary: fc.nat(2_000_000).map((back) => -back) },
)
export const share = fc.oneof(fc.constant('token' as const), fc.constant('burst' as const), fc.double({ min: 0, max: 1.2, noNaN: true }))

export function limitOf({ tokens, per, burst }: BucketInput): CompiledLimit<BucketPlan, BucketState> {
  return tokenBucket({ rate: { tokens, per }, burst })
}

export function costOf(part: 'token' | 'burst' | number, burst: string): number {
  if (part === 'token') return 1
  if (part === 'burst') return Number(burst)
  return Math.max(1, Math.round(part * Number(burst) * 1_000_000)) / 1_000_000
}
