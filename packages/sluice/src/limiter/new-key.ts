import { MICRO } from '../algorithms/decimal.ts'
import type { Call, Decided, Verdict } from '../stores/store.ts'

/**
 * Whether this charge made the key's state: the verdict equals that of a fresh key. Decisions of the local fallback, and those from leased
 * tokens, make no state. In a window, several charges of less than one token may look like the first, because `remaining` is rounded down.
 */
export function makesKey(
  { limit, cost, phase }: Call,
  verdict: Verdict,
  { at, source = 'store', degraded }: Pick<Decided, 'at' | 'source' | 'degraded'>,
): boolean {
  const { outcome, remaining, resetAfter } = verdict
  if (outcome !== 'allowed' || degraded !== undefined || source !== 'store') return false
  // Most charges of a busy key end here. The limit of a ramped window grows from one token: a fresh key has less than its capacity.
  if (limit.ramped !== true && remaining < Math.floor(limit.capacity - cost / MICRO)) return false
  const { algorithm, plan } = limit
  const fresh = algorithm.decide(plan, undefined, at, cost, phase)
  return fresh.outcome === 'allowed' && fresh.remaining === remaining && fresh.resetAfter === resetAfter
}
