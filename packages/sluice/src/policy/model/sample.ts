import type { Cost, Tier } from './rule.ts'

/** Why a rule cannot be sampled this way; undefined if it can. The counted request pays for all that it represents. */
export function sampleProblem(sample: number, cost: Cost, tiers: readonly Tier[]): string | undefined {
  const least = Math.min(...tiers.map(({ limit }) => limit.capacity))
  const most = cost.most ?? Infinity
  if (most * sample <= least) return undefined
  return `one request in ${sample} is charged ${sample} times up to ${most}, above the capacity ${least} of this rule: it could never pass`
}
