import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Micros } from '../time/micros.ts'
import type { Call, CallOptions, StateId } from './call.ts'

export { encodePart, stateName, unescapeText } from '../keys/encode.ts'
export { DIGITS, shortDigest } from '../keys/sha256.ts'

/** What a server has stored for one key of a limit. */
export interface FoundCell {
  /** The numbers of the bucket; undefined if there is no state. */
  readonly bucket: readonly number[] | undefined
  /** Identifies the present value of the state; empty if there is no state. */
  readonly digest: string
  /** Until when the key is blocked, in store time; 0 if it is not blocked. */
  readonly ends: Micros
  /** The number of the last change of the key's rows (what was sent and received); 0 if the key has no rows. */
  readonly change: number
  /** The rows as text: what regions have sent each other of this key. Undefined if there are no rows. */
  readonly rows: string | undefined
}

/** What a server knows of all regions, and of one key, at one instant. */
export interface FoundRegion {
  /** Names the run: one life of the server, identified by its process and its replication history. */
  readonly run: string
  readonly now: Micros
  /** How the region's record begins, by which a process recognizes the record; empty if there is no record. */
  readonly begins: string
  /** The state of the region, as it was stored. Undefined if there is no state. */
  readonly record: unknown
  readonly cell: FoundCell
}

/** What is written if nothing has changed since it was read. A value whose field is absent stays as it is; null removes the value. */
export interface RegionWrite {
  readonly record?: unknown
  readonly bucket?: readonly number[] | null
  /** Store time until which the state is needed, in microseconds. */
  readonly expires?: Micros
  readonly rows?: string | null
  /** The most cells that may have rows. */
  readonly maxCells?: number
}

/** The cells whose rows changed since a cursor. */
export interface FoundRows {
  readonly run: string
  readonly now: Micros
  readonly record: unknown
  /** Of how many keys units were sent or received; absent if the server does not report this. */
  readonly cells?: number
  readonly cursor: number
  /** Whether the page has all keys that changed after the cursor, so that no further page is needed. */
  readonly all: boolean
  readonly rows: readonly { readonly id: StateId; readonly rows: string }[]
}

/**
 * Milliseconds within which a server must answer a replicator (which sends units between regions). These calls need a deadline of their
 * own, because they do not pass through the ring, which sets the deadlines of decisions.
 */
export const REGION_MS = 5_000

/** What regions need of a store on a server, to send each other units of keys. */
export interface RegionPort {
  /** @param now the time to read at, in microseconds; 0 for the server's clock */
  read(id: StateId | undefined, now: Micros, options?: CallOptions): Promise<FoundRegion>
  /**
   * Writes, unless something has changed since `found` was read. Returns the number of the change that it made, or 0 if there is no room
   * for another key of which units were sent or received. If something has changed, returns what is there now.
   */
  write(id: StateId | undefined, found: FoundRegion, write: RegionWrite, now: Micros, options?: CallOptions): Promise<number | FoundRegion>
  /**
   * Writes the same rows of a key (what was sent and received) again, with the number of a new change. From then on the server decides no
   * call of the key for a process until that process has read the rows. The key's state may have changed since it was read, but nothing
   * else. Returns what is there now. Undefined if there is no room for another key with rows. A store without this method only tries again
   * if a key is busy.
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
   * Publishes what the callers of a process need, or removes it if `entry` is absent. Returns what the region's other processes published.
   * @param keepFor microseconds for which an entry counts
   * @param most the most processes that may publish; one more publishes nothing
   */
  shareNeeds(process: string, entry: object | undefined, keepFor: Micros, most: number, options?: CallOptions): Promise<readonly unknown[]>
  changedSince(cursor: number, most: number, now: Micros, options?: CallOptions): Promise<FoundRows>
}

/** A region's share of a key, as this process knows it. */
export interface KnownShare {
  /** The share as a limit. It decides calls of the key. */
  readonly limit: AnyLimit
  /** Whether the region holds any units of the key. */
  readonly holds: boolean
  /** The number of the last change of the key's rows (what was sent and received) that this process has read; 0 if the key has no rows. */
  readonly change: number
  /** Store time from which on a key without a state is full, so that `settle` need not write its state. */
  readonly settled: Micros
}

/**
 * What a process knows of the shares of one limit. It may be out of date. So the server decides by a share only if the server has the same
 * share.
 */
export interface KnownShares {
  /** Undefined until the region's record was read. */
  readonly view: { readonly run: string; readonly begins: string; readonly shiftedAt: Micros } | undefined
  shareOf(id: StateId): KnownShare
  /** Reads the region's record from the server. */
  refresh(options: CallOptions | undefined): Promise<void>
  /** Reads a key, and brings its state up to date: applies the closes and opens of eras that happened since the state was written. */
  settle(id: StateId, options: CallOptions | undefined): Promise<void>
}

/** The property of a limit that is decided by shares. */
const SHARES = Symbol('shares')

/** Returns the limit with a mark: the store must decide its calls by the share that the region holds of each key. */
export function withShares(limit: AnyLimit, shares: KnownShares): AnyLimit {
  return Object.freeze({ ...limit, [SHARES]: shares })
}

export function sharesOf(limit: AnyLimit): KnownShares | undefined {
  return (limit as { readonly [SHARES]?: KnownShares })[SHARES]
}

export function hasShares(calls: readonly Pick<Call, 'limit'>[]): boolean {
  return calls.some(({ limit }) => sharesOf(limit) !== undefined)
}
