/** Every limit is divided into this many units, which the regions share. */
export const REGION_UNITS = 1_000
/**
 * `escrow`: parts of token buckets move to where the demand is. `fixed`: each region keeps its part. `counters`: each region grants whole
 * token buckets, and is charged later with what the others spent.
 */
export const REGION_MODES = ['escrow', 'fixed', 'counters'] as const
/** The form of a name of a region. Names appear in metrics and in the requests between regions. */
export const REGION_NAME: RegExp = /^[A-Za-z\d](?:[\w.-]{0,62}[A-Za-z\d])?$/

/**
 * The regions that share the limits of a policy. Only the decision service (`sluice serve`) builds its store by this section. An engine
 * decides with the store that a program gives it.
 */
export interface RegionChoice {
  /** The name of this region. Absent: it is set when a service is started, so that all regions can have the same policy. */
  readonly self?: string
  /** All regions in the order of the file. Only the region that `self` names may be missing. Empty if only `weights` names the regions. */
  readonly peers: readonly RegionPeer[]
  /**
   * By the name of a region: the part of every limit, in thousandths, that the region has at first. Absent: all regions have equal weights.
   */
  readonly weights?: Readonly<Record<string, number>>
  /**
   * Whether parts of token buckets move from region to region (`escrow`), every region keeps its part (`fixed`), or every region grants
   * whole token buckets (`counters`).
   */
  readonly mode: (typeof REGION_MODES)[number]
  /**
   * With `counters`: a region that has not read the counters of another region for this many milliseconds grants only its part. Absent: it
   * always grants the whole limit.
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
