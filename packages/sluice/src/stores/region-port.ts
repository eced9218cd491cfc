import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Micros } from '../time/micros.ts'
import type { Call, CallOptions, StateId } from './call.ts'

export { encodePart, stateName, unescapeText } from '../keys/encode.ts'
export { DIGITS, shortDigest } from '../keys/sha256.ts'

/** One key of a limit, as a server has it. */
export interface FoundCell {
  /** Undefined for no state. */
  readonly bucket: readonly number[] | undefined
  /** Identifies the present value of the state; empty if there is no state. */
  readonly digest: string
  /** The end of the block of the key; 0 if the key is not blocked. */
  readonly ends: Micros
  /** The number of the last change of its rows; 0 for none. */
  readonly change: number
  /** Undefined for none. */
  readonly rows: string | undefined
}

/** What a server knows of the regions, and of one cell, at one instant. */
export interface FoundRegion {
  /** This life of the server: its process and its replication history. */
  readonly run: string
  readonly now: Micros
  /** Names the record; empty for none. */
  readonly begins: string
  /** Undefined for none. */
  readonly record: unknown
  readonly cell: FoundCell
}

/** What is written if nothing has changed since it was found. Absent parts stay; null removes. */
export interface RegionWrite {
  readonly record?: unknown
  readonly bucket?: readonly number[] | null
  /** Until when the state is needed. */
  readonly expires?: Micros
  readonly rows?: string | null
  /** The most cells with rows. */
  readonly maxCells?: number
}

/** Cells whose rows changed since a cursor. */
export interface FoundRows {
  readonly run: string
  readonly now: Micros
  readonly record: unknown
  /** How many cells have rows; absent if the server does not say. */
  readonly cells?: number
  readonly cursor: number
  /** Whether there are no more. */
  readonly all: boolean
  readonly rows: readonly { readonly id: StateId; readonly rows: string }[]
}

/** Milliseconds that a server may take to answer a replicator: the ring, which sets deadlines, does not see these calls. */
export const REGION_MS = 5_000

/** What regions need of a store on a server, for rights that are sent between them. */
export interface RegionPort {
  /** @param now decides as if it were this time; 0 for the server's clock */
  read(id: StateId | undefined, now: Micros, options?: CallOptions): Promise<FoundRegion>
  /** Returns the number of the change; 0 if there is no room for another cell; what was found instead if something has changed. */
  write(id: StateId | undefined, found: FoundRegion, write: RegionWrite, now: Micros, options?: CallOptions): Promise<number | FoundRegion>
  /**
   * Writes rows again as they are, with the number of a new change: until processes have read them, they do not decide calls of the cell.
   * The state may be any. Returns what is there then, also if something had changed before; undefined if there is no room for another cell.
   * Absent where a transfer is only tried again.
   */
  touch?(
    id: StateId,
    found: FoundRegion,
    rows: string,
    maxCells: number,
    now: Micros,
    options?: CallOptions,
  ): Promise<FoundRegion | undefined>
  /**
   * Publishes what the callers of a process need, or removes it, and returns what the region's other processes published.
   * @param keepFor how long an entry counts
   * @param most processes
   */
  shareNeeds(process: string, entry: object | undefined, keepFor: Micros, most: number, options?: CallOptions): Promise<readonly unknown[]>
  changedSince(cursor: number, most: number, now: Micros, options?: CallOptions): Promise<FoundRows>
}

/** The share of a key, as this process knows it. */
export interface KnownShare {
  /** By which the key is decided. */
  readonly limit: AnyLimit
  /** Whether the region holds anything of it. */
  readonly holds: boolean
  /** As of the cell. */
  readonly change: number
  /** From when on a key without a state needs no settling. */
  readonly settled: Micros
}

/** What a process knows of the shares of one limit. It may be out of date: the server decides by it only where it is not. */
export interface KnownShares {
  /** Undefined until it was read. */
  readonly view: { readonly run: string; readonly begins: string; readonly shiftedAt: Micros } | undefined
  shareOf(id: StateId): KnownShare
  /** Reads what the server knows of the regions. */
  refresh(options: CallOptions | undefined): Promise<void>
  /** Reads a cell, and applies to its state what happened to the region since it was written. */
  settle(id: StateId, options: CallOptions | undefined): Promise<void>
}

/** A limit of which the region's share is decided. */
const SHARES = Symbol('shares')

/** A limit that the store decides by the share that the region holds of each key. */
export function withShares(limit: AnyLimit, shares: KnownShares): AnyLimit {
  return Object.freeze({ ...limit, [SHARES]: shares })
}

export function sharesOf(limit: AnyLimit): KnownShares | undefined {
  return (limit as { readonly [SHARES]?: KnownShares })[SHARES]
}

export function hasShares(calls: readonly Pick<Call, 'limit'>[]): boolean {
  return calls.some(({ limit }) => sharesOf(limit) !== undefined)
}
