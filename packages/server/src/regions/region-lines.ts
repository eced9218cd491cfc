import { StoreFailure } from 'sluice'
import type { Replicator } from 'sluice/regions'
import type { Log } from '../logs/log.ts'
import type { RegionOptions } from './options.ts'

/** After so many seconds without a failure to publish, the region can publish again. Longer than an attempt to publish takes. */
const QUIET = 15

/** Logs lost and returned peers, and changes of this region's phase and era (the time in which weights stay the same). */
export function regionLines(log: Log, { self, mode }: Pick<RegionOptions, 'self' | 'mode'>) {
  /** By the region that `region-away` lines name: whether the latest says that this service's own store cannot be used (`setup`). */
  const failing = new Map<string, boolean>()
  /** How often `update` was called since `failed` was last called for this region. */
  let quiet = 0
  let last: string | undefined
  return {
    /**
     * @param peer the region that cannot be read, or this region if it cannot publish what its callers need
     * @param why the reason for a person
     */
    failed(peer: string, error: unknown, why: string, what: string): void {
      if (peer === self) quiet = 0
      const isRefused = error instanceof StoreFailure && error.kind === 'setup'
      // A failure `setup` has a line of its own, even after a line about a failure of another kind.
      if (failing.get(peer) === true || failing.get(peer) === isRefused) return
      failing.set(peer, isRefused)
      log('warn', 'region-away', `region ${peer} ${what}: ${why}; trying again`, { region: peer })
    },
    /** To be called once a second. */
    update(replicator: Pick<Replicator, 'status'>): void {
      const { phase, era, peers } = replicator.status()
      quiet += 1
      // A region publishes at least once a second, and success is not reported.
      if (quiet > QUIET && failing.delete(self)) log('info', 'region-back', `region ${self} can publish again`, { region: self })
      for (const [peer, { failures }] of Object.entries(peers))
        if (failures === 0 && failing.delete(peer)) log('info', 'region-back', `region ${peer} can be read again`, { region: peer })
      // An era may end and the next begin between two calls, with the same phase.
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
