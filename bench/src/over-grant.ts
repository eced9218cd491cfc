import { type AnyLimit, fixedWindow, tokenBucket } from 'sluice'
import { type Audit, audit } from 'sluice/testing'
import { type Contestant, type Quota, windowOf } from './contestants/contestant.ts'
import { closedLoop } from './load.ts'

export interface OverGrantOptions {
  readonly url: string
  readonly callers: number
  readonly seconds: number
  readonly rate: number
  readonly burst: number
  /** Also query the server's time where the contestant's decisions do not report it, which costs further commands. */
  readonly audited?: boolean
}

/** What one contestant let through on one key, against what it may. Percentages below 0: less than the most was let through. */
export interface OverGrant {
  readonly contestant: string
  readonly total: number
  readonly allowed: number
  readonly errors: number
  /** Message -> how often. */
  readonly reasons: Readonly<Record<string, number>>
  readonly elapsedMs: number
  /** burst + rate * the seconds requested: the article's theoretical maximum. */
  readonly nominalMaximum: number
  /** The same for the time that really passed until the last answer, cut to whole requests. */
  readonly maximum: number
  readonly overNominalPercent: number
  readonly overGrantPercent: number
  /** Trips to the server and commands, per request. */
  readonly callsPerRequest: number
  readonly commandsPerRequest: number
  /** The worst interval on the server's clock, in microseconds, held against what the contestant promises. */
  readonly audit?: Audit
}

/** Sets all callers on one key of one contestant, as fast as they are answered. */
export async function measureOverGrant(contestant: Contestant, options: OverGrantOptions): Promise<OverGrant> {
  const { callers, seconds, rate, burst, audited = false } = options
  const quota: Quota = { tokens: rate, per: '1s', burst }
  const key = `sluice-bench:${process.pid}:grant`
  const running = await contestant.open(options.url, quota, { callers, note: audited || contestant.instants === 'reported' })
  const before = running.wire.sent()
  // Half a token's time longer: the last token falls due at the end exactly, and should find a caller.
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
    ...(running.admitted === undefined ? {} : { audit: audit(running.admitted, promiseOf(contestant, quota)) }),
  }
}

/** What the contestant promises to keep to, as the audit reads it. */
function promiseOf({ promise = 'bucket' }: Contestant, quota: Quota): AnyLimit {
  const { tokens, per, burst } = quota
  if (promise === 'bucket') return tokenBucket({ rate: { tokens, per }, burst })
  return fixedWindow({ limit: burst, window: windowOf(quota) * 1_000 })
}
