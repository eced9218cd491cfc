import type { AnyLimit } from 'sluice'
import type { Tally } from './hammer.ts'

/** The result of the test, in the terms of Benchmarking Token Bucket Rate Limiters. */
export interface Findings {
  /** Store time between the first and the last answer, in seconds. */
  readonly seconds: number
  readonly total: number
  readonly allowed: number
  readonly errors: number
  readonly errorKinds: Readonly<Record<string, number>>
  /** burst + rate * seconds, rounded down. */
  readonly theoreticalMax: number
  /** Below 0 if less was admitted than could have been. */
  readonly overGrantPercent: number
  /** The most tokens above burst + rate * t over any interval of the run. */
  readonly worstOverGrant: number
}

/** Merges the tallies of all processes. */
export async function findingsOf(tallies: readonly Tally[], limit: AnyLimit): Promise<Findings> {
  const { audit } = await import('sluice/testing')
  const times = tallies.flatMap(({ first, last }) => (Number.isNaN(first) ? [] : [first, last]))
  const micros = times.length === 0 ? 0 : Math.max(...times) - Math.min(...times)
  const { n, m, burst } = limit.algorithm.envelope(limit.plan)
  const theoreticalMax = Math.floor((burst + (n * micros) / m) / 1e6)
  const admissions = tallies.flatMap(({ allowed }) => allowed)
  const errorKinds: Record<string, number> = {}
  for (const { errors } of tallies) for (const [kind, count] of Object.entries(errors)) errorKinds[kind] = (errorKinds[kind] ?? 0) + count
  const trace = admissions.map((at) => ({ at, cost: 1, allowed: true }))
  return {
    seconds: micros / 1e6,
    total: tallies.reduce((sum, { total }) => sum + total, 0),
    allowed: admissions.length,
    errors: Object.values(errorKinds).reduce((sum, count) => sum + count, 0),
    errorKinds,
    theoreticalMax,
    overGrantPercent: Math.round((admissions.length / theoreticalMax - 1) * 10_000) / 100,
    worstOverGrant: audit(trace, limit).overGrant,
  }
}
