import type { Micros } from '../../time/micros.ts'
import { meet, open } from '../rights/era.ts'
import type { Region } from '../rights/roster.ts'
import type { RegionStore, Status } from '../rights/state.ts'

/** The part that a region takes in eras. */
export interface EscrowEras {
  /** What it knows of the regions now. */
  readonly region: RegionStore
  /** Changes that by a program, and begins the next era if all is ready for it. */
  update(program: (region: RegionStore, now: Micros) => RegionStore): void
  /** Takes what a peer says of itself. */
  meet(status: Status): void
}

/** @param onEra another era has begun; the argument is the region as it was before */
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
