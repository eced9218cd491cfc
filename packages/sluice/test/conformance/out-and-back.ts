import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import type { RegionalKey } from '../../src/regions.ts'
import { limitNamed, type RegionalLimit, UNITS } from '../../src/regions/rights/limit.ts'
import { isUndivided } from '../../src/regions/rights/undivided.ts'
import { type CallGroup, type Change, nameOf } from '../../src/stores/store.ts'
import type { Micros } from '../../src/time/micros.ts'

/** When the regions met: long before the times of the suite, so that all keys are full by then. */
export const LONG_BEFORE: Micros = -3_000_000_000_000_000
/** When the units of a key were sent out and came back. */
export const BACK: Micros = 1_234_567
/** How many numbers a token bucket has. */
const BUCKET = 7
/** What each region sends to the next one: a half, so all of them hold some units meanwhile; all of a key that is not divided. */
export function partSent({ plan }: AnyLimit, weights: ReadonlyMap<string, number>): number {
  return isUndivided({ version: 1, weights }, (plan as BucketPlan).burst) ? UNITS : UNITS / 2
}

/** A changed limit is adopted by a call before the one that decides. On a clock of its own, that is at an earlier instant. */
export const ADOPTS = { peeksAdopt: true, ownClockCalls: 0 } as const

/** The shares of a limit; undefined if no units of it can be sent. */
export function sharesOf({ algorithm, plan }: AnyLimit): RegionalLimit | undefined {
  if (algorithm.tag !== 'tb') return undefined
  const { n, m, burst } = plan as BucketPlan
  return limitNamed(`${n}/${m}/${burst}`)
}

/** The keys of which units were sent out and came back, before their first call. */
export interface Travellers {
  /** Those that are called for the first time, by a limit of which units can be sent. From now on they count as sent. */
  leaving(calls: readonly RegionalKey[]): readonly RegionalKey[]
  /** As the suite's option of this name. */
  keepsTokens(call: RegionalKey): boolean
  /** A state as the suite compares it. That of a key whose units are back is written although no call has changed it. */
  unlessUntouched(state: readonly number[] | undefined): readonly number[] | undefined
}

/**
 * @param stays whether a key of this limit is not sent. Over a server, one that is not divided loses its tokens on the way: it is sent as a
 * whole, and a region that holds none of a key before its first call does not know its limit.
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
