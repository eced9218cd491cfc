import type { PeerStatus, ReplicatorStatus } from 'sluice/regions'
import type { OwnStore } from './own-store.ts'
import type { RegionCounts } from './region-metrics.ts'

/** The body of `GET /v1/regions`; with mode `fixed` all optional fields are absent. */
export interface RegionStatus extends Partial<Omit<ReplicatorStatus, 'self' | 'weights' | 'peers'>> {
  readonly self: string
  readonly mode: 'escrow' | 'fixed' | 'counters'
  /** At the last change of weights: each region's thousandths of every limit. Removed regions are absent. */
  readonly weights: Readonly<Record<string, number>>
  readonly requestsRefused?: number
  /** Why the own store fails: then peers are not at fault, and all other fields are as last read. Absent while the store answers. */
  readonly storeFailure?: string
  /** Empty if the regions do not call each other. */
  readonly peers: Readonly<Record<string, PeerStatus & { readonly address: string | undefined }>>
}

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
