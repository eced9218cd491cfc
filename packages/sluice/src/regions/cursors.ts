import type { Region } from './rights/roster.ts'
import type { RegionStore, Run } from './rights/state.ts'

/**
 * For each peer, the number of its last change that was read. Valid only as long as both stores keep their run (one life of a store), and
 * this region its era.
 */
export interface Cursors {
  /** 0 if everything is to be read. `own` is undefined if nothing is known of this region yet. */
  of(peer: RegionStore, own: RegionStore | undefined): number
  set(peer: RegionStore, own: RegionStore, at: number): void
}

export function createCursors(): Cursors {
  const cursors = new Map<Region, { readonly run: Run; readonly own: Run; readonly era: number; readonly at: number }>()
  return {
    of(peer, own) {
      const found = cursors.get(peer.region)
      return found !== undefined && found.run === peer.run && found.own === own?.run && found.era === own.era ? found.at : 0
    },
    set(peer, own, at) {
      cursors.set(peer.region, { run: peer.run, own: own.run, era: own.era, at })
    },
  }
}
