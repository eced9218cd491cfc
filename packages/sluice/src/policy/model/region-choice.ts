/** The units that every limit is divided into. */
export const REGION_UNITS = 1_000
export const REGION_MODES = ['escrow', 'fixed', 'counters'] as const
/** Names appear in metrics and in the requests between regions. */
export const REGION_NAME: RegExp = /^[A-Za-z\d](?:[\w.-]{0,62}[A-Za-z\d])?$/

/** The regions that share a policy's limits. Only `sluice serve` uses this section. */
export interface RegionChoice {
  /** Name of this region; absent: set when the service is started. */
  readonly self?: string
  /** The regions that the file lists, in its order. This region may be in the list or not. Empty if only `weights` names regions. */
  readonly peers: readonly RegionPeer[]
  /** By region, its initial part of every limit, in thousandths; absent: equal. */
  readonly weights?: Readonly<Record<string, number>>
  /**
   * `escrow`: parts of token buckets move by demand. `fixed`: parts stay. `counters`: each region grants whole token buckets, and is
   * charged later with what the others spent.
   */
  readonly mode: (typeof REGION_MODES)[number]
  /**
   * With `counters`: milliseconds without news of another region, after which a region grants only its part of the limit. Absent: never.
   */
  readonly cutoffMs?: number
}

/** A region that a policy names. */
export interface RegionPeer {
  /** The name of the region; unique. */
  readonly name: string
  /** The address of its service; absent if the policy gives none. */
  readonly url?: string
}
