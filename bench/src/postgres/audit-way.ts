import { setImmediate as nextTurn, setTimeout as later } from 'node:timers/promises'
import type { Quota } from '../contestants/contestant.ts'
import { auditPromise, percentOf } from '../over-grant.ts'
import { POSTGRES_WAYS } from './ways.ts'
import { type PlaceInput, placeOf } from './place.ts'
import { failureOf } from './sessions.ts'
import type { Opened, Way } from './way.ts'

export interface AuditWayInput extends PlaceInput {
  readonly seconds: number
}

/** What a limiter allowed under one load. Every interval was compared with the limit by the database's clock. */
export interface Audited {
  readonly total: number
  readonly allowed: number
  readonly failures: Readonly<Record<string, number>>
  /** What burst and refill permit in the time that passed. */
  readonly permitted: number
  readonly overGrantPercent: number
}

export interface PostgresGrant {
  readonly name: string
  /** Many callers that call again as soon as they are answered. */
  readonly flood: Audited
  /** One caller that comes a little more often than tokens do. */
  readonly paced: Audited
  /** The worse of both. */
  readonly overGrantPercent: number
}

/** Burst 10, 10 a second: the limit of the over-grant tests on Redis. */
const QUOTA: Quota = { tokens: 10, per: '1s', burst: 10 }
const FLOOD_CALLERS = 16
/** Milliseconds between paced calls. 0.55 tokens are refilled in this time, which a limiter that rounds to whole tokens makes one token. */
const PACE_MS = 55

export async function auditWay({ seconds, ...input }: AuditWayInput): Promise<PostgresGrant> {
  return auditOf(POSTGRES_WAYS[input.way], { seconds, ...input })
}

/** Measures the over-grant of a limiter under two concurrent loads, each on its own key. The loads share the schema, but no connections. */
export async function auditOf(way: Way, { seconds, ...input }: AuditWayInput): Promise<PostgresGrant> {
  const place = await placeOf(input, 'audit')
  const pools = [place.pool(FLOOD_CALLERS), place.pool(1)] as const
  try {
    await way.prepare(pools[0], QUOTA)
    const [one, other] = await Promise.all(pools.map((pool) => way.open(pool, QUOTA, { note: true })))
    const until = performance.now() + seconds * 1_000
    const [flood, paced] = await Promise.all([
      audited(way, one as Opened, { key: 'flood', callers: FLOOD_CALLERS, pauseMs: 0, until }),
      audited(way, other as Opened, { key: 'paced', callers: 1, pauseMs: PACE_MS, until }),
    ])
    return { name: way.name, flood, paced, overGrantPercent: Math.max(flood.overGrantPercent, paced.overGrantPercent) }
  } finally {
    for (const pool of pools) await pool.end()
    await place.drop()
  }
}

interface AuditLoad {
  readonly key: string
  readonly callers: number
  readonly pauseMs: number
  readonly until: number
}

async function audited(way: Way, running: Opened, { key, callers, pauseMs, until }: AuditLoad): Promise<Audited> {
  const { admitted } = running
  if (admitted === undefined) throw new Error(`${way.name} reports no instants`)
  const failures: Record<string, number> = {}
  let total = 0
  const started = performance.now()
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      total += 1
      try {
        await running.invoke(key)
      } catch (error) {
        const code = failureOf(error)
        failures[code] = (failures[code] ?? 0) + 1
        await nextTurn()
      }
      if (pauseMs > 0) await later(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const elapsed = (performance.now() - started) / 1_000
  await running.close()
  const found = auditPromise(admitted, way.promise ?? 'bucket', QUOTA)
  const permitted = Math.floor(QUOTA.burst + QUOTA.tokens * elapsed)
  return { total, allowed: admitted.length, failures, permitted, overGrantPercent: percentOf(found, way) }
}
