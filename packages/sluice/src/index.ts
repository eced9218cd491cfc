export type { AnyLimit, CallOutcome, CompiledLimit } from './algorithms/algorithm.ts'
export type { HeldPart, HoldReport, HoldStatus } from './algorithms/settle-hold.ts'
export type { Rate } from './algorithms/rate.ts'
export { concurrency, type ConcurrencyOptions } from './algorithms/concurrency.ts'
export { tokenBucket, type TokenBucketOptions } from './algorithms/token-bucket.ts'
export type { Align } from './algorithms/fixed-window-plan.ts'
export { fixedWindow, type FixedWindowOptions } from './algorithms/fixed-window.ts'
export { slidingWindowCounter } from './algorithms/sliding-window-counter.ts'
export { slidingWindowLog } from './algorithms/sliding-window-log.ts'
export type { WindowOptions } from './algorithms/window.ts'
export { createLimiter, type LimiterOptions } from './create-limiter.ts'
export type {
  Allowed,
  Decision,
  Degraded,
  Denied,
  Hold,
  Impossible,
  LimitView,
  Outcome,
  Reason,
  Source,
  Undecided,
} from './decision/decision.ts'
export { type ErrorCode, LimiterError } from './errors/limiter-error.ts'
export type { CheckOptions, CheckRequest, Limiter, MaxWaitOptions, OnceOptions, PeekOptions, RefundOptions } from './limiter/limiter.ts'
export type { Extension, Reservation, ReserveOptions, Reserving, SettledLimit, Settlement } from './limiter/reservation.ts'
export type { WaitOptions } from './limiter/timing.ts'
export type { ChargeEvent, DecisionEvent, Observer, RuleResult, StoreEvent } from './observe/events.ts'
export type { Scope } from './stores/call.ts'
export type { OnFull } from './stores/memory/decide.ts'
export { type MemoryStore, memoryStore, type MemoryStoreOptions } from './stores/memory/memory-store.ts'
export {
  type Call,
  type CallGroup,
  type CallOptions,
  type Capabilities,
  type Change,
  type ChangeResult,
  type Decided,
  type DecideOptions,
  type Failed,
  type FailurePolicy,
  type GroupOptions,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type StateId,
  type Store,
  StoreFailure,
  type StoreFailureKind,
  type Verdict,
} from './stores/store.ts'
export type { Cancel, Time } from './time/time.ts'
