import type { CallOutcome } from '../algorithms/algorithm.ts'
import type { CallGroup, GroupVerdict, Verdict } from './store.ts'

const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']
const PER_CALL = 5

/**
 * Reads a program's flat answer: for each group its outcome and time, and for each of its calls outcome, retryAfter, remaining,
 * replenishAfter, resetAfter. Undefined where the numbers do not fit the question: nonsense must never look like a denial.
 */
export function readVerdicts(groups: readonly CallGroup[], reply: readonly unknown[]): GroupVerdict[] | undefined {
  const numbers = reply.map(whole)
  const expected = groups.reduce((sum, { calls }) => sum + 2 + PER_CALL * calls.length, 0)
  if (numbers.length !== expected || numbers.includes(Number.NaN)) return undefined
  let at = 0
  const next = (): number => numbers[at++] as number
  const verdicts: GroupVerdict[] = []
  for (const { calls } of groups) {
    const overall = next()
    const time = next()
    let worst = 0
    const read = calls.map((): Verdict => {
      const outcome = next()
      worst = Math.max(worst, outcome)
      return {
        outcome: OUTCOMES[outcome] ?? 'impossible',
        retryAfter: next(),
        remaining: next(),
        replenishAfter: next(),
        resetAfter: next(),
      }
    })
    const outcome = OUTCOMES[overall]
    if (outcome === undefined || overall !== worst) return undefined
    verdicts.push({ outcome, allowed: outcome === 'allowed', at: time, calls: read, source: 'store' })
  }
  return verdicts
}

/** Clients pass whole numbers as numbers or as text; anything else, null and the empty text included, is none. */
function whole(value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : Number.NaN
}
