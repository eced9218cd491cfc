export { type Audit, audit, type TraceEntry } from './audit.ts'
export { type ManualClock, manualClock } from '../time/manual.ts'
