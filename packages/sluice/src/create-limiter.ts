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

/** Options of `createLimiter`. Set either `limit` or `limits`. */
export interface LimiterOptions {
  /** Limiters with different names never share a state. Default `default`. */
  readonly name?: string | undefined
  /** One limit, named `default`. */
  readonly limit?: AnyLimit | undefined
  /** Charged together or not at all. */
  readonly limits?: Readonly<Record<string, AnyLimit>> | undefined
  /** Default: a new memory store, lost on restart and not shared between processes. */
  readonly store?: Store | undefined
  /** For deadlines, and for decisions in memory. Tests pass `manualClock()` of `sluice/clock`. */
  readonly clock?: Time | undefined
  /** Milliseconds that a remote store may take for a call, before the failure policy decides. Default 50. */
  readonly deadlineMs?: number | undefined
  /**
   * What decides if the store fails: `deny` (default), `allow`, or `local`, which applies the same limits in a memory store of this
   * process. Or another store in this process, which stays open when the limiter is closed.
   */
  readonly onStoreFailure?: FailurePolicy | Store | undefined
  /**
   * How many reservations of a key may be open at once, 1 to 4,000; default unbounded. A further `reserve` is denied with the reason
   * `holds`. All processes should set the same number.
   */
  readonly maxHolds?: number | undefined
  /** Called after each decision and store call. Their errors are dropped. */
  readonly observers?: readonly Observer[] | undefined
}

/** @throws LimiterError INVALID_OPTIONS for an unknown or contradictory option; NOT_SUPPORTED for a limit that the store cannot decide */
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
