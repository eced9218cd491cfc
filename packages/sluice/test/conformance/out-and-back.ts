import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import type { RegionalKey } from '../../src/regions.ts'
import { limitNamed, type RegionalLimit, UNITS } from '../../src/regions/rights/limit.ts'
import { isUndivided } from '../../src/regions/rights/undivided.ts'
import { type CallGroup, type Change, nameOf } from '../../src/stores/store.ts'
import type { Micros } from '../../src/time/micros.ts'

/** The instant at which the regions first read each other. It is long before the times of the suite, so all keys are full by then. */
export const LONG_BEFORE: Micros = -3_000_000_000_000_000
/** The instant at which a key's units (thousandths of its limit) are sent to other regions and come back. */
export const BACK: Micros = 1_234_567
/** How many numbers a token bucket has. */
const BUCKET = 7
/**
 * How many units of a key (thousandths of its limit) each region sends to the next one. Usually it is half, so all regions hold some in
 * between. If a key's limit is too small to be divided, it is all of them.
 */
export function partSent({ plan }: AnyLimit, weights: ReadonlyMap<string, number>): number {
  return isUndivided({ version: 1, weights }, (plan as BucketPlan).burst) ? UNITS : UNITS / 2
}

/**
 * Options of the store suite for regions. A region converts a state to a changed limit by one call, and decides by the next one. By the
 * store's own clock these are two instants. So no calls on that clock are compared.
 */
export const ADOPTS = { peeksAdopt: true, ownClockCalls: 0 } as const

/**
 * Returns the shares of a limit: its token buckets in regions. Undefined for a limit whose units cannot be sent, because it is not a token
 * bucket.
 */
export function sharesOf({ algorithm, plan }: AnyLimit): RegionalLimit | undefined {
  if (algorithm.tag !== 'tb') return undefined
  const { n, m, burst } = plan as BucketPlan
  return limitNamed(`${n}/${m}/${burst}`)
}

/** Keeps track of the keys whose units (thousandths of their limit) were sent to other regions and came back before their first call. */
export interface Travellers {
  /**
   * Returns the keys that are called for the first time, if units (thousandths) of their limit can be sent. From now on these keys count as
   * sent.
   */
  leaving(calls: readonly RegionalKey[]): readonly RegionalKey[]
  /** As the suite's option of this name. */
  keepsTokens(call: RegionalKey): boolean
  /**
   * Returns a state as the suite compares it. A key's units may be back before any call has changed the key. Then a state is written, but
   * it counts as absent.
   */
  unlessUntouched(state: readonly number[] | undefined): readonly number[] | undefined
}

/**
 * @param stays whether units of keys with this limit are not sent. Over a server, a key that is not divided would lose its tokens on the
 * way: it is sent as a whole. A region that holds none of a key before its first call does not know the key's limit.
 */
export function travellers(stays: (limit: AnyLimit) => boolean = () => false): Travellers {
  const known = new Set<string>()
  const sent = new Set<string>()
  return {
    leaving: (calls) =>
      calls.flatMap(({ id, limit }) => {
        const name = nameOf(id)
        if (limit.algorithm.tag !== 'tb' || known.has(name)) return []
        known.add(name)
        if (sharesOf(limit) === undefined || stays(limit)) return []
        sent.add(name)
        return [{ id: { ...id }, limit }]
      }),
    keepsTokens: ({ id, limit }) => sent.has(nameOf(id)) && sharesOf(limit) !== undefined,
    unlessUntouched: (state) => (state?.length === BUCKET && state[2] === BACK ? undefined : state),
  }
}

export const inGroups = (groups: readonly CallGroup[]): readonly RegionalKey[] => groups.flatMap(({ calls }) => calls)

export const inChanges = (changes: readonly Change[]): readonly RegionalKey[] =>
  changes.flatMap((change) => ('call' in change ? [change.call] : 'calls' in change ? change.calls : []))
