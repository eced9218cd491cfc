/** How the errors of `expectInTime` begin: by it the runner knows which tests to run again. */
export const LATE = /^later than allowed:/

/** Fails if something took longer, in milliseconds, than it may. The runner then repeats the test once, as another program may have caused it. */
export function expectInTime(what: string, ms: number, allowedMs: number): void {
  if (!(ms <= allowedMs)) throw new Error(`later than allowed: ${what} took ${ms.toFixed(1)} ms, not ${allowedMs.toFixed(1)}`)
}
