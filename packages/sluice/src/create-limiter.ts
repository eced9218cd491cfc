import type { AnyLimit } from './algorithms/algorithm.ts'
import { LimiterError } from './errors/limiter-error.ts'
import { checkOptions, CLOCK, type Form, MILLISECONDS, OBJECT, OBSERVERS, STORE, TEXT } from './errors/options.ts'
import { buildLimiter } from './limiter/build-limiter.ts'
import { MAX_HOLDS_FORM } from './limiter/hold-bound.ts'
import type { Limiter } from './limiter/limiter.ts'
import { DEFAULT_DEADLINE } from './limiter/timing.ts'
import { localFallback } from './local-fallback.ts'
import type { Observer } from './observe/events.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import type { FailurePolicy, Store } from './stores/store.ts'
import { systemSecret, systemTime } from './time/system.ts'
import type { Time } from './time/time.ts'

/** Options of `createLimiter`. Give `limit` or `limits`, and not both. */
export interface LimiterOptions {
  /** Part of every state's id: two limiters with different names never share a bucket. Default `default`. */
  readonly name?: string
  /** One limit, named `default`. */
  readonly limit?: AnyLimit
  /** Several named limits, charged together or not at all. */
  readonly limits?: Readonly<Record<string, AnyLimit>>
  /** Default: a memory store of the limiter's own, lost on restart and not shared between processes. */
  readonly store?: Store
  /** Time for decisions in memory, and for deadlines; default the system's. Tests pass `manualClock()` of `sluice/testing`. */
  readonly clock?: Time
  /** Milliseconds that a remote store may take before the failure policy answers; default 50. */
  readonly deadlineMs?: number
  /**
   * The answer if the store fails: `deny` (default), `allow`, or `local`, which applies the same limits in a memory store of this process.
   * A store may be passed instead, which then decides; it must be in this process, for example made by `withDividedLimit`. It stays open
   * when the limiter is closed.
   */
  readonly onStoreFailure?: FailurePolicy | Store
  /**
   * The most reservations of a key that are open at once, 1 to 4,000. A further `reserve` is denied with the reason `holds`. Default: as
   * many as the limits and the store have room for. All processes should use the same number.
   */
  readonly maxHolds?: number
  /** Called after each decision and store call, such as `prometheusMetrics()`; default none. Errors that they throw are dropped. */
  readonly observers?: readonly Observer[]
}

/**
 * Creates a limiter over one store.
 * @throws LimiterError INVALID_OPTIONS for an unknown or contradictory option; NOT_SUPPORTED for a limit that the store cannot decide
 */
export function createLimiter(options: LimiterOptions): Limiter {
  check(options)
  const { name = 'default', clock = systemTime, deadlineMs, observers = [], onStoreFailure = 'deny' } = options
  const store = options.store ?? memoryStore({ clock })
  const statedMs = deadlineMs ?? store.capabilities.deadlineMs
  const own = typeof onStoreFailure === 'object' && onStoreFailure !== store ? onStoreFailure : undefined
  const policy = typeof onStoreFailure === 'object' ? 'local' : onStoreFailure
  const made = own === undefined && policy === 'local' ? localFallback(store, clock) : undefined
  return buildLimiter({
    name,
    limits: options.limits ?? { default: options.limit as AnyLimit },
    store,
    onStoreFailure: policy,
    local: own ?? made,
    clock,
    deadline: statedMs === undefined ? DEFAULT_DEADLINE : { ms: statedMs },
    maxHolds: options.maxHolds,
    observers,
    random: systemSecret,
    onClose: async () => {
      if (options.store === undefined) await store.close()
      await made?.close()
    },
  })
}

const POLICIES: readonly unknown[] = ['allow', 'deny', 'local']

const FORMS: Readonly<Record<string, Form>> = {
  name: TEXT,
  limit: OBJECT,
  limits: OBJECT,
  store: STORE,
  clock: CLOCK,
  deadlineMs: MILLISECONDS,
  onStoreFailure: [(value) => POLICIES.includes(value) || STORE[0](value), 'allow, deny, local or a store in this process'],
  maxHolds: MAX_HOLDS_FORM,
  observers: OBSERVERS,
}

function check(options: LimiterOptions): void {
  checkOptions('createLimiter', options, FORMS)
  if ((options.limit === undefined) === (options.limits === undefined)) {
    throw new LimiterError('INVALID_OPTIONS', 'createLimiter: give either limit or limits, and not both')
  }
}
