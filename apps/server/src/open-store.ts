import { mkdirSync, rmSync } from 'node:fs'
import type { ClientBase } from 'pg'
import { memoryStore, type Store } from 'sluice'
import { CommandFailure, EXIT } from './failure.ts'
import { withoutPassword, withoutSecrets } from './store-name.ts'

export interface OpenStore {
  readonly store: Store
  /** The URL as it may be printed: without a password. */
  readonly name: string
  /** What a reader must know about keeping and sharing of states. */
  readonly keeps: string
  /** Takes away what only a space of its own holds: its tables, and a folder that was made for it. */
  discard(): Promise<void>
  /** Also ends what is under way at a server that does not answer. */
  close(): Promise<void>
}

export interface OpenOptions {
  /** Milliseconds that connecting, making tables and the first answer may take together; default five seconds. */
  readonly startMs?: number
  /** Keeps everything apart from what else is in the store, under a name of small letters, digits and `_`: a prefix, or a schema. */
  readonly space?: string
}

/** A store with its client, before it was asked for anything. */
interface Opening extends Omit<OpenStore, 'name'> {
  /** Connects, and makes the tables where there are some. */
  begin(): Promise<void>
  /** What the client said last, where that tells more than what it rejects with. */
  reason?(): Error | undefined
}

const ALLOWED = 'memory:, redis://HOST:PORT, rediss://..., postgres://..., or pglite:DIR'
/** Milliseconds a store may take until it has answered for the first time. */
const START_MS = 5_000
const CONNECT_MS = 2_000
/** Milliseconds of silence after which a connection is given up for a new one: nobody waits for its answers any more. */
const SILENCE_MS = 1_000
const LONGEST_PAUSE_MS = 250

/** By scheme; a client may take that many milliseconds to connect. */
const OPENERS: ReadonlyMap<string, (url: string, connectMs: number, space: string | undefined) => Promise<Opening>> = new Map([
  ['memory', async () => memory()],
  ['redis', redis],
  ['rediss', redis],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['pglite', (url: string, _connectMs: number, space: string | undefined) => pglite(url.slice('pglite:'.length), space)],
])

/**
 * Opens the store a URL names and waits until it can decide.
 * @throws CommandFailure exit 3 for a URL of no known kind, exit 2 where the server cannot be reached or does not answer in time
 */
export async function openStore(url: string, { startMs = START_MS, space }: OpenOptions = {}): Promise<OpenStore> {
  const name = withoutPassword(url)
  const open = OPENERS.get(/^([a-z]+):/.exec(url)?.[1] ?? '')
  if (open === undefined) throw new CommandFailure(EXIT.usage, `store ${name}: unknown kind; expected ${ALLOWED}`)
  const unreachable = (error: unknown): CommandFailure => {
    const why = error instanceof Error ? (error.message.split('\n')[0] as string) : String(error)
    return new CommandFailure(EXIT.unreachable, `store ${name} cannot be reached: ${withoutSecrets(why, url)}`, { cause: error })
  }
  const { store, keeps, begin, reason, discard, close } = await open(url, Math.min(CONNECT_MS, startMs), space).catch((error: unknown) => {
    throw unreachable(error)
  })
  const deadline = performance.now() + startMs
  try {
    await within(
      startMs,
      begin().then(() => store.ready({ deadline })),
    )
  } catch (error) {
    await close()
    throw unreachable(reason?.() ?? error)
  }
  return { store, name, keeps, discard, close }
}

/** A server that is stopped takes connections and says nothing; no client's own bounds cover all of that. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1_000} s`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function memory(): Opening {
  const store = memoryStore()
  const nothing = async (): Promise<void> => {}
  const keeps = 'limits are gone on restart, and each process has its own'
  return { store, keeps, begin: nothing, discard: nothing, close: () => store.close() }
}

/** A client that neither queues while the server is away nor sends anything twice. */
async function redis(url: string, connectMs: number, space: string | undefined): Promise<Opening> {
  const [{ Redis }, { ioredis, redisStore }] = await Promise.all([import('ioredis'), import('sluice/redis')])
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectMs,
    socketTimeout: SILENCE_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.ceil(Math.random() * Math.min(LONGEST_PAUSE_MS, 25 * 2 ** times)),
  })
  let lastError: Error | undefined
  client.on('error', (error: Error) => (lastError = error))
  return {
    store: redisStore({ client: ioredis(client), ...(space === undefined ? {} : { prefix: `${space}:` }) }),
    keeps: 'limits are shared by all processes on this server',
    begin: () => client.connect(),
    reason: () => lastError,
    // A state is a key of its own, and goes when it is reset.
    discard: async () => {},
    close: async () => client.disconnect(),
  }
}

async function postgres(url: string, connectMs: number, space: string | undefined): Promise<Opening> {
  const [{ default: driver }, { pg, postgresStore }] = await Promise.all([import('pg'), import('sluice/postgres')])
  const bounds = { max: 16, connectionTimeoutMillis: connectMs, query_timeout: 2 * SILENCE_MS }
  // By a statement, since the URL may bring options of its own.
  const place =
    space === undefined ? {} : { onConnect: (client: ClientBase) => client.query(`set search_path to ${space}`) as unknown as void }
  const pool = new driver.Pool({ connectionString: url, ...bounds, ...place })
  const clients = new Set<InstanceType<typeof driver.Client>>()
  pool.on('connect', (client) => client instanceof driver.Client && clients.add(client))
  pool.on('remove', (client) => client instanceof driver.Client && clients.delete(client))
  // A lost idle connection is replaced by the pool; the next call says what it finds.
  pool.on('error', () => {})
  const store = postgresStore({ client: pg(pool) })
  return {
    store,
    keeps: 'limits are kept and shared by all processes on this database',
    begin: async () => {
      if (space !== undefined) await pool.query(`create schema if not exists ${space}`)
      await store.migrate()
    },
    discard: async () => {
      if (space !== undefined) await pool.query(`drop schema if exists ${space} cascade`)
    },
    close: async () => {
      const ended = pool.end()
      // The pool alone would wait for an answer that may never come.
      for (const client of clients) client.end(() => {})
      await ended
    },
  }
}

/** In this process, so that opening it takes as long as the machine takes. */
async function pglite(folder: string, space: string | undefined): Promise<Opening> {
  const [{ PGlite }, driver] = await Promise.all([import('@electric-sql/pglite'), import('sluice/postgres')])
  const made = folder === '' ? undefined : mkdirSync(folder, { recursive: true })
  const database = folder === '' ? await PGlite.create() : await PGlite.create(folder)
  const store = driver.postgresStore({ client: driver.pglite(database) })
  return {
    store,
    keeps: folder === '' ? 'limits are gone on restart' : `limits are kept in ${folder}; one process at a time`,
    begin: async () => {
      if (space !== undefined) await database.exec(`create schema ${space}; set search_path to ${space}`)
      await store.migrate()
    },
    discard: async () => {
      if (space === undefined) return
      await database.exec(`drop schema ${space} cascade`)
      if (made === undefined) return
      await database.close()
      rmSync(made, { recursive: true, force: true })
    },
    close: async () => (database.closed ? undefined : database.close()),
  }
}
