import type { FoundRegion, RegionPort } from '../../stores/region-port.ts'
import { type CallOptions, StoreFailure } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import { meet, open } from '../rights/era.ts'
import { inRun } from '../rights/recovery.ts'
import { decodeRegion, encodeRegion } from './record.ts'
import { recordRun } from './cell.ts'
import type { RemoteKnown } from './known.ts'
import { contended, MAX_ROUNDS } from './rewrite.ts'
import type { Region, Roster } from '../rights/roster.ts'
import type { RegionStore, Status } from '../rights/state.ts'

/** What a region knows of all regions and their eras, in its record on the server. */
export interface RemoteEras {
  /**
   * What the region's record says. If an earlier run (server lifetime) wrote the record, what a new run knows at first.
   * @throws StoreFailure for the record of another region; its cause is a LimiterError that names the mistake
   */
  regionIn(found: FoundRegion): RegionStore
  /**
   * Replaces the record by what `program` returns. Opens the next era (a time of constant weights) once all regions have ended this one.
   * Tries again if another process changed the record.
   */
  update(program: (region: RegionStore, now: Micros) => RegionStore, options?: CallOptions): Promise<RegionStore>
  meet(status: Status): Promise<void>
}

/**
 * @param roster the configured regions and weights
 * @param onEra called when another era (time of constant weights) has begun
 */
export function createRemoteEras(
  port: RegionPort,
  self: Region,
  roster: Roster,
  time: () => Micros,
  known: RemoteKnown,
  onEra: () => Promise<void>,
): RemoteEras {
  const statuses = new Map<Region, Status>()
  const regionIn: RemoteEras['regionIn'] = ({ run, record, now }) => {
    const stored = record === undefined ? undefined : decodeRegion(record)
    if (stored?.run === run && stored.region !== self) throw storeOf(stored.region, self)
    return inRun(stored, self, run, roster, now + 1)
  }
  const update: RemoteEras['update'] = async (program, options) => {
    let found = await port.read(undefined, time(), options)
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const before = regionIn(found)
      // `now + 1`: the close or open of an era must have a later time than all states written before it.
      const next = open(program(before, found.now + 1), statuses, found.now + 1)
      if (next === before && found.record !== undefined && before.run === recordRun(found)) {
        known.remember(before, found.begins)
        return before
      }
      const answer = await port.write(undefined, found, { record: encodeRegion(next) }, time(), options)
      if (typeof answer === 'number') {
        const ended = known.latest?.region.era !== next.era
        known.remember(next, `${found.run} ${answer} `)
        if (ended) await onEra()
        return next
      }
      found = answer
    }
    throw contended()
  }
  return {
    regionIn,
    update,
    async meet(status) {
      statuses.set(status.from, status)
      await update((current, now) => meet(current, status, now))
    },
  }
}

function storeOf(other: Region, self: Region): StoreFailure {
  const mistake = new LimiterError('INVALID_OPTIONS', `region ${other} has this store, and region ${self} needs one of its own`)
  return new StoreFailure('setup', 'no', `regions: ${mistake.message}`, { cause: mistake })
}
