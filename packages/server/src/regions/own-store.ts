import { StoreFailure } from 'sluice'
import type { ReplicatorStatus } from 'sluice/regions'

export type OwnStore = ReturnType<typeof followOwnStore>

/** Names the store, because the failure is not the fault of a peer. */
export function storeFailureText({ kind, message }: StoreFailure): string {
  // A store that refuses this region does answer.
  return `the store of this region ${kind === 'setup' ? 'cannot be used' : 'does not answer'}: ${message}`
}

/**
 * Each pull (request to a peer) first reads this region's own store, so the error of a failed pull shows which of the two failed.
 * @param now milliseconds of a clock that never goes back
 */
export function followOwnStore(self: string, now: () => number = () => performance.now()) {
  let lost: { readonly why: string; readonly at: number } | undefined
  /** Peers whose latest pull failed because of the own store, with the reason. */
  const blamed = new Map<string, string>()
  return {
    /** `peer`: the peer that could not be pulled; `self` if another call of the own store failed. Returns the reason for an operator. */
    failed(peer: string, error: unknown): string {
      if (error instanceof StoreFailure) {
        const why = storeFailureText(error)
        lost = { why, at: now() }
        if (peer !== self) blamed.set(peer, why)
        return why
      }
      blamed.delete(peer)
      // The request reached the peer, so the own store has answered.
      if (peer !== self) lost = undefined
      return error instanceof Error ? error.message : String(error)
    },
    /** Undefined while the store answers. */
    failure({ peers }: Pick<ReplicatorStatus, 'peers'>): string | undefined {
      const began = now() - Math.min(...Object.values(peers).map(({ lagMs = Infinity }) => lagMs))
      if (lost !== undefined && began > lost.at) lost = undefined
      return lost?.why
    },
    reasonOf: (peer: string, error: string | undefined): string | undefined =>
      error === undefined ? undefined : (blamed.get(peer) ?? error),
  }
}
