// This is a separate subpath because `sluice/testing` loads vitest, and tests of applications may use another runner.
export { type ManualClock, manualClock } from './time/manual.ts'
