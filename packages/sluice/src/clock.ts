// A subpath of its own: `sluice/testing` loads vitest, and tests of applications may use another runner.
export { type ManualClock, manualClock } from './time/manual.ts'
