import type { RegionPort } from '../../stores/region-port.ts'
import type { CallGroup, GroupVerdict, Store } from '../../stores/store.ts'
import type { Ledger } from '../ledger.ts'
import type { Meter } from './meter.ts'
import type { RegionalLimits } from '../regional-limits.ts'

export interface Metering {
  readonly ledger: Ledger
  readonly maxCells: number
  readonly limits: RegionalLimits
  /** Undefined if no other process has the store. */
  readonly shareNeeds?: RegionPort['shareNeeds'] | undefined
  /** Counts what callers attempt; undefined while the store has no replicator. */
  meter: Meter | undefined
}

/**
 * Passes verdicts to the meter, which counts calls of keys that were denied or that peers request. While the meter has no such key, allowed
 * calls skip the meter.
 */
export function metered<T extends Store>(store: T, metering: Metering): T {
  const decideNow = store.decideNow?.bind(store)
  const decide = store.decide.bind(store)
  return {
    ...store,
    decide(groups, options) {
      const decided = decide(groups, options)
      const { meter } = metering
      if (meter === undefined || options?.charge === false) return decided
      return decided.then((verdicts) => {
        for (let index = 0; index < verdicts.length; index += 1) {
          const verdict = verdicts[index] as GroupVerdict
          if (meter.active || verdict.outcome !== 'allowed') meter.count(groups[index] as CallGroup, verdict)
        }
        return verdicts
      })
    },
    ...(decideNow === undefined
      ? {}
      : {
          decideNow(group, now) {
            const verdict = decideNow(group, now)
            const { meter } = metering
            if (meter !== undefined && verdict !== undefined && (meter.active || verdict.outcome !== 'allowed')) meter.count(group, verdict)
            return verdict
          },
        }),
  }
}
