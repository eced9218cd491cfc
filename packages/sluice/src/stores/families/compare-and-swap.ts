import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { applyGroup } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import type { Random, Time } from '../../time/time.ts'
import { createRemoteCalls, type RemoteCalls } from '../remote-calls.ts'
import {
  type CallGroup,
  type Capabilities,
  type Change,
  changedStates,
  type ChangeResult,
  type DecideOptions,
  type GroupVerdict,
  type StateId,
  type Store,
  StoreFailure,
  verdictOf,
} from '../store.ts'
import { inRuns } from '../batch/change-runs.ts'
import { callsOf } from '../group-options.ts'
import { changedRows } from './changed-rows.ts'
import { ABSENT, rowOf, rowWith, stateOf, type SwapRow } from './swap-row.ts'

export type { SwapRow } from './swap-row.ts'

export interface SwapWrite extends SwapRow {
  readonly id: string
  /** Random, so that a row which is deleted and created again does not get an earlier version. */
  readonly next: string
}

/** The existing rows, by id, and the backend's time. */
export interface SwapRead {
  readonly rows: ReadonlyMap<string, SwapRow>
  readonly now: Micros
}

/** Each method may be called again after a failure. */
export interface SwapBackend {
  readonly name: string
  /** Whose time `read` returns. */
  readonly clock: Capabilities['clock']
  /** The id of a state's row. Different states have different ids. */
  idOf(id: StateId): string
  read(ids: readonly string[], options: DecideOptions | undefined): Promise<SwapRead>
  /**
   * Writes all rows if each still has the version that was read, otherwise none. Returns whether it wrote. A row that is absent when it is
   * read and when it is written counts as unchanged. So the backend must keep each row for `KEPT_MS` after each write, even if the row
   * expires earlier. With `options.now`, `expiresAt` may be past by the backend's clock.
   */
  write(rows: readonly SwapWrite[], options: DecideOptions | undefined): Promise<boolean>
  classify(error: unknown): StoreFailure
  /** Whether the server aborted an attempt because of concurrent calls. Then nothing was written, and another attempt may succeed. */
  isConflict?(error: unknown): boolean
  /** The limit with the algorithm that decides on this backend's states, such as token buckets with leases. Default: the limit itself. */
  limitOf?(limit: AnyLimit): AnyLimit
  /** Why this row may not be created; undefined if it may. */
  refuse?(id: string): StoreFailure | undefined
  /** Runs the attempts of one call. Default: bounded by `maxInFlight` and the deadline. */
  run?: <T>(attempts: () => Promise<T>, options: DecideOptions | undefined) => Promise<T>
}

export interface SwapOptions {
  readonly clock: Time
  /** For versions of rows, and for pauses before further attempts. */
  readonly random: Random
  /** Includes calls that were abandoned at their deadline. Default 10,000. */
  readonly maxInFlight?: number
}

/** How long a row must be kept: see `SwapBackend.write`. */
export const KEPT_MS = 2_000
/**
 * The longest time in milliseconds from reading a row as absent to the end of writing it. It is shorter than `KEPT_MS`, so no other call
 * can have created and deleted the row meanwhile. If a write ends later, the call fails, because it may have missed the charges of others.
 */
const MAX_ATTEMPT_MS = KEPT_MS / 2

/** The longest pause before the second attempt, in milliseconds. It doubles with each attempt, up to MAX_PAUSE_MS. */
const PAUSE_MS = 2
const MAX_PAUSE_MS = 50
/** MAX_HASTY_TRIES is for calls with `onContention: 'fail'`. */
const MAX_TRIES = 100
const MAX_HASTY_TRIES = 3

const CHANGES = ['adjust', 'leave', 'release', 'settle', 'extend', 'block', 'unblock', 'reset'] as const

/**
 * A store on any backend that can read rows, and write them if they have not changed since. If a row has changed, the store reads and
 * decides again, after a random pause and within the deadline.
 */
export function compareAndSwapStore(backend: SwapBackend, { clock, random, maxInFlight = 10_000 }: SwapOptions): Store {
  const { name } = backend
  const calls: RemoteCalls = createRemoteCalls(name, clock, { maxInFlight })
  const run = backend.run ?? ((attempts, options) => calls.run(attempts, options, backend.classify))
  const swap = createSwap(backend, run, clock, random)
  return {
    name,
    capabilities: { clock: backend.clock, atomicBatch: 'any', changes: CHANGES, groupOptions: ['maxWait', 'hold'], sync: false },
    decide: (groups, options) => {
      const states = groups.flatMap(({ calls: all }) => all.map(({ id }) => id))
      return swap(states, options, (rows, now) => decided(backend, groups, rows, now, options?.charge === false))
    },
    change: (changes, options) =>
      inRuns(changes, (alike) => swap(alike.flatMap(changedStates), options, (rows, now) => changed(backend, alike, rows, now))),
    ready: (options) => swap([], options, () => ({ answer: undefined, rows: new Map() })),
    close: async () => {},
  }
}

/** The rows must be written before the answer may be returned. */
interface Computed<T> {
  readonly answer: T
  readonly rows: ReadonlyMap<string, SwapRow>
}

