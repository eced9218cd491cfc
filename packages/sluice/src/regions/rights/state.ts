import type { BucketState } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import type { Region, Roster, Run } from './roster.ts'

export type { Run }

/**
 * `learning`: a store that just started or was restored holds nothing until all peers know it. `open`: units may be sent and received.
 * `closed`: they may not, and the era ends once all regions are closed. Calls are decided in each phase.
 */
export type Phase = 'learning' | 'open' | 'closed'

/**
 * The close or open of an era, which changes the units that a region holds of all cells (keys of limits). Each cell is updated at its next
 * use, as if at `at`.
 */
export interface Shift {
  readonly era: number
  /** Store time; never before that of an earlier shift. */
  readonly at: Micros
  readonly units: number
  /**
   * The roster (regions and weights) of the era, and those that may follow. The region then holds an undivided cell (all units in one
   * region) only if each roster gives it the cell. Undefined: the region holds nothing.
   */
  readonly rosters: readonly Roster[] | undefined
  /**
   * Whether the shift closes an era (time of constant weights): the region then keeps what it holds of a key, but at most `units`.
   * Otherwise it holds exactly `units`. For undivided keys, `rosters` replace `units`.
   */
  readonly cut: boolean
}

/** What a region's store knows of all regions and eras. */
export interface RegionStore {
  readonly region: Region
  readonly run: Run
  readonly phase: Phase
  readonly era: number
  readonly roster: Roster
  /** The roster of the next era (in `closed`) or of the configuration (in `learning`). Undefined in `open`. */
  readonly next: Roster | undefined
  /** Of this run, oldest first: one to MAX_SHIFTS. */
  readonly shifts: readonly [Shift, ...Shift[]]
  /** For each peer, the run (life of its store) with which this store exchanges rows. */
  readonly bound: ReadonlyMap<Region, Run>
  /** For each peer, how many of its runs (lives of its store) this store has accepted. */
  readonly joins: ReadonlyMap<Region, number>
  readonly answers: ReadonlyMap<Region, Answer>
  /** Set if another store has this region's name now. This store then holds nothing. */
  readonly replaced?: true
}

/** A close and an open for each of the last two changes of weights. A cell last used before all four loses its tokens. */
export const MAX_SHIFTS = 4

/** One key of one limit in one region. */
export interface Cell {
  /** Undefined: the initial state. Always present if there are rows. */
  readonly bucket: BucketState | undefined
  readonly rows: Rows | undefined
}

export const EMPTY_CELL: Cell = Object.freeze({ bucket: undefined, rows: undefined })

/** What this region has sent of a key to each peer, and received from each, in one era. */
export interface Rows {
  readonly era: number
  /** The units held of the key before any were sent or received in the era. */
  readonly weight: number
  /** Set if one region holds all units of the cell. */
  readonly whole?: true
  readonly sent: ReadonlyMap<Region, Sent>
  readonly received: ReadonlyMap<Region, Received>
}

/** Sums that only grow, so that a repeated or late row does no harm. */
export interface Sent {
  readonly units: number
  /** Sum of sent micro-tokens. */
  readonly tokens: number
  /** The limit under which tokens were last sent. */
  readonly policy: string
  /** `tokens` when this policy was first used. The tokens up to `base` were sent under other limits. */
  readonly base: number
}

/** The largest sums of one peer's messages. */
export interface Received {
  readonly units: number
  readonly tokens: number
}

/** What `from` has sent to `to`, as `to` reads it. `run` and `toRun` are their runs (lives of their stores). */
export interface Row extends Sent {
  readonly from: Region
  readonly run: Run
  readonly to: Region
  readonly toRun: Run | undefined
  readonly era: number
}

export interface CellRow {
  readonly scope: string
  readonly key: string
  readonly row: Row
}

export interface Status {
  readonly from: Region
  readonly run: Run
  readonly to: Region
  readonly toRun: Run | undefined
  readonly phase: Phase
  readonly era: number
  readonly roster: Roster
  readonly next: Roster | undefined
}

/** What a new run (life of a store) must know of a peer before it sends a hello, the request to exchange units. */
export interface Invitation {
  readonly from: Region
  readonly run: Run
  readonly joins: number
}

/**
 * Requests that the peer `to` exchanges rows only with the sender's new `run` (life of its store). Void if the peer's own run is not
 * `toRun`, or if the peer has accepted another run of the sender since its invitation.
 */
export interface Hello {
  readonly from: Region
  readonly run: Run
  readonly to: Region
  readonly toRun: Run
  /** From the peer's invitation. */
  readonly joins: number
  /**
   * How many runs of `to` the sender has accepted. The answer repeats this number, and is ignored if the sender's number differs by then.
   */
  readonly seen: number
}

export interface Answer extends Status {
  readonly seen: number
}

/** Counts since a store was started. */
export interface Transfers {
  /** How often this region sent units. */
  sent: number
  /** How often it received units. */
  received: number
  /** Units sent in all: thousandths of their keys' limits. */
  unitsSent: number
  /** Units received in all. */
  unitsReceived: number
}

export interface Page {
  /** Changes since the cursor (a change number), the oldest first. */
  readonly rows: readonly CellRow[]
  /**
   * The peer's era and phase. Undefined while more pages follow: the status counts only once all units that were sent before it are read.
   */
  readonly status: Status | undefined
  readonly cursor: number
}
