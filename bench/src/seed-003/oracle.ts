import { tokenBucket } from 'sluice'
import { type Audit, audit, type TraceEntry } from 'sluice/testing'

/** Decisions of one key, compared with exact buckets on the server's clock. */
export interface Judged {
  readonly total: number
  readonly allowed: number
  /** What an exact bucket would have allowed of the same requests at the same instants. */
  readonly exactAllowed: number
  /**
   * The requests that were denied although an exact bucket had a token. That bucket is charged with every request that passed or may have
   * passed.
   */
  readonly falseDenials: number
  readonly audit: Audit
}

const TOKEN = 1_000_000

/**
 * Judges decisions with instants of the server's clock.
 * @param unanswered when the requests without an answer were made. The server may have charged each of them at any time since then.
 * @param rate tokens a second, a whole number, so that a microsecond refills whole millionths
 */
export function judgeDecisions(
  decisions: readonly TraceEntry[],
  { rate, burst }: { readonly rate: number; readonly burst: number },
  unanswered: readonly number[] = [],
): Judged {
  // Decisions of one batch have the same instant. Those that passed were first.
  const ordered = decisions.toSorted((a, b) => a.at - b.at || Number(b.allowed) - Number(a.allowed))
  let [last, charged, exact] = [ordered[0]?.at ?? 0, burst * TOKEN, burst * TOKEN]
  let [allowed, exactAllowed, falseDenials, uncertain] = [0, 0, 0, 0]
  const made = unanswered.toSorted((a, b) => a - b)
  for (const decision of ordered) {
    const gained = (decision.at - last) * rate
    last = decision.at
    while ((made[uncertain] ?? Number.POSITIVE_INFINITY) <= last) uncertain += 1
    charged = Math.min(burst * TOKEN, charged + gained)
    exact = Math.min(burst * TOKEN, exact + gained)
    if (exact >= TOKEN) {
      exact -= TOKEN
      exactAllowed += 1
    }
    // Clocks are read in whole microseconds, so a token that is there for less than one does not count.
    if (!decision.allowed && charged - rate >= (1 + uncertain) * TOKEN) falseDenials += 1
    if (!decision.allowed) continue
    charged -= TOKEN
    allowed += 1
  }
  const limit = tokenBucket({ rate: { tokens: rate, per: '1s' }, burst })
  return { total: ordered.length, allowed, exactAllowed, falseDenials, audit: audit(ordered, limit) }
}
