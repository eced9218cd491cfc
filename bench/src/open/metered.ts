import { perSecondOf, type Promised, type Quota, windowOf } from '../contestants/contestant.ts'
import { figure } from '../render/columns.ts'
import type { OverGrant } from '../result/table.ts'
import { poissonArrivals } from './arrivals.ts'
import type { Arrivals, MeteredRound } from './lane-order.ts'
import { openLoop, type Target } from './open-loop.ts'

/** A way under a limit. */
export interface Limited extends Target {
  /** The most requests that the limiter promises to let pass for one key in this time. */
  permitted(elapsedMs: number): number
  close(): Promise<void>
}

/** Milliseconds: more than two windows. Some libraries count in whole seconds, so that a window cannot be shorter than one. */
const METERED_MS = 2_500
/**
 * The limit is an eighth of the arrivals. If a limiter limited nothing, it would then let pass more than four times what any promise
 * permits.
 */
const LIMITED = 1 / 8
/** Some limiters use a client's clock, which counts whole milliseconds. The permitted number allows for one millisecond more. */
const CLOCK_MS = 1

/** Measures a limiter under a limit far below the arrivals. Requests that pass beyond the limit are over-grant. */
export async function metered(
  open: (quota: Quota) => Promise<Limited>,
  { perSecond, seed }: Pick<Arrivals, 'perSecond' | 'seed'>,
): Promise<MeteredRound> {
  const limit = Math.max(1, Math.round(perSecond * LIMITED))
  const limited = await open({ tokens: limit, per: '1s', burst: limit })
  try {
    const { total, allowed, refused, undecided, elapsedMs } = await openLoop(limited, poissonArrivals(perSecond, METERED_MS, seed))
    return { total, allowed, refused, undecided, permitted: limited.permitted(elapsedMs) }
  } finally {
    await limited.close()
  }
}

/**
 * The most requests that may pass in this time. For a bucket or a sliding window counter, it is the burst and the refill. For windows, it
 * is the limit of every window that overlaps the time.
 */
export function permittedOf(quota: Quota, promise: Promised, elapsedMs: number): number {
  const seconds = (elapsedMs + CLOCK_MS) / 1_000
  if (promise === 'bucket' || promise === 'counter') return Math.floor(quota.burst + perSecondOf(quota) * seconds)
  return quota.burst * (Math.ceil(seconds / windowOf(quota)) + 1)
}

/**
 * The over-grant of a round, in percent of what was permitted. It is never below 0, because a token that came after the last request could
 * not be used.
 */
export function meteredOver(round: MeteredRound): OverGrant {
  const { allowed, permitted } = round
  return ifBiting((Math.max(0, allowed - permitted) / permitted) * 100, round)
}

/**
 * The measured over-grant in percent. If the limit permitted at least as many requests as were decided, over-grant was not possible, and
 * the result says so.
 */
export function ifBiting(percent: number, { total, undecided, permitted }: Omit<MeteredRound, 'allowed' | 'refused'>): OverGrant {
  const decided = total - undecided
  if (percent > 0 || decided > permitted) return percent
  return { notAudited: `${figure(decided)} of ${figure(total)} requests were decided, and ${figure(permitted)} were permitted` }
}
