import { type Audit, audit, type TraceEntry } from 'sluice/testing'
import type { Contestant, Promised, Quota } from './contestants/contestant.ts'
import { type Algorithm, limitUnder } from './contestants/limits.ts'
import { closedLoop } from './load.ts'
import { worstWindow } from './worst-window.ts'

export interface OverGrantOptions {
  readonly url: string
  readonly callers: number
  readonly seconds: number
  readonly rate: number
  readonly burst: number
  /**
   * Whether to compare every interval with the limit. If decisions do not report the server's time, it is then queried, which costs further
   * commands.
   */
  readonly audited?: boolean
}

/**
 * The requests that one contestant allowed on one key, compared with the permitted number. A percentage below 0 means that fewer were
 * allowed.
 */
export interface OverGrant {
  readonly contestant: string
  readonly total: number
  readonly allowed: number
  readonly errors: number
  /** The number of errors by message. */
  readonly reasons: Readonly<Record<string, number>>
  readonly elapsedMs: number
  /** burst + rate * the requested seconds: the theoretical maximum of the article "Benchmarking Token Bucket Rate Limiters". */
  readonly nominalMaximum: number
  /** burst + rate * the seconds that really passed until the last answer, rounded down. */
  readonly maximum: number
  readonly overNominalPercent: number
  readonly overGrantPercent: number
  /** Round trips to the server per request, and commands per request. */
  readonly callsPerRequest: number
  readonly commandsPerRequest: number
  /** Connections to the server. */
  readonly connections: number
  /** Milliseconds from the first admission by the server's clock until each of the first `MAX_TIMES` admissions, in order. */
  readonly times: readonly number[]
  /** The worst interval by the server's clock, in microseconds, compared with the contestant's promise. */
  readonly audit?: Audit
}

/** Calls one contestant for one key from all callers. Each calls again as soon as it is answered. */
export async function measureOverGrant(contestant: Contestant, options: OverGrantOptions): Promise<OverGrant> {
  const { callers, seconds, rate, burst, audited = false } = options
  const quota: Quota = { tokens: rate, per: '1s', burst }
  const key = `sluice-bench:${process.pid}:grant`
  const running = await contestant.open(options.url, quota, { callers, note: audited || contestant.instants === 'reported' })
  const before = running.wire.sent()
  // The load lasts longer by the refill time of half a token. The last token is refilled exactly at the end of the time, and a caller
  // should still use it.
  const load = await closedLoop(callers, seconds * 1_000 + 500 / rate, async (caller) => running.passed(await running.invoke(key, caller)))
  const sent = running.wire.sent()
  await running.close([key])
  const nominalMaximum = burst + rate * seconds
  const maximum = Math.floor(burst + (rate * load.elapsedMs) / 1_000)
  return {
    contestant: contestant.name,
    total: load.total,
    allowed: load.allowed,
    errors: load.errors,
    reasons: Object.fromEntries(load.reasons),
    elapsedMs: load.elapsedMs,
    nominalMaximum,
    maximum,
    overNominalPercent: (load.allowed / nominalMaximum - 1) * 100,
    overGrantPercent: (load.allowed / maximum - 1) * 100,
    callsPerRequest: (sent.calls - before.calls) / load.total,
    commandsPerRequest: (sent.commands - before.commands) / load.total,
    connections: running.wire.clients.length,
    times: timesOf(running.admitted ?? []),
    ...(running.admitted === undefined ? {} : { audit: auditPromise(running.admitted, contestant.promise ?? 'bucket', quota) }),
  }
}

/** The most admissions that are kept for a plot. A contestant that limits nothing would have millions. */
const MAX_TIMES = 2_000

function timesOf(admitted: readonly TraceEntry[]): number[] {
  const instants = admitted.map(({ at }) => at).toSorted((a, b) => a - b)
  return instants.slice(0, MAX_TIMES).map((at) => (at - (instants[0] as number)) / 1_000)
}

/** What must be known of a limiter to compute its over-grant: whose clock it decides by, and how the instants of its decisions are read. */
export interface Timing {
  readonly instants?: 'reported' | 'own' | 'read' | 'after' | 'before'
  readonly clock?: 'client' | 'server'
}

/**
 * The over-grant in percent. If the limiter decides by a client's clock, or if its instants are inexact, a request may seem to pass before
 * its token is refilled. Then only whole requests count as over-grant.
 */
export function percentOf({ overGrant, overGrantPercent, permitted }: Audit, { instants, clock }: Timing): number {
  const rough = clock === 'client' || instants === 'before' || instants === 'after'
  return rough ? (Math.floor(overGrant) / permitted) * 100 : overGrantPercent
}

const ALGORITHMS: Readonly<Record<Promised, Algorithm>> = {
  bucket: 'token-bucket',
  window: 'fixed-window',
  counter: 'sliding-window-counter',
  log: 'sliding-window-log',
}

/**
 * Finds the interval in which admitted requests exceed a promise most. The promise of a log is `burst` requests in any window, without a
 * refill.
 */
export function auditPromise(admitted: readonly TraceEntry[], promise: Promised, quota: Quota): Audit {
  if (promise !== 'log') return audit(admitted, limitUnder(ALGORITHMS[promise], quota))
  const { from, to, count } = worstWindow(
    admitted.map(({ at }) => at),
    quota,
  )
  const overGrant = Math.max(0, count - quota.burst)
  return { overGrant, overGrantPercent: (overGrant / quota.burst) * 100, from, to, admitted: count, permitted: quota.burst }
}
