import type { Algorithm } from '../contestants/limits.ts'

/** The figures of the comparison table in the article "Rate Limiting at Scale", as printed there. Sizes are for 10,000 keys. */
export interface ArticleRow {
  readonly approach: string
  readonly bytes: number
  readonly p99Ms: number
  readonly drift: string
  readonly bursts: string
  readonly scales: string
}

const [KILO, MEGA] = [1_000, 1_000_000]

export const ARTICLE: Readonly<Record<Algorithm, ArticleRow>> = {
  'fixed-window': {
    approach: 'Fixed Window (Redis)',
    bytes: 400 * KILO,
    p99Ms: 0.8,
    drift: '10-15 %',
    bursts: 'Poor',
    scales: 'High',
  },
  'sliding-window-log': {
    approach: 'Sliding Window Log (Redis)',
    bytes: 2.5 * MEGA,
    p99Ms: 2.1,
    drift: '<0.1 %',
    bursts: 'Good',
    scales: 'Medium (Memory bound)',
  },
  'sliding-window-counter': {
    approach: 'Sliding Window Counter',
    bytes: 600 * KILO,
    p99Ms: 1.2,
    drift: '1-3 %',
    bursts: 'Moderate',
    scales: 'High',
  },
  'token-bucket': {
    approach: 'Token Bucket (Lua Atomic)',
    bytes: 800 * KILO,
    p99Ms: 0.6,
    drift: '<0.5 %',
    bursts: 'Excellent',
    scales: 'Very High',
  },
}

/** Its other figures. */
export const QUOTED = {
  notAtomicDrift: '5-12 %',
  databaseP99: '15-30 ms added',
  memoryP99: '<1 ms',
  logsOf100000: 'gigabytes',
  perSecond: 1_000_000,
} as const
