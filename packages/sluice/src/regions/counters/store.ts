import { isPossible } from '../../stores/shares.ts'
import {
  type Call,
  type CallGroup,
  type Capabilities,
  type Change,
  type Decided,
  type Failed,
  type GroupVerdict,
  type Store,
  StoreFailure,
} from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import type { Counters } from './counters.ts'
import { createCutStates, type CutStates } from './cut-states.ts'
import type { RewritingStore } from '../rewriting-store.ts'
import { isNameable } from '../replicator/messages.ts'
import { denied, regional, type RegionalStore } from '../regional.ts'
import type { RegionalLimits } from '../regional-limits.ts'

const CHANGES = new Set<Change['kind']>(['adjust', 'block', 'unblock', 'reset'])

export type DecidingStore = RewritingStore & Required<Pick<Store, 'decideNow'>>

/** Grants token buckets by the whole limit, and counts what was granted. Of other limits it grants the region's fixed part. */
export function countingStore(
  store: DecidingStore,
  counters: Counters,
  self: string,
  weights: ReadonlyMap<string, number>,
  limits: RegionalLimits,
): RegionalStore {
  const { lease: _, ...plain } = store
  const fixed = regional(plain, self, weights, limits)
  const failed: Failed = {
    failure: new StoreFailure('unavailable', 'no', `${store.name}: region ${self} cannot divide this limit exactly`),
  }
  const full: Failed = { failure: new StoreFailure('memory', 'no', `${store.name}: region ${self} has no room to count another key`) }
  const cut = createCutStates(limits)
  /** The call as the store must decide it now; undefined if the region has no part of the limit. */
  const placed = (call: Call, since: Micros | undefined): Call | undefined => {
    const counted = isCounted(call)
    if (counted && since === undefined) return call
    const limit = counted && since !== undefined ? cut.limitOf(call.limit, since) : limits.partOf(call.limit)
    return limit && { ...call, limit, id: counted ? cut.idOf(call.id) : call.id }
  }
  const placedGroup = (group: CallGroup, since: Micros | undefined): CallGroup | Failed => {
    const calls: Call[] = []
    for (const call of group.calls) {
      if (isCounted(call) && !counters.spend.hasRoom(call.id)) return full
      const own = placed(call, since)
      if (own === undefined) return failed
      calls.push(own)
    }
    return { ...group, calls }
  }
  const decideNow = (group: CallGroup, now?: Micros): GroupVerdict => {
    const since = counters.cutSince()
    const mine = placedGroup(group, since)
    if ('failure' in mine) return mine
    const verdict = store.decideNow(mine, now) as GroupVerdict
    if (verdict.outcome === 'allowed') countAll(counters, group, verdict)
    return whole(group, verdict)
  }
  return {
    ...fixed,
    capabilities: offered(fixed.capabilities, limits),
    decideNow,
    async decide(groups, options) {
      // Decides and counts in one synchronous step: a page for a peer, if made in between, would lack what was granted.
      if (options?.charge !== false) return groups.map((group) => decideNow(group, options?.now))
      const since = counters.cutSince()
      const mine = groups.map((group) => placedGroup(group, since))
      const decidable = mine.filter((group): group is CallGroup => !('failure' in group))
      const verdicts = (await store.decide(decidable, options)).values()
      return mine.map((group, index) =>
        'failure' in group ? group : whole(groups[index] as CallGroup, verdicts.next().value as GroupVerdict),
      )
    },
    change: changing(store, limits, cut),
  }
}

/** Capabilities of `mode: 'fixed'`, without what counters do not support. */
function offered(ofParts: Capabilities, limits: RegionalLimits): Capabilities {
  const { groupOptions: _, ...capabilities } = ofParts
  return {
    ...capabilities,
    changes: capabilities.changes.filter((kind) => CHANGES.has(kind)),
    mostOf: (limit) => (limit.algorithm.tag === 'tb' ? limit : (limits.partOf(limit) ?? limit)).capacity,
    lacks: 'with regions of mode counters; mode escrow and mode fixed can',
  }
}

/** Refunds and penalties of a token bucket apply to the whole limit's bucket; those of other limits to the region's part. */
function changing(store: DecidingStore, limits: RegionalLimits, cut: CutStates): Store['change'] {
  return async (changes, options) => {
    const own = changes.map((change): Change => {
      if (change.kind !== 'adjust' || isCounted(change.call)) return change
      return { ...change, call: { ...change.call, limit: limits.partOf(change.call.limit) ?? change.call.limit } }
    })
    const results = await store.change(own, options)
    // States that decide while the region is cut off are blocked and reset as well.
    const cuts = changes.flatMap((change): Change[] =>
      'id' in change && CHANGES.has(change.kind) ? [{ ...change, id: cut.idOf(change.id) }] : [],
    )
    if (cuts.length > 0) await store.change(cuts, options)
    return results
  }
}

function countAll(counters: Counters, { calls }: CallGroup, { at }: Decided): void {
  for (const call of calls) if (isCounted(call)) counters.spent(call, at)
}

/** A cost above the region's part is `denied`, not `impossible`, if the whole limit could grant it. */
function whole({ calls }: CallGroup, verdict: GroupVerdict): GroupVerdict {
  return verdict.outcome === 'impossible' && isPossible(calls) ? denied(verdict) : verdict
}

function isCounted({ id, limit }: Call): boolean {
  return limit.algorithm.tag === 'tb' && isNameable(id)
}
