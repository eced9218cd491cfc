import type { Observer } from '../observe/events.ts'
import type { CallOptions, FailurePolicy } from '../stores/store.ts'
import type { Random, Time } from '../time/time.ts'
import type { HoldBound } from './hold-bound.ts'
import type { KeyCalls, ScopedLimit } from './key-calls.ts'
import type { Deciders } from './on-failure.ts'
import type { Releases } from './releases.ts'
import type { WaitOptions } from './timing.ts'

/** What the deciding verbs of a limiter work with. */
export interface CheckParts {
  readonly name: string
  /** For messages. */
  readonly where: string
  readonly onStoreFailure: FailurePolicy
  readonly clock: Time
  /** For the pauses between tries. */
  readonly random: Random
  readonly releases: Releases
  readonly observers: readonly Observer[]
  /** Bounds how many holds of a key are open at once; undefined: nothing does. */
  readonly bound: HoldBound | undefined
  readonly limits: readonly ScopedLimit[]
  readonly calls: KeyCalls
  readonly deciders: Deciders
  readonly timing: (options?: WaitOptions) => CallOptions
}
