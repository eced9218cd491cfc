import { LimiterError } from '../errors/limiter-error.ts'
import { COUNT, requireForm, shown } from '../errors/options.ts'
import { isPossible, type Shares, sharing } from '../stores/shares.ts'
import { type Call, type Decided, type Failed, type LeaseAnswer, type Leased, type Store, StoreFailure } from '../stores/store.ts'
import type { RegionalLimit } from './rights/limit.ts'
import type { RegionalLimits } from './regional-limits.ts'
import type { Phase } from './rights/state.ts'

/** The store of one of several regions that share their limits. */
export interface RegionalStore extends Store {
  /** The name of this region. */
  readonly self: string
  /** By name: what each region holds of every limit, in thousandths. */
  readonly weights: Readonly<Record<string, number>>
  /**
   * Absent with `mode: 'fixed'`. `learning`: a store that was just started holds nothing until all peers know it. `open`: units may be sent
   * and received. `closed`: they may not, until all regions have ended this era (a time of constant weights).
   */
  readonly phase?: Phase
  /**
   * How many eras the regions have begun; absent with `mode: 'fixed'`. In each new era every region holds its weight of every key again.
   */
  readonly era?: number
  /** Keys that have sent or received units in this era; absent with `mode: 'fixed'`. */
  readonly cells?: number
  /** Thousandths of a key's limit that this region holds now; absent with `mode: 'fixed'`. */
  unitsOf?(key: RegionalKey): number
  /**
   * Sends units of a key to a peer, with their part of the tokens that are left; absent with `mode: 'fixed'`. The units belong to no region
   * until the peer has read them. Returns false, with nothing changed, if the store is not open, holds fewer units of the key, or has
   * reached `maxCells`.
   * @param units a whole number above 0
   */
  give?(key: RegionalKey, to: string, units: number): boolean
  /** The same for a store on a server. Absent with `mode: 'fixed'`, and over a `memoryStore`. */
  readonly remote?: RemoteRights
}

/** For a store on a server. Methods reject with a StoreFailure. */
export interface RemoteRights {
  /** Reads phase and era. */
  status(): Promise<{ readonly phase: Phase; readonly era: number }>
  /** As `RegionalStore.unitsOf`. */
  unitsOf(key: RegionalKey): Promise<number>
  /** As `RegionalStore.give`. */
  give(key: RegionalKey, to: string, units: number): Promise<boolean>
}

/** One key of one limit. */
export type RegionalKey = Pick<Call, 'id' | 'limit'>

/** @param limitOf returns undefined if the region cannot grant any part of the call's limit */
export function regional(
  store: Store,
  self: string,
  weights: ReadonlyMap<string, number>,
  limits: RegionalLimits,
  limitOf: Shares['of'] = ({ limit }) => limits.partOf(limit),
): RegionalStore {
  const failed: Failed = {
    failure: new StoreFailure('unavailable', 'no', `${store.name}: region ${self} cannot divide this limit exactly`),
  }
  const shares: Shares = {
    of: limitOf,
    none: () => failed,
    beyond: ({ calls }, verdict) => (isPossible(calls) ? denied(verdict) : verdict),
  }
  const lease = store.lease?.bind(store)
  return {
    name: store.name,
    capabilities: {
      ...store.capabilities,
      problemOf: (limit) => limits.problemOf(limit) ?? store.capabilities.problemOf?.(limit),
      // The region may receive all units of a bucket, and then grant the whole burst at once.
      mostOf: (limit) => (limits.bucketOf(limit) === undefined ? (limits.partOf(limit) ?? limit) : limit).capacity,
      around: (inner) => regional(inner, self, weights, limits),
    },
    self,
    weights: Object.freeze(Object.fromEntries(weights)),
    ...sharing(store, () => shares),
    ...(lease === undefined
      ? {}
      : {
          async lease(requests, options) {
            const mine = requests.map((request) => {
              const limit = limitOf(request.call)
              return limit === undefined ? undefined : { ...request, call: { ...request.call, limit } }
            })
            const answers = (
              await lease(
                mine.filter((request) => request !== undefined),
                options,
              )
            ).values()
            return requests.map(({ call }, index): LeaseAnswer => {
              const { value } = mine[index] === undefined ? { value: undefined } : answers.next()
              if (value === undefined) return failed
              return value.failure === undefined && value.verdict.outcome === 'impossible' && isPossible([call]) ? leftTo(value) : value
            })
          },
        }),
  }
}

/** The returned function throws a LimiterError NOT_SUPPORTED for a limit of which no units can be sent. */
export function bucketsOf(limits: RegionalLimits): (verb: string, key: RegionalKey) => RegionalLimit {
  return (verb: string, { limit }: RegionalKey): RegionalLimit => {
    const bucket = limits.bucketOf(limit)
    if (bucket !== undefined) return bucket
    const why = limits.problemOf(limit) ?? `a ${limit.algorithm.name} has fixed parts: only units of token buckets can be sent`
    throw new LimiterError('NOT_SUPPORTED', `regionalStore: ${verb}: ${why}`)
  }
}

export function checkGive({ self, weights }: RegionalStore, to: string, units: number): void {
  requireForm('regionalStore', 'units', units, COUNT)
  if (to === self || !(to in weights)) refuse(`give to ${shown(to)}, expected another region`)
}

/**
 * For a cost above what the region holds, but not above the whole limit. The group has no `retryAfter`, because no wait in this region
 * helps. Decisions report a denied call's `retryAfter` as `replenishAfterMs`.
 */
export function denied(verdict: Decided): Decided {
  const calls = verdict.calls.map((call) =>
    call.outcome === 'impossible'
      ? { ...call, outcome: 'denied' as const, retryAfter: Math.max(call.replenishAfter, call.blockedFor ?? 0) }
      : call,
  )
  return { ...verdict, outcome: 'denied', retryAfter: undefined, calls }
}

/**
 * For a lease (tokens taken in advance) by a call whose cost is above the region's share. Nothing is leased. The outcome `allowed` makes
 * the caller call `decide`, which denies the call.
 */
function leftTo(answer: Leased): Leased {
  return { ...answer, verdict: { ...answer.verdict, outcome: 'allowed' } }
}

export function refuse(why: string): never {
  throw new LimiterError('INVALID_OPTIONS', `regionalStore: ${why}`)
}
