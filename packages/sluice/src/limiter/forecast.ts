import { LimiterError } from '../errors/limiter-error.ts'
import { hasMethods, shown } from '../errors/options.ts'
import type { CallGroup, CallOptions, DecideOptions } from '../stores/store.ts'
import { EXACT_UNTIL, MICROS_PER_MS, type Micros } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { CheckParts } from './check-parts.ts'
import { decideGroups, type Resolved } from './on-failure.ts'

/** Milliseconds that `at` may be in the past, because time passes between a caller's `new Date()` and this check. */
const JUST_NOW_MS = 1_000

/**
 * Stores get this length and not the instant, because their clock may differ from this process's.
 * @throws LimiterError INVALID_OPTIONS for an instant in the past, or after 2099
 */
export function microsUntil(where: string, clock: Time, at: Date | number): Micros {
  const ms: unknown = hasMethods(at, 'getTime') ? (at as Date).getTime() : at
  const wallMs = clock.wall?.() ?? clock.now() / MICROS_PER_MS
  if (typeof ms === 'number' && ms >= wallMs - JUST_NOW_MS && ms < EXACT_UNTIL / MICROS_PER_MS)
    return Math.max(0, Math.round((ms - wallMs) * MICROS_PER_MS))
  const value = typeof ms === 'number' && ms !== at ? `Date ${ms}` : shown(at)
  throw new LimiterError(
    'INVALID_OPTIONS',
    `${where}: at is ${value}, expected a Date or milliseconds since 1970, not in the past (it is ${Math.floor(wallMs)}) and before 2100`,
  )
}

/**
 * Decides without a charge, as of `length` later if nobody calls until then. A first peek finds the store's time; the second is decided at
 * that time plus `length`.
 */
export async function forecast(
  { deciders, onStoreFailure, timing }: CheckParts,
  group: CallGroup,
  options: CallOptions,
  length: Micros,
): Promise<Resolved> {
  const peeking: DecideOptions = { ...options, charge: false }
  const [present] = (await decideGroups(deciders, [group], () => onStoreFailure, peeking)) as [Resolved]
  const { main, local } = deciders
  const store = present.source === 'fallback' ? local : main
  if (present.outcome === 'undecided' || store === undefined) return present
  // Only the store that answered first may answer again: the clock of another store could be hours apart.
  const later: DecideOptions = { ...peeking, ...(options.stretch === true ? timing() : undefined), now: present.at + length }
  const [then] = (await decideGroups({ main: store, local: undefined }, [group], () => onStoreFailure, later)) as [Resolved]
  const { source, degraded, nodes } = present
  if (degraded === undefined || source !== 'fallback') return then
  return { ...then, source, degraded: then.degraded ?? degraded, ...(nodes === undefined ? {} : { nodes }) }
}
