import { StoreFailure } from 'sluice'
import type { Replicator } from 'sluice/regions'
import type { Log } from '../logs/log.ts'
import type { RegionOptions } from './options.ts'

/**
 * Writes a line when a peer cannot be read any more, when it can again, and when this region's phase or era has changed. An era is the time
 * in which weights stay the same. The phase says whether this region shares its limits now (`open`) or waits for the others.
 */
export function regionLines(log: Log, mode: RegionOptions['mode']) {
  /** For each peer that cannot be read: whether the latest line about it says that this region's own store refuses this region. */
  const failing = new Map<string, boolean>()
  let last: string | undefined
  return {
    /** @param why the reason for a person */
    failed(peer: string, error: unknown, why: string, what: string): void {
      const isRefused = error instanceof StoreFailure && error.kind === 'setup'
      // A line may have said that the own store does not answer. If the store then answers, but refuses this region because it belongs to
      // another one, another line about the same peer is needed.
      if (failing.get(peer) === true || failing.get(peer) === isRefused) return
      failing.set(peer, isRefused)
      log('warn', 'region-away', `region ${peer} ${what}: ${why}; trying again`, { region: peer })
    },
    update(replicator: Pick<Replicator, 'status'>): void {
      const { self, phase, era, peers } = replicator.status()
      for (const [peer, { failures }] of Object.entries(peers))
        if (failures === 0 && failing.delete(peer)) log('info', 'region-back', `region ${peer} can be read again`, { region: peer })
      // The era is compared too: between two calls an era (the time in which weights stay the same) may end and the next one begin, so that
      // the phase is the same at both calls.
      const now = `${phase} ${era}`
      if (now === last) return
      last = now
      const what = {
        learning:
          mode === 'counters' ? 'keeps to its part until it has read all other regions' : 'holds nothing until all other regions know it',
        open: 'shares its limits',
        closed: 'waits for the other regions',
      }
      const when = mode === 'counters' ? '' : ` in era ${era}`
      log('info', 'region-phase', `region ${self} is ${phase}${when}: it ${what[phase]}`, { region: self, phase, era })
    },
  }
}
