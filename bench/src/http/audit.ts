import { setTimeout as later } from 'node:timers/promises'
import { perSecondOf, type Quota, windowOf } from '../contestants/contestant.ts'
import { openPipeline } from '../pipeline.ts'

/** A limit that bites: a window of it lasts a second. */
export const BITING: Quota = { tokens: 50, per: '1s', burst: 50 }
const LOAD = { connections: 64, depth: 1 } as const
/** Requests of one round of the flood. */
const ROUND = 64
/** When the flood begins and how long it lasts, in windows after the first request: it lasts across the end of the window. */
const [BEGINS, LASTS] = [0.8, 0.4] as const

/** The duration of a flood in milliseconds. */
export const FLOOD_MS: number = LASTS * windowOf(BITING) * 1_000

/** What one server let through for one client in a flood around the end of a window. */
export interface ServerGrant {
  readonly total: number
  readonly allowed: number
  /** Milliseconds from before the first request of the flood until after the last answer. */
  readonly floodMs: number
  /** Milliseconds from before the single request that was sent ahead of the flood until after the last answer. */
  readonly elapsedMs: number
}

export interface GrantCounted {
  /** What passed beyond the contestant's promise, in percent of what it promises. */
  readonly overGrantPercent: number
  /** What passed beyond a token bucket of the same numbers. */
  readonly beyondBucketPercent: number
}

/**
 * Floods a server under the limit `BITING` from 64 connections. One request before it starts the window of limiters that count in windows,
 * so that the flood meets the end of that window.
 */
export async function floodServer(port: number, request: Buffer): Promise<ServerGrant> {
  const window = windowOf(BITING) * 1_000
  const pipeline = await openPipeline({ port, ...LOAD, requests: [request] })
  try {
    let [total, allowed] = [0, 0]
    const round = async (count: number): Promise<void> => {
      allowed += (await pipeline.round(count)).get(200) ?? 0
      total += count
    }
    const began = performance.now()
    await round(1)
    await later(window * BEGINS)
    await pipeline.revive()
    const flooded = performance.now()
    while (performance.now() < flooded + FLOOD_MS) await round(ROUND)
    const ended = performance.now()
    return { total, allowed, floodMs: ended - flooded, elapsedMs: ended - began }
  } finally {
    pipeline.close()
  }
}

/**
 * Compares what passed with the promise. A bucket: the request before the flood, then the burst and the refill. Windows: the limit of every
 * window since the first request, with which they begin.
 */
export function grantOf({ allowed, floodMs, elapsedMs }: ServerGrant, promise: 'bucket' | 'window', quota: Quota = BITING): GrantCounted {
  const bucket = 1 + Math.floor(quota.burst + (perSecondOf(quota) * floodMs) / 1_000)
  const windows = quota.burst * (Math.floor(elapsedMs / (windowOf(quota) * 1_000)) + 1)
  const beyond = (permitted: number): number => Math.max(0, (allowed / permitted - 1) * 100)
  return { overGrantPercent: beyond(promise === 'bucket' ? bucket : windows), beyondBucketPercent: beyond(bucket) }
}
