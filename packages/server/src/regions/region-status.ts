import type { PeerStatus, ReplicatorStatus } from 'sluice/regions'
import type { OwnStore } from './own-store.ts'
import type { RegionCounts } from './region-metrics.ts'

/** What an operator sees of a region: the body of `GET /v1/regions`. With `mode: fixed` it contains only the weights. */
export interface RegionStatus extends Partial<Omit<ReplicatorStatus, 'self' | 'weights' | 'peers'>> {
  readonly self: string
  readonly mode: 'escrow' | 'fixed' | 'counters'
  /**
   * By region: the part of every limit, in thousandths, that the region has at the start of this era (the time in which weights stay the
   * same). Removed regions are absent.
   */
  readonly weights: Readonly<Record<string, number>>
  /** Requests that no region had signed. */
  readonly requestsRefused?: number
  /**
   * Why the region's own store fails. Failed pulls are then not the fault of the peers, and all other fields are as last read. Absent while
   * the store answers.
   */
  readonly storeFailure?: string
  /** The other regions by name; empty if the regions do not call each other. */
  readonly peers: Readonly<Record<string, PeerStatus & { readonly address: string | undefined }>>
}

/** The status of a region whose replicator reads the others. */
export function statusOf(
  mode: RegionStatus['mode'],
  status: ReplicatorStatus,
  addresses: ReadonlyMap<string, URL>,
  { refused }: RegionCounts,
  own: Pick<OwnStore, 'failure' | 'reasonOf'>,
): RegionStatus {
  const reached = Object.entries(status.peers).map(([name, peer]) => {
    const error = own.reasonOf(name, peer.error)
    return [name, { address: addresses.get(name)?.href, ...peer, error }] as const
  })
  const storeFailure = own.failure(status)
  return {
    mode,
    ...status,
    requestsRefused: refused,
    ...(storeFailure === undefined ? {} : { storeFailure }),
    peers: Object.fromEntries(reached),
  }
}
