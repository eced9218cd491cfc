import type { BucketState } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import type { Region, Roster, Run } from './roster.ts'

export type { Run }

/**
 * `learning`: a new run holds nothing until all peers know it. `open`: rights may be sent and received. `closed`: they may not, and the era
 * ends once all regions are closed; a closed store keeps deciding.
 */
export type Phase = 'learning' | 'open' | 'closed'

/** A change of the units that every cell holds. Cells apply it when they are used, as of `at`. */
export interface Shift {
  readonly era: number
  /** Store time; later shifts have the same or a later time. */
  readonly at: Micros
  readonly units: number
  /** The roster of the era, and those that may follow it: a cell that is not divided begins by each of them. Undefined: nothing is held. */
  readonly rosters: readonly Roster[] | undefined
  /** Whether cells keep at most these units (an era closes). If not, they hold exactly these units (an era opens). */
  readonly cut: boolean
}

/** What a store knows of the regions, for all its cells. */
export interface RegionStore {
  readonly region: Region
  readonly run: Run
  readonly phase: Phase
  readonly era: number
  /** The weights of this era. */
  readonly roster: Roster
  /** The roster of the next era while closed; while learning, the roster by configuration; undefined while open. */
  readonly next: Roster | undefined
  /** The latest shifts of this run, oldest first: at most MAX_SHIFTS, at least one. */
  readonly shifts: readonly [Shift, ...Shift[]]
  /** The run of each peer with which rows are exchanged. */
  readonly bound: ReadonlyMap<Region, Run>
  /** How many runs of each peer this run has bound. */
  readonly joins: ReadonlyMap<Region, number>
  /** While learning: what peers have answered. */
  readonly answers: ReadonlyMap<Region, Answer>
  /** Set if a peer has bound a later run of this region: another store has its name. This one holds nothing any more, and greets nobody. */
  readonly replaced?: true
}

/** Enough for a cell that was last used in the previous era. */
export const MAX_SHIFTS = 4

/** One key of one limit in one region. */
export interface Cell {
  /** Undefined: the key equals the initial state. Present while there are rows. */
  readonly bucket: BucketState | undefined
  readonly rows: Rows | undefined
}

export const EMPTY_CELL: Cell = Object.freeze({ bucket: undefined, rows: undefined })

/** What a cell has sent to and received from each peer in one era. */
export interface Rows {
  readonly era: number
  /** The units that the cell held before any were sent or received. */
  readonly weight: number
  /** Set if the cell is not divided (R8). */
  readonly whole?: true
  readonly sent: ReadonlyMap<Region, Sent>
  readonly received: ReadonlyMap<Region, Received>
}

/** Sums of what was sent to one peer. They only grow, so a row that is repeated or late does no harm. */
export interface Sent {
  readonly units: number
  /** Micro-tokens. */
  readonly tokens: number
  /** The limit under which the last tokens were sent. */
  readonly policy: string
  /** `tokens` when that limit was first used for this row: those before were sent under another. */
  readonly base: number
}

/** The largest sums that were received from one peer. */
export interface Received {
  readonly units: number
  readonly tokens: number
}

/** A row on its way, with the run that wrote it, and the run it is for. */
export interface Row extends Sent {
  readonly from: Region
  readonly run: Run
  readonly to: Region
  readonly toRun: Run | undefined
  readonly era: number
}

/** A row with the key that it belongs to. */
export interface CellRow {
  readonly scope: string
  readonly key: string
  readonly row: Row
}

/** What a store reports to a peer. */
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

/** What a new run needs to know of a peer before its hello. */
export interface Invitation {
  readonly from: Region
  readonly run: Run
  readonly joins: number
}

/** A new run's request to be bound: applied only by the run it names, and only if no other run of the region was bound since. */
export interface Hello {
  readonly from: Region
  readonly run: Run
  readonly to: Region
  readonly toRun: Run
  /** The peer's count of runs in its invitation. */
  readonly joins: number
  /**
   * How many runs of the peer `to` the new run has bound. The answer repeats this number. If the new run has bound another run of the peer
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

/** What a region reads of a peer at one instant. */
export interface Page {
  /** Those that changed since the cursor, the oldest changes first. */
  readonly rows: readonly CellRow[]
  /** Undefined while more rows are left: it counts only after all rows of its instant. */
  readonly status: Status | undefined
  /** The cursor for the next page. */
  readonly cursor: number
}
