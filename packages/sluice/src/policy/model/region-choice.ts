/** The right to every limit has so many units, which the regions divide. */
export const REGION_UNITS = 1_000
/** `escrow`: parts of token buckets move to where the demand is. `fixed`: each region keeps its part. */
export const REGION_MODES = ['escrow', 'fixed'] as const
/** Names appear in metrics and in the requests between regions. */
export const REGION_NAME: RegExp = /^[A-Za-z\d](?:[\w.-]{0,62}[A-Za-z\d])?$/

/** The regions that share the limits of a policy. A service uses them; an engine has the store that it is given. */
export interface RegionChoice {
  /** The name of this region. Absent: whoever starts a service says it, so that all regions can have the same policy. */
  readonly self?: string
  /**
   * The regions in the order of the file: all of them, but for the one that `self` names, which may be missing. Empty if only `weights`
   * names them.
   */
  readonly peers: readonly RegionPeer[]
  /** Thousandths of every limit, by the name of the region that holds them at first. Absent: all have equal weights. */
  readonly weights?: Readonly<Record<string, number>>
  /** Whether parts of token buckets move from region to region (`escrow`), or every region keeps its part (`fixed`). */
  readonly mode: (typeof REGION_MODES)[number]
}

/** A region that a policy names. */
export interface RegionPeer {
  /** Unique among the regions. */
  readonly name: string
  /** The address of its service; absent if the policy gives none. */
  readonly url?: string
}
