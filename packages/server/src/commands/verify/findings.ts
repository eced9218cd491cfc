import type { AnyLimit } from 'sluice'
import type { Tally } from './hammer.ts'

/** The field names are those of the article "Benchmarking Token Bucket Rate Limiters". */
export async function findingsOf(tallies: readonly Tally[], limit: AnyLimit) {
  // The whole test kit would import vitest, which users of the command lack.
  const { audit } = await import('sluice/testing/audit')
  const times = tallies.flatMap(({ first, last }) => (Number.isNaN(first) ? [] : [first, last]))
  const micros = times.length === 0 ? 0 : Math.max(...times) - Math.min(...times)
  const { n, m, burst } = limit.algorithm.envelope(limit.plan)
  const theoreticalMax = Math.floor((burst + (n * micros) / m) / 1e6)
  const admissions = tallies.flatMap(({ allowed }) => allowed)
  const errorKinds: Record<string, number> = {}
  for (const { errors } of tallies) for (const [kind, count] of Object.entries(errors)) errorKinds[kind] = (errorKinds[kind] ?? 0) + count
  const trace = admissions.map((at) => ({ at, cost: 1, allowed: true }))
  return {
    /** Store time between the first and the last answer. */
    seconds: micros / 1e6,
    total: tallies.reduce((sum, { total }) => sum + total, 0),
    allowed: admissions.length,
    errors: Object.values(errorKinds).reduce((sum, count) => sum + count, 0),
    errorKinds,
    /** burst + rate * seconds, rounded down. */
    theoreticalMax,
    /** Percent above `theoreticalMax`; negative if fewer were admitted. */
    overGrantPercent: Math.round((admissions.length / theoreticalMax - 1) * 10_000) / 100,
    /** The most tokens above burst + rate * length in any interval. */
    worstOverGrant: audit(trace, limit).overGrant,
  }
}
