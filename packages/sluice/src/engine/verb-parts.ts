import type { Deciders } from '../limiter/on-failure.ts'
import type { WaitOptions } from '../limiter/timing.ts'
import type { CallOptions } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import type { Verify } from './claims-of.ts'
import type { Loaded } from './loaded.ts'
import type { Report } from './report.ts'
import type { EngineContext } from './request-charges.ts'

export interface VerbParts {
  readonly deciders: Deciders
  readonly clock: Time
  readonly context: EngineContext
  /** Verifies tokens; undefined: tokens are not read. */
  readonly verify: Verify | undefined
  readonly report: Report | undefined
  /** @throws LimiterError CLOSED if the engine is closed */
  opened(): void
  loaded(): Loaded
  timing(at: Loaded, options?: WaitOptions): CallOptions
}
