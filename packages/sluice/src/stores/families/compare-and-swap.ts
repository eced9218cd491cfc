import { applyGroup } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import type { Random, Time } from '../../time/time.ts'
import { createRemoteCalls, type RemoteCalls } from '../remote-calls.ts'
import {
  type Call,
  type CallGroup,
  type Capabilities,
  type Change,
  changedState,
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

  return {
    name,
    capabilities: { clock: backend.clock, atomicBatch: 'any', changes: ['adjust', 'block', 'unblock', 'reset'], sync: false },
    decide: (groups, options) => {
      const firsts = new Map<string, Call>()
      for (const call of groups.flatMap((group) => group.calls)) {
        const id = backend.idOf(call.id)
        if (!firsts.has(id)) firsts.set(id, call)
      }
      const states = [...firsts.values()].map(({ id }) => id)
      return swap(states, options, (rows, now) => decided(groups, firsts, rows, now, options?.charge === false))
    },
    change: (changes, options) =>
      inRuns(changes, (alike) =>
        swap(alike.map(changedState), options, (rows, now) => {
          const changed = new Map<string, SwapRow>()
          for (const change of alike) {
            const id = backend.idOf(changedState(change))
            const row = changed.get(id) ?? rowOf(rows, id)
            const after = changedRow(change, row, now)
            if (after !== row) changed.set(id, after)
          }
          return { answer: undefined, rows: changed }
        }),
      ),
    ready: (options) => swap([], options, () => ({ answer: undefined, rows: new Map() })),
    close: async () => {},
  }

  /** The verdicts of the reference driver, and the rows that change. */
  function decided(
    groups: readonly CallGroup[],
    firsts: ReadonlyMap<string, Call>,
    rows: ReadonlyMap<string, SwapRow>,
    now: Micros,
    look: boolean,
  ): { answer: readonly GroupVerdict[]; rows: ReadonlyMap<string, SwapRow> } {
    const ids = [...firsts.keys()]
    const slots = new Map(ids.map((id, slot) => [id, slot]))
    const states = ids.map((id) => stateOf(firsts.get(id) as Call, rowOf(rows, id)))
    const blocks = ids.map((id) => rowOf(rows, id).until)
    const changed = new Map<string, SwapRow>()
    const answer = groups.map(({ calls: asked }): GroupVerdict => {
      const placed = asked.map(({ id, limit, cost, phase }) => ({ slot: slots.get(backend.idOf(id)) as number, limit, cost, phase }))
      const result = applyGroup(states, placed, now, blocks, look)
      for (const { slot, limit, state } of result.writes) {
        const id = ids[slot] as string
        const row = rowWith(rowOf(rows, id), limit, state)
        states[slot] = limit.algorithm.codec.decodeState(row.numbers)
        if (!look) changed.set(id, row)
      }
      return verdictOf(result, now)
    })
    return { answer, rows: changed }
  }
}

/** The row after a change: the same object if nothing changes. */
function changedRow(change: Change, row: SwapRow, now: Micros): SwapRow {
  switch (change.kind) {
    case 'block':
      return { ...row, until: now + change.micros }
    case 'unblock':
      return row.until === 0 ? row : { ...row, until: 0 }
    case 'reset':
      return row.numbers.length === 0 ? row : { ...ABSENT, until: row.until }
    case 'adjust': {
      const { limit, phase } = change.call
      const { algorithm, plan } = limit
      const stored = stateOf(change.call, row)
      const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
      const adjusted: unknown = algorithm.adjust(plan, state, now, change.amount, phase, change.receipt)
      if (adjusted === stored) return row
      return adjusted === undefined ? { ...ABSENT, until: row.until } : rowWith(row, limit, adjusted)
    }
  }
}

function rowWith(row: SwapRow, { algorithm, plan }: Call['limit'], state: unknown): SwapRow {
  const numbers = algorithm.codec.encodeState(state)
  return { ...row, numbers, expiresAt: algorithm.expiresAt(plan, algorithm.codec.decodeState(numbers)) }
}

function stateOf({ limit }: Call, { numbers }: SwapRow): unknown {
  return numbers.length === 0 ? undefined : limit.algorithm.codec.decodeState(numbers)
}

function rowOf(rows: ReadonlyMap<string, SwapRow>, id: string): SwapRow {
  return rows.get(id) ?? ABSENT
}
