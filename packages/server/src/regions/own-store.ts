import { StoreFailure } from 'sluice'
import type { ReplicatorStatus } from 'sluice/regions'

export type OwnStore = ReturnType<typeof followOwnStore>

/**
 * A failure of the region's own store as a text for an operator. The text names the store, because the failure is not the fault of a peer.
 */
export function storeFailureText({ kind, message }: StoreFailure): string {
  // A store that refuses this region does answer.
  return `the store of this region ${kind === 'setup' ? 'cannot be used' : 'does not answer'}: ${message}`
}

/**
 * Follows whether the region's own store answers. It learns this from the pulls, the requests to peers: each pull reads the own store
 * before it calls the peer.
 * @param now milliseconds of a clock that never goes back
 */
export function followOwnStore(self: string, now: () => number = () => performance.now()) {
  let lost: { readonly why: string; readonly at: number } | undefined
  /**
   * The peers whose latest failed pull did not get as far as to the peer, because this region's own store failed; each with the reason as a
   * text.
   */
  const blamed = new Map<string, string>()
  return {
    /**
     * Records that a pull (request) to a peer failed or, if `peer` is this region's name, a call of its own store. Returns the reason as a
     * text for an operator.
     */
    failed(peer: string, error: unknown): string {
      if (error instanceof StoreFailure) {
        const why = storeFailureText(error)
        lost = { why, at: now() }
        if (peer !== self) blamed.set(peer, why)
        return why
      }
      blamed.delete(peer)
      // The pull (request) got as far as to the peer, so this region's own store has answered.
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
