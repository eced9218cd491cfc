import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Micros } from '../time/micros.ts'
import type { Call, CallOptions, StateId } from './call.ts'

export { encodePart, stateName, unescapeText } from '../keys/encode.ts'
export { DIGITS, shortDigest } from '../keys/sha256.ts'

export interface FoundCell {
  /** Undefined if there is no state. */
  readonly bucket: readonly number[] | undefined
  /** Identifies the present value of the state; empty without a state. */
  readonly digest: string
  /** Store time at which the key's block ends; 0 for none. */
  readonly ends: Micros
  /** The number of the last change of `rows`; 0 if there are none. */
  readonly change: number
  /** As text, what regions have sent each other of this key. */
  readonly rows: string | undefined
}

export interface FoundRegion {
  /** Names one life of the server's data. A restart, restore or promotion begins another. */
  readonly run: string
  readonly now: Micros
  /** Run, and number of the last change, of the region's record: processes notice changes by it. Empty without a record. */
  readonly begins: string
  /** As it was stored; undefined if nothing was. */
  readonly record: unknown
  readonly cell: FoundCell
}

/** Written if nothing has changed since it was read. An absent field leaves a value as it is; null removes it. */
export interface RegionWrite {
  readonly record?: unknown
  readonly bucket?: readonly number[] | null
  /** Store time until which the state is needed. */
  readonly expires?: Micros
  readonly rows?: string | null
  /** The most keys that may have rows. */
  readonly maxCells?: number
}

export interface FoundRows {
  readonly run: string
  readonly now: Micros
  readonly record: unknown
  /** How many keys have rows; absent if the server does not report this. */
  readonly cells?: number
  readonly cursor: number
  /** Whether no further page is needed. */
  readonly all: boolean
  readonly rows: readonly { readonly id: StateId; readonly rows: string }[]
}

/** Milliseconds within which a server must answer a replicator, whose calls do not get the deadline of decisions. */
export const REGION_MS = 5_000

/** What regions need of a server, to send each other parts of keys' limits. */
export interface RegionPort {
  /** @param now in microseconds; 0 for the server's clock */
  read(id: StateId | undefined, now: Micros, options?: CallOptions): Promise<FoundRegion>
  /**
   * Writes, unless something has changed since `found` was read: then returns what is there now. Otherwise returns the number of the
   * change, or 0 if there is no room for another key with rows.
   */
  write(id: StateId | undefined, found: FoundRegion, write: RegionWrite, now: Micros, options?: CallOptions): Promise<number | FoundRegion>
  /**
   * Writes the same rows again under a new change number, unless anything but the key's state has changed since the read. The server then
   * decides no call of the key for processes that know only an earlier number. Returns what is there now; undefined if there is no room for
   * another key with rows.
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
   * Publishes units that a process's callers need, or removes them without `entry`. Returns what the region's other processes published.
   * @param keepFor microseconds for which an entry counts
   * @param most the most processes that may publish; one more publishes nothing
   */
  shareNeeds(process: string, entry: object | undefined, keepFor: Micros, most: number, options?: CallOptions): Promise<readonly unknown[]>
  changedSince(cursor: number, most: number, now: Micros, options?: CallOptions): Promise<FoundRows>
}

export interface KnownShare {
  /** The share as a limit, which decides calls of the key. */
  readonly limit: AnyLimit
  /** Whether the region holds any units of the key. */
  readonly holds: boolean
  /** The number of the last change of the key's rows (what regions sent each other) that this process has read; 0 without rows. */
  readonly change: number
  /** Store time from which a key without a state is full. Until then, a call needs a state, which `KnownShares.settle` writes. */
  readonly settled: Micros
}

/** The shares that this process knows. They may be out of date, so the server compares them before it decides a call. */
export interface KnownShares {
  /** Undefined until the region's record was read. */
  readonly view: { readonly run: string; readonly begins: string; readonly shiftedAt: Micros } | undefined
  shareOf(id: StateId): KnownShare
  refresh(options: CallOptions | undefined): Promise<void>
  /** Reads a key, and converts its state to the region's present share. */
  settle(id: StateId, options: CallOptions | undefined): Promise<void>
}

const SHARES = Symbol('shares')

/** Marks a limit: the store must decide its calls by the share that the region holds of each key. */
export function withShares(limit: AnyLimit, shares: KnownShares): AnyLimit {
  return Object.freeze({ ...limit, [SHARES]: shares })
}

export function sharesOf(limit: AnyLimit): KnownShares | undefined {
  return (limit as { readonly [SHARES]?: KnownShares })[SHARES]
}

export function hasShares(calls: readonly Pick<Call, 'limit'>[]): boolean {
  return calls.some(({ limit }) => sharesOf(limit) !== undefined)
}
