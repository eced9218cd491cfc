import { checkOptions, CLOCK, type Form, MILLISECONDS, OBJECT, requireForm, STORE } from '../../errors/options.ts'
import { systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import type { Store } from '../store.ts'
import { eachCall } from './each-call.ts'
import { type BreakerOptions, type BreakerState, withBreaker } from './breaker.ts'
import { type CoalescingOptions, withCoalescing } from './coalescing.ts'
import { withDeadline } from './deadline.ts'
import { type DeniedCacheOptions, withDeniedCache } from './denied-cache.ts'
import { type FallbackOptions, withFallback } from './fallback.ts'
import { type LeasesOptions, withLeases } from './leases.ts'
import { type WarmUpOptions, withWarmUp } from './warm-up.ts'

/** Each wrapper's own options; `false` leaves it out. The clock is the same for all. */
export interface ResilientOptions {
  /** Milliseconds that a call may take; default 50. */
  readonly deadlineMs?: number
  /** Time that the first calls have beyond it. */
  readonly warmUp?: Omit<WarmUpOptions, 'clock'> | false
  readonly coalescing?: Omit<CoalescingOptions, 'clock'> | false
  /** A look at the store may take as long as a call, unless `deadlineMs` says how long here. */
  readonly breaker?: Omit<BreakerOptions, 'clock'> | false
  readonly deniedCache?: Omit<DeniedCacheOptions, 'clock'> | false
  /** Default false: what is out on lease is missing elsewhere, and blocks made elsewhere are felt later. */
  readonly leases?: Omit<LeasesOptions, 'clock'> | false
  /** Default none: limiters and engines answer for a store that fails, each by its own policy. */
  readonly fallback?: FallbackOptions
  readonly clock?: Time
}

export interface ResilientStore extends Store {
  readonly breakerState: BreakerState
  /** Tokens on lease that are in hand now, over all keys. */
  readonly tokensInHand: number
}

const PART: Form = [(value) => value === false || OBJECT[0](value), 'its options, or false']
const FORMS: Readonly<Record<string, Form>> = {
  deadlineMs: MILLISECONDS,
  warmUp: PART,
  coalescing: PART,
  breaker: PART,
  deniedCache: PART,
  leases: PART,
  fallback: OBJECT,
  clock: CLOCK,
}

/**
 * A store over a wire with everything around it, in the order in which each wrapper helps the next. From the outside: fallback (answers whatever fails), denied-cache
 * (what need not be asked), leases (what is decided here), breaker (a store that fails is not asked), deadline (of what is asked), warm-up (a longer one for the first calls), coalescing (what is asked together).
 * `close` gives leases back and waits for what is under way. A store in this process gets the fallback alone. Bound G: that of the store, and of the fallback while it is down.
 * @throws LimiterError INVALID_OPTIONS
 */
export function resilient(store: Store, options: ResilientOptions = {}): ResilientStore {
  requireForm('resilient', 'store', store, STORE)
  checkOptions('resilient', options, FORMS)
  const {
    deadlineMs = 50,
    warmUp = {},
    coalescing = {},
    breaker = {},
    deniedCache = {},
    leases = false,
    fallback,
    clock = systemTime,
  } = options
  const far = !store.capabilities.sync
  const joined = far && coalescing !== false ? withCoalescing(store, { ...coalescing, clock }) : store
  const warmed = warmUp === false ? joined : withWarmUp(joined, { ...warmUp, clock })
  const timely = far ? withDeadline(warmed, deadlineMs, clock) : warmed
  const broken = far && breaker !== false ? withBreaker(timely, { deadlineMs, ...breaker, clock }) : undefined
  const asked = broken ?? timely
  const leased = far && leases !== false ? withLeases(asked, { ...leases, clock }) : undefined
  const decided = leased ?? asked
  const remembering = far && deniedCache !== false ? withDeniedCache(decided, { ...deniedCache, clock }) : decided
  const decides = fallback === undefined ? remembering : withFallback(remembering, fallback)
  // A store may be written as a class: it is asked, and not copied.
  const outermost = decides === store ? eachCall(store, (_operation, callOptions, send) => send(callOptions)) : decides
  return {
    ...outermost,
    get breakerState() {
      return broken?.breakerState ?? 'closed'
    },
    get tokensInHand() {
      return leased?.tokensInHand ?? 0
    },
  }
}
