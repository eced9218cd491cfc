import type { AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { scopeOf } from '../keys/encode.ts'
import type { Observer } from '../observe/events.ts'
import type { CallOptions, FailurePolicy, Store } from '../stores/store.ts'
import type { Random, Time } from '../time/time.ts'
import { createStoreCaller } from './call-store.ts'
import { createChanges } from './changes.ts'
import { createChecks } from './checks.ts'
import { requireDecidable } from './decidable.ts'
import { type HoldBound, holdBound, MAX_HOLDS } from './hold-bound.ts'
import { createHolders } from './holders.ts'
import { createKeyCalls, type KeyCalls, type ScopedLimit } from './key-calls.ts'
import type { Limiter } from './limiter.ts'
import type { Deciders } from './on-failure.ts'
import { createReleases, type Releases } from './releases.ts'
import { type Deadline, timingOf, type WaitOptions } from './timing.ts'

export interface LimiterParts {
  readonly name: string
  /** Every check charges all of them, or none. */
  readonly limits: Readonly<Record<string, AnyLimit>>
  readonly store: Store
  readonly onStoreFailure: FailurePolicy
  /** Decides if `store` fails and `onStoreFailure` is `local`. */
  readonly local: Store | undefined
  readonly clock: Time
  readonly deadline: Deadline
  /** The most open holds of a key; undefined: no such bound. */
  readonly maxHolds: number | undefined
  readonly observers: readonly Observer[]
  /** Numbers in [0, 1), unpredictable for other processes. */
  readonly random: Random
  readonly onClose: () => Promise<void>
}

/** `createLimiter` fills in the defaults. */
export function buildLimiter(parts: LimiterParts): Limiter {
  const { store, clock, observers, local } = parts
  const main = createStoreCaller(store, clock, observers)
  return limiterOver({ main, local: local === undefined ? undefined : createStoreCaller(local, clock) }, parts)
}

interface Parent {
  readonly calls: KeyCalls
  readonly releases: Releases
}

function limiterOver(deciders: Deciders, parts: LimiterParts, parent?: Parent): Limiter {
  const { name, store, clock, observers, onStoreFailure, random } = parts
  const where = `limiter ${name}`
  const limits = scopedLimits(where, parts)
  const bound = boundOf(where, parts)
  const calls = createKeyCalls(where, limits, createHolders(random), parent?.calls)
  const releases = parent?.releases ?? createReleases()
  const deadline = store.capabilities.sync ? undefined : parts.deadline
  const timing = (options?: WaitOptions): CallOptions => timingOf(where, clock, deadline, options)
  const close = async (): Promise<void> => {
    if (calls.close()) await parts.onClose()
  }
  return {
    name,
    limits: Object.freeze({ ...parts.limits }),
    ...createChecks({ where, name, bound, limits, calls, deciders, timing, clock, random, releases, observers, onStoreFailure }),
    ...createChanges(where, deciders, calls, timing, releases),
    withLimit(limit) {
      const [only, ...others] = limits
      if (only === undefined || others.length > 0)
        throw new LimiterError('INVALID_OPTIONS', `${where}: withLimit is for a limiter with one limit; this one has ${listed(limits)}`)
      requireLimit(where, only.name, limit)
      requireAlgorithm(where, only, limit)
      return limiterOver(deciders, { ...parts, limits: { [only.name]: limit }, onClose: async () => {} }, { calls, releases })
    },
    ready: () => deciders.main.ready(timing({ deadlineMs: 5_000 })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listed(limits: readonly ScopedLimit[]): string {
  return limits.map(({ name }) => name).join(', ')
}

function scopedLimits(where: string, { name, store, limits }: LimiterParts): readonly ScopedLimit[] {
  const scoped = Object.entries(limits).map(([limitName, limit]): ScopedLimit => {
    requireLimit(where, limitName, limit)
    requireDecidable(`${where}: limit ${limitName}`, store, limit)
    return { name: limitName, limit, scope: scopeOf(name, limitName, limit.algorithm.tag) }
  })
  if (scoped.length === 0) throw new LimiterError('INVALID_OPTIONS', `${where}: no limit given; expected limit or limits with at least one`)
  return scoped
}

function boundOf(where: string, { name, store, maxHolds, limits }: LimiterParts): HoldBound | undefined {
  if (maxHolds === undefined) return undefined
  if (Object.hasOwn(limits, MAX_HOLDS))
    throw new LimiterError('INVALID_OPTIONS', `${where}: limit ${MAX_HOLDS} has the name of the option ${MAX_HOLDS}; choose another`)
  return holdBound(`${where}: ${MAX_HOLDS}`, store, name, maxHolds)
}

function requireLimit(where: string, name: string, limit: AnyLimit): void {
  if (typeof limit?.algorithm?.decide !== 'function')
    throw new LimiterError('INVALID_OPTIONS', `${where}: limit ${name} is not a limit; expected one made by tokenBucket or its like`)
}

/** Under another algorithm a blocked key could pass, because a block is part of an algorithm's state of the key. */
function requireAlgorithm(where: string, { name, limit: own }: ScopedLimit, { algorithm }: AnyLimit): void {
  if (algorithm.tag === own.algorithm.tag) return
  const both = `limit ${name} is a ${algorithm.name}, but the limiter's own limit is a ${own.algorithm.name}`
  const why = 'states, blocks, penalties and resets of a key must hold for each of its limits'
  throw new LimiterError('INVALID_OPTIONS', `${where}: ${both}; use one algorithm, because ${why}`)
}
