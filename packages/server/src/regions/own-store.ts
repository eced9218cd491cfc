import { StoreFailure } from 'sluice'
import type { ReplicatorStatus } from 'sluice/regions'

export type OwnStore = ReturnType<typeof followOwnStore>

/** What a failure of the region's own store means, for a person. It names the store, because the peers are not to blame. */
export function storeFailureText({ kind, message }: StoreFailure): string {
  // A store that refuses this region does answer.
  return `the store of this region ${kind === 'setup' ? 'cannot be used' : 'does not answer'}: ${message}`
}

/**
 * Follows whether the region's own store answers, by the pulls of its peers: each one reads that store before it calls the peer.
 * @param now milliseconds of a clock that never goes back
 */
export function followOwnStore(self: string, now: () => number = () => performance.now()) {
  let lost: { readonly why: string; readonly at: number } | undefined
  /** The peers whose latest failed pull failed at this region's own store, with the reason for a person. */
  const blamed = new Map<string, string>()
  return {
    /**
     * Records that a pull of a peer failed or, if `peer` is this region's name, a call of its own store. Returns the reason for a person.
     */
    failed(peer: string, error: unknown): string {
      if (error instanceof StoreFailure) {
        const why = storeFailureText(error)
        lost = { why, at: now() }
        if (peer !== self) blamed.set(peer, why)
        return why
      }
      blamed.delete(peer)
      // The pull got as far as to the peer, so the store has answered.
      if (peer !== self) lost = undefined
      return error instanceof Error ? error.message : String(error)
    },
    /** Why the store fails, as of the latest call; undefined while it answers. */
    failure({ peers }: Pick<ReplicatorStatus, 'peers'>): string | undefined {
      const began = now() - Math.min(...Object.values(peers).map(({ lagMs = Infinity }) => lagMs))
      if (lost !== undefined && began > lost.at) lost = undefined
      return lost?.why
    },
    /** Why a peer cannot be read, with the store's name if the store is to blame. */
    reasonOf: (peer: string, error: string | undefined): string | undefined =>
      error === undefined ? undefined : (blamed.get(peer) ?? error),
  }
}
