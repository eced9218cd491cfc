import type { Observer } from '../observe/events.ts'
import type { CallOptions, FailurePolicy } from '../stores/store.ts'
import type { Random, Time } from '../time/time.ts'
import type { HoldBound } from './hold-bound.ts'
import type { KeyCalls, ScopedLimit } from './key-calls.ts'
import type { Deciders } from './on-failure.ts'
import type { Releases } from './releases.ts'
import type { WaitOptions } from './timing.ts'

export interface CheckParts {
  readonly name: string
  /** Names the limiter in error messages. */
  readonly where: string
  readonly onStoreFailure: FailurePolicy
  readonly clock: Time
  /** Random numbers in [0, 1), for pauses between tries to take a slot. */
  readonly random: Random
  readonly releases: Releases
  readonly observers: readonly Observer[]
  readonly bound: HoldBound | undefined
  readonly limits: readonly ScopedLimit[]
  readonly calls: KeyCalls
  readonly deciders: Deciders
  readonly timing: (options?: WaitOptions) => CallOptions
}
