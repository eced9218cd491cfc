import type { AlgorithmName, AnyLimit } from '../../algorithms/algorithm.ts'
import { type Form, LIMIT, requireForm } from '../../errors/options.ts'
import { MAX_MICROS } from '../../time/micros.ts'
import { defined } from './defined.ts'

/** A limit, as `explain` describes it. */
export interface LimitFacts {
  /** The name of the algorithm in a policy. */
  readonly algorithm: AlgorithmName
  /** The burst of a token bucket; the limit of every other algorithm. */
  readonly capacity: number
  /** Exact refill of a token bucket, such as `10/s`; absent for others. */
  readonly rate?: string
  /** Milliseconds that replenish the capacity, or the policy's period. */
  readonly windowMs: number
}

const PERIOD: Form = [(value) => typeof value === 'number' && value > 0, 'a number of milliseconds above 0']

/**
 * Describes a limit; `windowMs` replaces the limit's own period.
 * @throws LimiterError INVALID_OPTIONS for an invalid limit or period
 */
export function limitFacts(limit: AnyLimit, windowMs?: number): LimitFacts {
  requireForm('limitFacts', 'limit', limit, LIMIT)
  if (windowMs !== undefined) requireForm('limitFacts', 'windowMs', windowMs, PERIOD)
  const { algorithm, plan, capacity } = limit
  const { n, m } = algorithm.envelope(plan)
  const rate = algorithm.name === 'token-bucket' ? rateText(n, m) : undefined
  return { algorithm: algorithm.name, capacity, ...defined({ rate }), windowMs: windowMs ?? limit.windowMs }
}

const UNITS = [
  ['s', 1_000_000n],
  ['min', 60_000_000n],
  ['h', 3_600_000_000n],
  ['d', 86_400_000_000n],
  ['w', 604_800_000_000n],
] as const
const MICRO = 1_000_000n
/** In micro-tokens. */
const MAX_TOKENS = BigInt(Number.MAX_SAFE_INTEGER)

/** Writes `n` micro-tokens in `m` microseconds exactly: as whole tokens per unit of time, else with decimals, else per several units. */
export function rateText(n: number, m: number): string {
  const [micro, per] = [BigInt(n), BigInt(m)]
  for (const step of [MICRO, 1n])
    for (const [unit, length] of UNITS) {
      const tokens = (micro * length) / per
      if (tokens >= MICRO && tokens <= MAX_TOKENS && (micro * length) % (per * step) === 0n) return `${decimal(tokens)}/${unit}`
    }
  const factor = MICRO / gcd(micro, MICRO)
  const scale = per * factor <= BigInt(MAX_MICROS) && micro * factor <= MAX_TOKENS ? factor : 1n
  return `${decimal(micro * scale)}/${lengthText(per * scale)}`
}

function lengthText(micros: bigint): string {
  const [unit, length] = UNITS.findLast(([, one]) => micros % one === 0n) ?? (micros % 1_000n === 0n ? ['ms', 1_000n] : ['us', 1n])
  return `${micros / length}${unit}`
}

function decimal(micro: bigint): string {
  const digits = String(micro).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b)
}
