import type { Audit } from 'sluice/testing'
import { measureOverGrant, percentOf } from '../over-grant.ts'
import { type Way, wayOf } from './ways.ts'

/** Burst 10 and 10 a second: the over-grant test of the article "Benchmarking Token Bucket Rate Limiters". */
const GRANT = { rate: 10, burst: 10 } as const

export interface GrantInput {
  readonly url: string
  readonly seconds: number
  readonly way: Way
  /** Callers on the one key. */
  readonly callers: number
}

/** The requests that a limiter allowed on one key. Every interval was compared with the limit by the server's clock. */
export interface Grant {
  readonly name: string
  readonly allowed: number
  readonly total: number
  readonly errors: number
  /** `nominalMaximum` is burst + rate * the requested seconds. `maximum` has the seconds that really passed instead. */
  readonly nominalMaximum: number
  readonly maximum: number
  /** `allowed` compared with `nominalMaximum`; below 0 if fewer were allowed. */
  readonly overNominalPercent: number
  /** Connections to the server. */
  readonly connections: number
  /** Milliseconds from the first admission by the server's clock until each of the first admissions, in order. */
  readonly times: readonly number[]
  readonly overGrantPercent: number
  readonly audit: Audit
}

export async function auditGrant({ url, seconds, way, callers }: GrantInput): Promise<Grant> {
  const contestant = wayOf(way)
  const { allowed, total, errors, maximum, nominalMaximum, overNominalPercent, connections, audit, times } = await measureOverGrant(
    contestant,
    { url, seconds, audited: true, callers, ...GRANT },
  )
  if (audit === undefined) throw new Error(`${contestant.name} reported no instants`)
  const overGrantPercent = percentOf(audit, contestant)
  const counts = { total, allowed, errors, maximum, nominalMaximum, overNominalPercent }
  return { name: contestant.name, ...counts, connections, overGrantPercent, audit, times }
}
