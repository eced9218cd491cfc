import type { Micros } from '../../time/micros.ts'
import { meet, open } from '../rights/era.ts'
import type { Region } from '../rights/roster.ts'
import type { RegionStore, Status } from '../rights/state.ts'

/** What a region knows of all regions and their eras. An era is the time in which the weights stay the same. */
export interface EscrowEras {
  readonly region: RegionStore
  /** Also begins the next era if all regions are ready. */
  update(program: (region: RegionStore, now: Micros) => RegionStore): void
  meet(status: Status): void
}

/** @param onEra called with the region as it was before */
export function createEscrowEras(begun: RegionStore, now: () => Micros, onEra: (before: RegionStore) => void): EscrowEras {
  let region = begun
  const statuses = new Map<Region, Status>()
  const become = (next: RegionStore): void => {
    const before = region
    region = next
    if (next.era !== before.era) onEra(before)
  }
  const update: EscrowEras['update'] = (program) => {
    become(program(region, now()))
    become(open(region, statuses, now()))
  }
  return {
    get region() {
      return region
    },
    update,
    meet(status) {
      statuses.set(status.from, status)
      update((current, at) => meet(current, status, at))
    },
  }
}
