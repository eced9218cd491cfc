import { tokenBucket } from '../../../src/index.ts'
import { audit } from '../../../src/testing.ts'

export const [RATE, BURST] = [100, 100]
export const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })

/** Microseconds since 1970, by the clock of this machine, which all its servers use for decisions. */
export const nowMicros = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000)

/** A call that passed. */
export interface Passed {
  readonly region: string
  /** The index of the process in its region. */
  readonly process: number
  readonly key: string
  /** When the store decided the call, by the store's own clock, in microseconds since 1970. */
  readonly at: number
  readonly cost: number
}

/** By how many tokens of one key the calls exceeded burst + rate * length, in the worst of all intervals. 0 if they never did. */
export function overOf(passed: readonly Passed[]): number {
  const keys = [...new Set(passed.map(({ key }) => key))]
  return Math.max(0, ...keys.map((key) => overOfKey(passed.filter((one) => one.key === key))))
}

export function overOfKey(passed: readonly Passed[]): number {
  return audit(
    passed.map(({ at, cost }) => ({ at, cost, allowed: true })),
    limit,
  ).overGrant
}

export const costOf = (passed: readonly Passed[]): number => passed.reduce((sum, { cost }) => sum + cost, 0)
