import type { CallOutcome } from '../algorithms/algorithm.ts'
import type { CallGroup, GroupVerdict, Verdict } from './store.ts'

const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']
const PER_CALL = 5

/**
 * Reads a program's flat answer: for each group its outcome and time, and for each of its calls outcome, retryAfter, remaining,
 * replenishAfter, resetAfter. Undefined where the numbers do not fit the question.
 */
export function readVerdicts(groups: readonly CallGroup[], reply: readonly unknown[]): GroupVerdict[] | undefined {
  const numbers = reply.map(Number)
  const expected = groups.reduce((sum, { calls }) => sum + 2 + PER_CALL * calls.length, 0)
  if (numbers.length !== expected || !numbers.every(Number.isSafeInteger)) return undefined
  let at = 0
  const next = (): number => numbers[at++] as number
  const outcome = (): CallOutcome => OUTCOMES[next()] ?? 'denied'
  return groups.map(({ calls }) => {
    const overall = outcome()
    const time = next()
    const verdicts: Verdict[] = calls.map(() => ({
      outcome: outcome(),
      retryAfter: next(),
      remaining: next(),
      replenishAfter: next(),
      resetAfter: next(),
    }))
    return { outcome: overall, allowed: overall === 'allowed', at: time, calls: verdicts, source: 'store' }
  })
}
