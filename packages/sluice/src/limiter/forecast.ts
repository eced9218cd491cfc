import { LimiterError } from '../errors/limiter-error.ts'
import { hasMethods, shown } from '../errors/options.ts'
import type { CallGroup, CallOptions, DecideOptions } from '../stores/store.ts'
import { EXACT_UNTIL, MICROS_PER_MS, type Micros } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { CheckParts } from './check-parts.ts'
import { decideGroups, type Resolved } from './on-failure.ts'

/** Milliseconds by which the instant of a forecast may be in the past, because time passes between `new Date()` and this check. */
const JUST_NOW_MS = 1_000

/**
 * Microseconds from now until an instant of this process's wall clock. Stores get this length instead of the instant. So if the clock is
 * wrong, and the caller computed the instant by this clock, the forecast is still right.
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
 * Peeks at a group (decides it without a charge) as it will be after `length` if nobody calls until then. A first peek returns the store's
 * time. The second peek is decided at that time plus `length`, so the instant is on the store's clock.
 * @param options of both peeks. A deadline that the caller set covers both peeks together; the default deadline starts again for the second
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
  // Only the store that answered the first peek may answer the second one: the clock of another store could be hours apart.
  const later: DecideOptions = { ...peeking, ...(options.stretch === true ? timing() : undefined), now: present.at + length }
  const [then] = (await decideGroups({ main: store, local: undefined }, [group], () => onStoreFailure, later)) as [Resolved]
  const { source, degraded, nodes } = present
  if (degraded === undefined || source !== 'fallback') return then
  return { ...then, source, degraded: then.degraded ?? degraded, ...(nodes === undefined ? {} : { nodes }) }
}
