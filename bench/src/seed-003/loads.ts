import type { LaneInput } from '../redis/lane-input.ts'
import type { Depth } from '../result/suite-result.ts'
import type { Way } from '../redis/ways.ts'

/**
 * The contestants of every load: the three of the article "Benchmarking Token Bucket Rate Limiters", and Sluice. The article's Lua program
 * comes first, because the first one is the baseline.
 */
export const WAYS: readonly Way[] = ['lua-article', 'multi-command', 'watch', 'sluice', 'bare', 'leases']

/**
 * A scenario of the article "Benchmarking Token Bucket Rate Limiters": all callers share a key (`hot_key`), or each has its own
 * (`per_user`).
 */
export interface Load {
  readonly scenario: 'hot_key' | 'per_user'
  readonly callers: number
  /** Whether a quick run measures it, too. */
  readonly quick: boolean
}

export const LOADS: readonly Load[] = [
  { scenario: 'hot_key', callers: 1, quick: true },
  { scenario: 'hot_key', callers: 16, quick: false },
  { scenario: 'hot_key', callers: 64, quick: true },
  { scenario: 'hot_key', callers: 256, quick: false },
  { scenario: 'per_user', callers: 1, quick: false },
  { scenario: 'per_user', callers: 16, quick: false },
  { scenario: 'per_user', callers: 64, quick: true },
  { scenario: 'per_user', callers: 256, quick: false },
]

export function loadsOf(depth: Depth, scenario: Load['scenario']): Load[] {
  return LOADS.filter((load) => load.scenario === scenario && (depth === 'full' || load.quick))
}

export function textOf({ scenario, callers }: Pick<Load, 'scenario' | 'callers'>): string {
  return `${scenario}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`
}

export function inputsOf({ scenario, callers }: Load): LaneInput[] {
  return WAYS.map((way) => ({ way, callers, keys: scenario === 'hot_key' ? 'one' : 'own' }))
}
