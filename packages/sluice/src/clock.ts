// A subpath of its own, because `sluice/testing` loads vitest, and applications may use another test runner.
export type { Cancel } from './time/time.ts'
export { type ManualClock, manualClock } from './time/manual.ts'
