import { MICRO } from '../algorithms/decimal.ts'
import type { Call, Decided, Verdict } from '../stores/store.ts'

/**
 * Whether this charge made the key's state: it is the key's first charge, or the first since the state expired (law 6). This is found by
 * comparing the verdict with that of a fresh state, so that no store has to report or write anything. The charge made the state if tokens
 * left (`remaining`) and time until fresh (`resetAfter`) are those of a charge of a fresh state. A decision of the local fallback, or one
 * from a lease, makes no state in the store. Verdicts round what is left down to whole tokens: in a window, several charges with costs
 * below one token may look like the first.
 */
export function makesKey(
  { limit, cost, phase }: Call,
  verdict: Verdict,
  { at, source = 'store', degraded }: Pick<Decided, 'at' | 'source' | 'degraded'>,
): boolean {
  const { outcome, remaining, resetAfter } = verdict
  if (outcome !== 'allowed' || degraded !== undefined || source !== 'store') return false
  // Most charges of a busy key end here, which saves deciding again. A window with a ramp grows from one token to all, so a fresh key has
  // less than its capacity: the test is skipped.
  if (limit.ramped !== true && remaining < Math.floor(limit.capacity - cost / MICRO)) return false
  const { algorithm, plan } = limit
  const fresh = algorithm.decide(plan, undefined, at, cost, phase)
  return fresh.outcome === 'allowed' && fresh.remaining === remaining && fresh.resetAfter === resetAfter
}
