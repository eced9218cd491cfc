import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { applyGroup } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import type { Random, Time } from '../../time/time.ts'
import { createRemoteCalls, type RemoteCalls } from '../remote-calls.ts'
import {
  type CallGroup,
  type Capabilities,
  type Change,
  changedState,
  type ChangeResult,
  type DecideOptions,
  type GroupVerdict,
  type StateId,
  type Store,
  StoreFailure,
  verdictOf,
} from '../store.ts'
import { inRuns } from '../batch/change-runs.ts'

/** A row of the backend: one state and its block. */
export interface SwapRow {
  /** Differs after each write; `ABSENT.version` if there is no row. */
  readonly version: string
  /** The numbers of the state's codec; empty if there is no state. */
  readonly numbers: readonly number[]
  /** The first instant from which the state is expired. The row may be deleted from then and `until` on. */
  readonly expiresAt: Micros
  /** Nothing passes before this instant; 0 if there is no block. */
  readonly until: Micros
  /** Tag of the algorithm that wrote the state, if the backend knows it: a state of another algorithm is ignored. */
  readonly tag?: string
  /** Set if this version cannot read the row: its groups and changes fail with this. */
  readonly failure?: StoreFailure
}

/** A row to write in place of the one that was read. */
export interface SwapWrite extends SwapRow {
  readonly id: string
  /** The version of the new row: random, because a row may be deleted and made again. */
  readonly next: string
}

/** What was read: the rows that exist, by id, and the backend's time. */
export interface SwapRead {
  readonly rows: ReadonlyMap<string, SwapRow>
  readonly now: Micros
}

/** What a store needs of its server. Each method may be called again after a failure. */
export interface SwapBackend {
  readonly name: string
  /** Whose time `read` returns. */
  readonly clock: Capabilities['clock']
  /** The id of a state's row: states of different names have different ids. */
  idOf(id: StateId): string
  read(ids: readonly string[], options: DecideOptions | undefined): Promise<SwapRead>
  /**
   * Writes all rows, which are in the order of their ids, if each still has the version that was read, and otherwise none; returns whether
   * it wrote. With `options.now`, rows are kept longer than `expiresAt`.
   */
  write(rows: readonly SwapWrite[], options: DecideOptions | undefined): Promise<boolean>
  /** Converts what the client threw. */
  classify(error: unknown): StoreFailure
  /** Whether the server gave up because of other calls, wrote nothing, and may succeed if the attempt starts again. */
  isConflict?(error: unknown): boolean
  /** A limit with the algorithm that decides the backend's states. Default: as it is. */
  limitOf?(limit: AnyLimit): AnyLimit
  /** The failure of groups that would create this row; undefined if they may. Default: they may. */
  refuse?(id: string): StoreFailure | undefined
  /** Sends the attempts of one call. Default: up to `maxInFlight` calls at once, each until its deadline. */
  run?: <T>(attempts: () => Promise<T>, options: DecideOptions | undefined) => Promise<T>
}

export interface SwapOptions {
  readonly clock: Time
  /** For versions, and for the pauses before retries. */
  readonly random: Random
  /** Calls in flight at once, including abandoned ones. Default 10,000. */
  readonly maxInFlight?: number
}

const ABSENT: SwapRow = { version: '0', numbers: [], expiresAt: 0, until: 0 }

/** Longest pause before the first retry, in milliseconds; it doubles up to the maximum. */
const PAUSE_MS = 2
const MAX_PAUSE_MS = 50
/** The bound of attempts, for calls without a deadline and for those that fail on contention. */
const MAX_TRIES = 100
const MAX_HASTY_TRIES = 3

/**
 * A store of any backend that can read rows and write them if they have not changed since: it decides with the kernels, in this process.
 * If a row has changed it starts again, after a random pause and within the deadline. It is exact. A state that many processes charge at
 * once costs attempts; batching avoids them.
 */
