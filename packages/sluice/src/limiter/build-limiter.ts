import type { AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { scopeOf } from '../keys/encode.ts'
import type { Observer } from '../observe/events.ts'
import type { CallOptions, FailurePolicy, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import { createStoreCaller } from './call-store.ts'
import { createChanges } from './changes.ts'
import { createChecks } from './checks.ts'
import { requireDecidable } from './decidable.ts'
import { createKeyCalls, type ScopedLimit } from './key-calls.ts'
import type { Limiter } from './limiter.ts'
import { type Deadline, timingOf, type WaitOptions } from './timing.ts'

export interface LimiterParts {
  readonly name: string
  /** Every check charges all of them, or none. */
  readonly limits: Readonly<Record<string, AnyLimit>>
  readonly store: Store
  readonly onStoreFailure: FailurePolicy
  /** Decides in this process if the store fails and the policy is `local`. Undefined: nothing does, and such calls are refused. */
  readonly local: Store | undefined
  readonly clock: Time
  readonly deadline: Deadline
  readonly observers: readonly Observer[]
  /** Runs when the limiter is closed. */
  readonly onClose: () => Promise<void>
}

/** Builds a limiter from its parts. `createLimiter` fills in the defaults. */
export function buildLimiter(parts: LimiterParts): Limiter {
  const { name, store, clock, observers, onStoreFailure } = parts
  const where = `limiter ${name}`
  const limits = scopedLimits(where, parts)
  const calls = createKeyCalls(where, limits)
  const main = createStoreCaller(store, clock, observers)
  const deciders = { main, local: parts.local === undefined ? undefined : createStoreCaller(parts.local, clock) }
  const deadline = store.capabilities.sync ? undefined : parts.deadline
  const timing = (options?: WaitOptions): CallOptions => timingOf(where, clock, deadline, options)
  const close = async (): Promise<void> => {
    if (calls.close()) await parts.onClose()
  }
  return {
    name,
    ...createChecks({ where, name, limits, calls, deciders, timing, clock, observers, onStoreFailure }),
    ...createChanges(where, main, calls, timing),
    ready: () => main.ready(timing({ deadlineMs: 5_000 })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** @throws LimiterError INVALID_OPTIONS for what is not a limit, and without any */
function scopedLimits(where: string, { name, store, limits }: LimiterParts): readonly ScopedLimit[] {
  const scoped = Object.entries(limits).map(([limitName, limit]): ScopedLimit => {
    if (typeof limit?.algorithm?.decide !== 'function')
      throw new LimiterError('INVALID_OPTIONS', `${where}: limit ${limitName} is not a limit; expected one made by tokenBucket or its like`)
    requireDecidable(`${where}: limit ${limitName}`, store, limit)
    return { name: limitName, limit, scope: scopeOf(name, limitName, limit.algorithm.tag) }
  })
  if (scoped.length === 0) throw new LimiterError('INVALID_OPTIONS', `${where}: no limit given; expected limit or limits with at least one`)
  return scoped
}
