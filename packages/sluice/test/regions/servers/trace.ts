import { tokenBucket } from '../../../src/index.ts'
import { audit } from '../../../src/testing.ts'

export const [RATE, BURST] = [100, 100]
export const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })

/** Microseconds since 1970, on the clock by which all servers of this machine decide. */
export const nowMicros = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000)

/** A call that passed. */
export interface Passed {
  readonly region: string
  /** The index of the process in its region. */
  readonly process: number
  readonly key: string
  /** When its store decided it, by the store's own clock, in microseconds since 1970. */
  readonly at: number
  readonly cost: number
}

/** The tokens of one key that passed above burst + rate * length, in the worst interval of all; 0 if nothing was over. */
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
