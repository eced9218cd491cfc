import { stateName } from '../../keys/encode.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { Random, Time } from '../../time/time.ts'
import { type ProgramForm, programCalls } from '../program-calls.ts'
import { createRemoteCalls } from '../remote-calls.ts'
import { type CallGroup, type CallOptions, type GroupVerdict, type Store, StoreFailure } from '../store.ts'
import { readVerdicts } from '../verdicts.ts'
import { classify, isConflict } from './failures.ts'
import { migrate } from './migrate.ts'
import type { PostgresPort } from './postgres-port.ts'

type Row = Readonly<Record<string, unknown>>

export interface PostgresStoreOptions {
  readonly client: PostgresPort
  /** Calls under way at once, abandoned ones included; further ones are refused at once. Default 10,000. */
  readonly maxInFlight?: number
  /** Source of deadlines only: decisions are made on the database's clock. */
  readonly clock?: Time
  /** Spreads the tries after a conflict. */
  readonly random?: Random
}

export interface PostgresStore extends Store {
  /** Creates or updates tables and functions; safe when many processes start together. */
  migrate(): Promise<void>
}

const CONSUME = `select sluice_consume_v1($1::bigint, $2::boolean, string_to_array($3, ' '), string_to_array($4, ' ')::int[], string_to_array($5, ' ')::bigint[])::text as reply`
/** Rows are locked in the same order as by the function, so that forgetting and deciding cannot deadlock. */
const RESET = `delete from sluice_tb where id in (select id from sluice_tb where id = any(string_to_array($1, ' ')) order by id for update)`
/** Rows are locked in the order of their ids, so that groups cannot deadlock. */
const FORM: ProgramForm = { store: 'postgresStore', tags: ['tb'], order: 'bytes' }
const RETRIES = 2
/** Longest pause before the first retry, in milliseconds; it doubles. */
const CONFLICT_PAUSE_MS = 2

/**
 * States in PostgreSQL (13 or later) or PGlite: one statement locks the rows in one fixed order, reads the database's clock
 * after the last lock, decides all groups and writes. Exact under READ COMMITTED and above, with any number of processes.
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { client, maxInFlight = 10_000, clock = systemTime, random = systemRandom } = options
  const calls = createRemoteCalls('postgres', clock, { maxInFlight, maxSent: client.connections })

  /** One statement; what the server gave up for the sake of others is tried again, while there is time. */
  const ask = (statement: string, values: readonly string[], callOptions: CallOptions | undefined): Promise<readonly Row[]> => {
    const send = async (tries = 0): Promise<readonly Row[]> => {
      try {
        return await client.query(statement, values)
      } catch (error) {
        const late = callOptions?.deadline !== undefined && clock.monotonic() >= callOptions.deadline
        if (tries >= RETRIES || late || !isConflict(error)) throw error
        await new Promise<void>((resolve) => clock.after(random() * CONFLICT_PAUSE_MS * 2 ** tries, resolve))
        return send(tries + 1)
      }
    }
    return calls.run(send, callOptions, classify)
  }
  const run = async (
    groups: readonly CallGroup[],
    callOptions: CallOptions | undefined,
    charge: boolean,
  ): Promise<readonly GroupVerdict[]> => {
    const [row] = await ask(CONSUME, encode(groups, callOptions?.now ?? 0, charge), callOptions)
    const reply = row?.['reply']
    const verdicts = typeof reply === 'string' ? readVerdicts(groups, partsOf(reply)) : undefined
    if (verdicts !== undefined) return verdicts
    throw new StoreFailure('protocol', 'unknown', `postgres: the function answered ${JSON.stringify(reply)?.slice(0, 200)}`)
  }

  return {
    name: 'postgres',
    capabilities: { clock: 'server', atomicBatch: 'any', sync: false, algorithms: FORM.tags },
    consume: (groups, callOptions) => run(groups, callOptions, true),
    peek: (groups, callOptions) => run(groups, callOptions, false),
    reset: async (ids, callOptions) => {
      const names = ids.map(stateName).join(' ')
      if (ids.length > 0) await ask(RESET, [names], callOptions)
    },
    ready: async (callOptions) => {
      await run([], callOptions, false)
    },
    migrate: () => migrate(client).catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  }
}

/** The function's arguments as blank-separated text, which every driver passes alike; ids hold no blanks. */
function encode(groups: readonly CallGroup[], now: number, charge: boolean): string[] {
  const { ids, numbers } = programCalls(groups, FORM)
  const sizes = groups.map(({ calls }) => calls.length)
  return [String(now), String(charge), ids.join(' '), sizes.join(' '), numbers.flat().join(' ')]
}

/** `{1,2,3}` as its parts; `{}` as none. */
function partsOf(array: string): string[] {
  const inner = array.slice(1, -1)
  return inner === '' ? [] : inner.split(',')
}
