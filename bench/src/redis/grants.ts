import type { Audit } from 'sluice/testing'
import { measureOverGrant } from '../over-grant.ts'
import { type Way, wayOf } from './ways.ts'

/** Burst 10, 10 a second, 64 callers on one key: the over-grant test of Benchmarking Token Bucket Rate Limiters. */
export const GRANT = { callers: 64, rate: 10, burst: 10 } as const

export interface GrantInput {
  readonly url: string
  readonly seconds: number
  readonly way: Way
}

/** What a way let through on one key, audited over every interval of the server's clock. */
export interface Grant {
  readonly name: string
  readonly allowed: number
  readonly total: number
  readonly errors: number
  readonly overGrantPercent: number
  readonly audit: Audit
}

export async function auditGrant({ url, seconds, way }: GrantInput): Promise<Grant> {
  const contestant = wayOf(way)
  const { allowed, total, errors, audit } = await measureOverGrant(contestant, { url, seconds, audited: true, ...GRANT })
  if (audit === undefined) throw new Error(`${contestant.name} reported no instants`)
  return { name: contestant.name, allowed, total, errors, overGrantPercent: percentOf(audit, contestant.instants === 'before'), audit }
}

/** Where instants may be a few commands early only whole requests count: nobody is accused for a fraction of one. */
function percentOf({ overGrant, overGrantPercent, permitted }: Audit, rough: boolean): number {
  return rough ? (Math.floor(overGrant) / permitted) * 100 : overGrantPercent
}
