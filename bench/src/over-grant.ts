import { tokenBucket } from 'sluice'
import { type Audit, audit } from 'sluice/testing'
import type { Bucket, Contestant } from './contestants/contestant.ts'
import { closedLoop } from './load.ts'

export interface OverGrantOptions {
  readonly url: string
  readonly callers: number
  readonly seconds: number
  readonly rate: number
  readonly burst: number
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
  /** burst + rate * the seconds asked for: the article's theoretical maximum. */
  readonly nominalMaximum: number
  /** The same for the time that really passed until the last answer, cut to whole requests. */
  readonly maximum: number
  readonly overNominalPercent: number
  readonly overGrantPercent: number
  /** Trips to the server and commands, per request. */
  readonly callsPerRequest: number
  readonly commandsPerRequest: number
  /** The worst interval on the store's own clock, in microseconds, where the contestant learns it. */
  readonly audit?: Audit
}

/** Sets all callers on one key of one contestant, as fast as they are answered. */
export async function measureOverGrant(contestant: Contestant, options: OverGrantOptions): Promise<OverGrant> {
  const { callers, seconds, rate, burst } = options
  const bucket: Bucket = { key: `sluice-bench:${process.pid}:grant`, rate, burst }
  const running = await contestant.open(options.url, bucket, { callers, note: true })
  const before = running.wire.sent()
  // Half a token's time longer: the last token falls due at the end exactly, and should find somebody asking.
  const load = await closedLoop(callers, seconds * 1_000 + 500 / rate, running.ask)
  const sent = running.wire.sent()
  await running.close()
  const nominalMaximum = burst + rate * seconds
  const maximum = Math.floor(burst + (rate * load.elapsedMs) / 1_000)
  const limit = tokenBucket({ rate: { tokens: rate, per: '1s' }, burst })
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
    ...(running.admitted === undefined ? {} : { audit: audit(running.admitted, limit) }),
  }
}
