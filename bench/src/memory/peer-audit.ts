import type { TraceEntry } from 'sluice/testing'
import type { Quota } from '../contestants/contestant.ts'
import { auditPromise } from '../over-grant.ts'
import { xorshift32 } from '../random-order.ts'
import { type ContestantName, contestantOf } from './contestants/all.ts'
import type { MemoryContestant } from './contestants/contestant.ts'
import { withControlledClock } from './controlled-clock.ts'

export interface PeerAuditInput {
  readonly contestants: readonly ContestantName[]
}

/** What a contestant allowed under a limit that is reached, compared with the limit in every interval. */
export interface PeerGrant {
  readonly requests: number
  readonly allowed: number
  /** Percent that passed beyond what the contestant promises: a bucket, or windows. */
  readonly overGrantPercent: number
  /** Percent that passed beyond a token bucket of the same rate and burst. */
  readonly overBucketPercent: number
}

/** 100 tokens at once, and 1,000 a second. Contestants that count in windows get windows of a tenth of a second. */
const QUOTA: Quota = { tokens: 1_000, per: '1s', burst: 100 }
const REQUESTS = 40_000
/**
 * A flood has about four requests a millisecond, four times as many as the limit permits. They come at whole milliseconds, because the
 * clocks of several contestants are not finer.
 */
const AT_ONCE = 4
const GRAIN = 1_000
/**
 * After every FLOOD requests nobody calls until a whole burst is refilled. Then one request comes, and after a part of a window the next
 * flood. So floods cross the ends of windows.
 */
const FLOOD = 500
const PAUSE = 150_000
const PART = 80_000

/** Audits contestants one after the other. */
export async function auditPeers({ contestants }: PeerAuditInput): Promise<Partial<Record<ContestantName, PeerGrant>>> {
  const grants: Partial<Record<ContestantName, PeerGrant>> = {}
  for (const name of contestants) grants[name] = await auditPeer(contestantOf(name))
  return grants
}

/** Audits on a controlled clock: floods with pauses, at random instants. */
export function auditPeer({ open, promise = 'bucket' }: MemoryContestant, requests: number = REQUESTS): Promise<PeerGrant> {
  return withControlledClock(async (clock) => {
    const { decide, close } = await open([QUOTA], { keys: 10, clock })
    const draw = xorshift32(0x5eed_0012)
    const admitted: TraceEntry[] = []
    for (let request = 1; request <= requests; request += 1) {
      const quiet = request % FLOOD === 0 ? PAUSE : request % FLOOD === 1 ? PART : 0
      clock.shift(quiet + (draw() % AT_ONCE === 0 ? GRAIN : 0))
      const at = clock.now()
      if (await decide('user:1', 1)) admitted.push({ at, cost: 1, allowed: true })
    }
    close?.(['user:1'])
    return {
      requests,
      allowed: admitted.length,
      overGrantPercent: auditPromise(admitted, promise, QUOTA).overGrantPercent,
      overBucketPercent: auditPromise(admitted, 'bucket', QUOTA).overGrantPercent,
    }
  })
}
