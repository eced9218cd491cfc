/** The beginning of every error of `expectInTime`. By it, the test runner knows which tests to repeat. */
export const LATE = /^later than allowed:/

/**
 * Fails if something took longer than it may, in milliseconds. The runner then repeats the test once, because another program may have
 * caused the delay.
 */
export function expectInTime(what: string, ms: number, allowedMs: number): void {
  if (!(ms <= allowedMs)) throw new Error(`later than allowed: ${what} took ${ms.toFixed(1)} ms, not ${allowedMs.toFixed(1)}`)
}