export function compareAndSwapStore(backend: SwapBackend, { clock, random, maxInFlight = 10_000 }: SwapOptions): Store {
  const { name } = backend
  const calls: RemoteCalls = createRemoteCalls(name, clock, { maxInFlight })
  const run = backend.run ?? ((attempts, options) => calls.run(attempts, options, backend.classify))

  const swap = <T>(
    states: readonly StateId[],
    options: DecideOptions | undefined,
    think: (rows: ReadonlyMap<string, SwapRow>, now: Micros) => { readonly answer: T; readonly rows: ReadonlyMap<string, SwapRow> },
  ): Promise<T> => {
    const ids = [...new Set(states.map(backend.idOf))].sort()
    const over = (tries: number): boolean =>
      tries >= (options?.onContention === 'fail' ? MAX_HASTY_TRIES : MAX_TRIES) ||
      options?.signal?.aborted === true ||
      (options?.deadline !== undefined && clock.monotonic() >= options.deadline)
    const attempt = async (tries = 1): Promise<T> => {
      let cause: unknown
      try {
        const { rows, now } = await backend.read(ids, options)
        const { answer, rows: changed } = think(rows, options?.now ?? now)
        const writes = [...changed]
          .map(([id, row]): SwapWrite => ({ ...row, id, version: rowOf(rows, id).version, next: version() }))
          .sort((one, other) => (one.id < other.id ? -1 : 1))
        if (writes.length === 0 || (await backend.write(writes, options))) return answer
      } catch (error) {
        if (backend.isConflict?.(error) !== true || over(tries)) throw error
        cause = error
      }
      if (!over(tries)) {
        await new Promise<void>((resolve) => clock.after(random() * Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** (tries - 1)), resolve))
        if (!over(tries)) return attempt(tries + 1)
      }
      throw new StoreFailure('contention', 'no', `${name}: others kept changing the same states`, { cause })
    }
    return run(() => attempt(), options)
  }
  const version = (): string => String(Math.floor(random() * Number.MAX_SAFE_INTEGER) + 1)

  const { limitOf = (limit) => limit } = backend
  return {
    name,
    capabilities: { clock: backend.clock, atomicBatch: 'any', changes: ['adjust', 'block', 'unblock', 'reset'], sync: false },
    decide: (groups, options) => {
      const states = groups.flatMap(({ calls: all }) => all.map(({ id }) => id))
      return swap(states, options, (rows, now) => decided(groups, rows, now, options?.charge === false))
    },
    change: (changes, options) =>
      inRuns(changes, (alike) =>
        swap(alike.map(changedState), options, (rows, now) => {
          const changed = new Map<string, SwapRow>()
          const answer = alike.map((change): ChangeResult => {
            const id = backend.idOf(changedState(change))
            const row = changed.get(id) ?? rowOf(rows, id)
            if (row.failure !== undefined) return { failure: row.failure }
            const after = changedRow(change, row, now, limitOf)
            if (after !== row) changed.set(id, after)
            return {}
          })
          return { answer, rows: changed }
        }),
      ),
    ready: (options) => swap([], options, () => ({ answer: undefined, rows: new Map() })),
    close: async () => {},
  }

  /** The verdicts of the reference driver, and the rows that change. */
  function decided(
    groups: readonly CallGroup[],
    found: ReadonlyMap<string, SwapRow>,
    now: Micros,
    dryRun: boolean,
  ): { answer: readonly GroupVerdict[]; rows: ReadonlyMap<string, SwapRow> } {
    const changed = new Map<string, SwapRow>()
    const states = new Map<string, unknown>()
    const heldOf = (id: string): SwapRow => changed.get(id) ?? rowOf(found, id)
    const refusalOf = (id: string): StoreFailure | undefined => (heldOf(id) === ABSENT ? backend.refuse?.(id) : undefined)
    const answer = groups.map(({ calls: own }): GroupVerdict => {
      const ids = [...new Set(own.map(({ id }) => backend.idOf(id)))]
      const held = ids.map(heldOf)
      const unreadable = held.find(({ failure }) => failure !== undefined)?.failure
      if (unreadable !== undefined) return { failure: unreadable }
      const placed = own.map(({ id, limit, cost, phase }) => ({ slot: ids.indexOf(backend.idOf(id)), limit: limitOf(limit), cost, phase }))
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
        changed.set(id, row)
        states.set(id, stateOf(limit, row))
      }
      return verdictOf(result, now)
    })
    return { answer, rows: dryRun ? new Map() : changed }
  }
}

/** The row after a change: the same object if nothing changes. */
function changedRow(change: Change, row: SwapRow, now: Micros, limitOf: (limit: AnyLimit) => AnyLimit): SwapRow {
  switch (change.kind) {
    case 'block':
      return { ...row, until: now + change.micros }
    case 'unblock':
      return row.until === 0 ? row : { ...row, until: 0 }
    case 'reset':
      return row.numbers.length === 0 ? row : { ...ABSENT, until: row.until }
    case 'adjust': {
      const { phase } = change.call
      const limit = limitOf(change.call.limit)
      const { algorithm, plan } = limit
      const stored = stateOf(limit, row)
      const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
      const adjusted: unknown = algorithm.adjust(plan, state, now, change.amount, phase, change.receipt)
      if (adjusted === stored) return row
      return adjusted === undefined ? { ...ABSENT, until: row.until } : rowWith(row, limit, adjusted)
    }
  }
}

function rowWith(row: SwapRow, { algorithm, plan }: AnyLimit, state: unknown): SwapRow {
  const numbers = algorithm.codec.encodeState(state)
  return { ...row, tag: algorithm.tag, numbers, expiresAt: algorithm.expiresAt(plan, algorithm.codec.decodeState(numbers)) }
}

function stateOf({ algorithm }: AnyLimit, { numbers, tag = algorithm.tag }: SwapRow): unknown {
  return numbers.length === 0 || tag !== algorithm.tag ? undefined : algorithm.codec.decodeState(numbers)
}

function rowOf(rows: ReadonlyMap<string, SwapRow>, id: string): SwapRow {
  return rows.get(id) ?? ABSENT
}
