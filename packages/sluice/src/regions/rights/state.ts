import type { BucketState } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import type { Region, Roster, Run } from './roster.ts'

export type { Run }

/**
 * The phase of a store. `learning`: a store that just started or was restored holds nothing until all peers know it. `open`: units may be
 * sent and received. `closed`: they may not, and the era ends once all regions are closed. A closed store still decides calls.
 */
export type Phase = 'learning' | 'open' | 'closed'

/**
 * A change of the units that a region holds of all cells (keys of limits): an era closes or opens. It is applied to each cell when the cell
 * is next used, as if that were at `at`.
 */
export interface Shift {
  readonly era: number
  /** Store time at which the era closed or opened. A later shift has the same or a later time. */
  readonly at: Micros
  readonly units: number
  /**
   * The roster (regions and weights) of the era, and those that may follow it. Of a cell that is not divided, the region holds the least
   * that any of these rosters gives it. Undefined: the region holds nothing.
   */
  readonly rosters: readonly Roster[] | undefined
  /**
   * If true, an era closes: the region keeps at most `units` of each cell. Otherwise an era opens, and the region holds exactly `units`.
   */
  readonly cut: boolean
}

/** What a region's store knows of all regions and their eras. It applies to all keys. */
export interface RegionStore {
  readonly region: Region
  readonly run: Run
  readonly phase: Phase
  readonly era: number
  /** The weights of this era. */
  readonly roster: Roster
  /**
   * A roster has regions and weights. In the phase `closed`: that of the next era. In `learning`: that of the configuration. Undefined in
   * `open`.
   */
  readonly next: Roster | undefined
  /** The latest shifts of this run (one life of the store), oldest first: at least one, at most MAX_SHIFTS. */
  readonly shifts: readonly [Shift, ...Shift[]]
  /** For each peer, the run (life of the peer's store) with which this store exchanges rows. */
  readonly bound: ReadonlyMap<Region, Run>
  /** For each peer, how many of its runs this run has bound, that is, exchanged rows with. */
  readonly joins: ReadonlyMap<Region, number>
  /** The answers of peers, while learning. */
  readonly answers: ReadonlyMap<Region, Answer>
  /**
   * Set if a peer exchanges rows with a later run of this region, so another store has the region's name. This store then holds nothing any
   * more, and requests no peer to exchange rows with it.
   */
  readonly replaced?: true
}

/** The most shifts (closes and opens of eras) that are kept. They are enough for a cell that was last used in the previous era. */
export const MAX_SHIFTS = 4

/** One key of one limit in one region. */
export interface Cell {
  /** Undefined: the key is in its initial state. Always present if there are rows. */
  readonly bucket: BucketState | undefined
  readonly rows: Rows | undefined
}

export const EMPTY_CELL: Cell = Object.freeze({ bucket: undefined, rows: undefined })

/** What this region has sent of a key to each peer, and received from each peer, in one era. */
export interface Rows {
  readonly era: number
  /** The units that the region held of the key in the era before any were sent or received. */
  readonly weight: number
  /** Set if the cell is not divided (R8). */
  readonly whole?: true
  readonly sent: ReadonlyMap<Region, Sent>
  readonly received: ReadonlyMap<Region, Received>
}

/** What was sent to one peer of a key, as sums that only grow. So a row that is repeated or late does no harm. */
export interface Sent {
  readonly units: number
  /** The sum of the tokens that were sent, in micro-tokens. */
  readonly tokens: number
  /** The limit under which the last tokens were sent. */
  readonly policy: string
  /** The value of `tokens` when this policy was first used for the row. Tokens up to this value were sent under another policy. */
  readonly base: number
}

/** What was received of a key from one peer: the largest sums that its messages had. */
export interface Received {
  readonly units: number
  readonly tokens: number
}

/** What was sent of a key, as the peer reads it. It names the run (life of the store) that sent it, and the run that it is for. */
export interface Row extends Sent {
  readonly from: Region
  readonly run: Run
  readonly to: Region
  readonly toRun: Run | undefined
  readonly era: number
}

/** A row, with the key that it belongs to. */
export interface CellRow {
  readonly scope: string
  readonly key: string
  readonly row: Row
}

/** What a store reports of itself to a peer. */
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

/** What a store that just started or was restored (a new run) needs to know of a peer before it sends the peer a hello. */
export interface Invitation {
  readonly from: Region
  readonly run: Run
  readonly joins: number
}

/**
 * The request of a new run that a peer binds it, that is, exchanges rows with this run only. The request counts only for the run of the
 * peer that it names. It does not count if that run has bound another run of the region since.
 */
export interface Hello {
  readonly from: Region
  readonly run: Run
  readonly to: Region
  readonly toRun: Run
  /** The count of runs in the peer's invitation. */
  readonly joins: number
  /**
   * How many runs of the peer `to` the new run has bound. The answer repeats this number. If the new run has bound another run of that peer
   * since, it ignores the answer.
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
  /** Units sent in all, in thousandths of the limits of their keys. */
  unitsSent: number
  /** Units received in all. */
  unitsReceived: number
}

/** What a region reads from a peer in one request. */
export interface Page {
  /** What was sent of each key that changed since the cursor (a change number), the oldest changes first. */
  readonly rows: readonly CellRow[]
  /**
   * The peer's status: its era and phase. Undefined while more pages follow, because a status counts only after all units that were sent
   * before it.
   */
  readonly status: Status | undefined
  /** The cursor for the next page. */
  readonly cursor: number
}