type Compute<T> = (rows: ReadonlyMap<string, SwapRow>, now: Micros) => Computed<T>

function createSwap(backend: SwapBackend, run: NonNullable<SwapBackend['run']>, clock: Time, random: Random) {
  const version = (): string => String(Math.floor(random() * Number.MAX_SAFE_INTEGER) + 1)
  return <T>(states: readonly StateId[], options: DecideOptions | undefined, compute: Compute<T>): Promise<T> => {
    const ids = [...new Set(states.map(backend.idOf))].sort()
    const over = (tries: number): boolean =>
      tries >= (options?.onContention === 'fail' ? MAX_HASTY_TRIES : MAX_TRIES) ||
      options?.signal?.aborted === true ||
      (options?.deadline !== undefined && clock.monotonic() >= options.deadline)
    const attempt = async (tries = 1): Promise<T> => {
      let cause: unknown
      try {
        const began = clock.monotonic()
        const { rows, now } = await backend.read(ids, options)
        const { answer, rows: after } = compute(rows, options?.now ?? now)
        const writes = [...after]
          .map(([id, row]): SwapWrite => ({ ...row, id, version: rowOf(rows, id).version, next: version() }))
          .sort((one, other) => (one.id < other.id ? -1 : 1))
        if (writes.length === 0) return answer
        const isOld = (ms: number): boolean => clock.monotonic() - began >= ms && writes.some(({ id }) => !rows.has(id))
        if (!isOld(MAX_ATTEMPT_MS / 2) && (await backend.write(writes, options))) {
          if (!isOld(MAX_ATTEMPT_MS)) return answer
          throw new StoreFailure(
            'timeout',
            'unknown',
            `${backend.name}: a new state was written more than ${MAX_ATTEMPT_MS} ms after it was read as absent`,
          )
        }
      } catch (error) {
        if (backend.isConflict?.(error) !== true || over(tries)) throw error
        cause = error
      }
      if (!over(tries)) {
        await new Promise<void>((resolve) => clock.after(random() * Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** (tries - 1)), resolve))
        if (!over(tries)) return attempt(tries + 1)
      }
      throw new StoreFailure('contention', 'no', `${backend.name}: others kept changing the same states`, { cause })
    }
    return run(() => attempt(), options)
  }
}

type Rows = Pick<SwapBackend, 'idOf' | 'limitOf' | 'refuse'>

function decided(
  { idOf, limitOf = unchanged, refuse }: Rows,
  groups: readonly CallGroup[],
  found: ReadonlyMap<string, SwapRow>,
  now: Micros,
  dryRun: boolean,
): Computed<readonly GroupVerdict[]> {
  const after = new Map<string, SwapRow>()
  const states = new Map<string, unknown>()
  const heldOf = (id: string): SwapRow => after.get(id) ?? rowOf(found, id)
  const refusalOf = (id: string): StoreFailure | undefined => (heldOf(id) === ABSENT ? refuse?.(id) : undefined)
  const answer = groups.map((group): GroupVerdict => {
    const own = callsOf(group)
    const ids = [...new Set(own.map(({ id }) => idOf(id)))]
    const held = ids.map(heldOf)
    const unreadable = held.find(({ failure }) => failure !== undefined)?.failure
    if (unreadable !== undefined) return { failure: unreadable }
    const placed = own.map(({ id, limit, cost, phase }) => ({ slot: ids.indexOf(idOf(id)), limit: limitOf(limit), cost, phase }))
    for (const { slot, limit } of placed) {
      const id = ids[slot] as string
      if (!states.has(id)) states.set(id, stateOf(limit, held[slot] as SwapRow))
    }
    const before = ids.map((id) => states.get(id))
    const blocks = held.map(({ until }) => until)
    const result = applyGroup(before, placed, now, blocks, dryRun)
    const refused = result.outcome === 'allowed' ? ids.map(refusalOf).find((failure) => failure !== undefined) : undefined
    if (refused !== undefined) return { failure: refused }
    for (const { slot, limit, state } of result.writes) {
      const id = ids[slot] as string
      const row = rowWith(held[slot] as SwapRow, limit, state)
      after.set(id, row)
      states.set(id, stateOf(limit, row))
    }
    return verdictOf(result, now)
  })
  return { answer, rows: dryRun ? new Map() : after }
}

function changed(
  { idOf, limitOf = unchanged }: Rows,
  alike: readonly Change[],
  found: ReadonlyMap<string, SwapRow>,
  now: Micros,
): Computed<ChangeResult[]> {
  const after = new Map<string, SwapRow>()
  const answer = alike.map((change): ChangeResult => {
    const ids = changedStates(change).map(idOf)
    const before = ids.map((id) => after.get(id) ?? rowOf(found, id))
    const failure = before.find((row) => row.failure !== undefined)?.failure
    if (failure !== undefined) return { failure }
    const { rows, ...result } = changedRows(change, ids, before, now, limitOf)
    for (const [index, row] of rows) after.set(ids[index] as string, row)
    return result
  })
  return { answer, rows: after }
}

function unchanged(limit: AnyLimit): AnyLimit {
  return limit
}
