import type { Region } from './rights/roster.ts'
import type { RegionStore, Run } from './rights/state.ts'

/** How far a region has read each peer. A cursor counts only for one run of the peer, and for one run and one era of the region. */
export interface Cursors {
  /** The cursor of a peer; 0 if everything is to be read. @param own what is known of this region; undefined if nothing is known yet */
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
