import { mkdirSync } from 'node:fs'
import { memoryStore, type Store } from 'sluice'
import { CommandFailure, EXIT } from './failure.ts'
import { withoutPassword, withoutSecrets } from './store-name.ts'

export interface OpenStore {
  readonly store: Store
  /** The URL as it may be printed: without a password. */
  readonly name: string
  /** What a reader must know about keeping and sharing of states. */
  readonly keeps: string
  /** Also ends what is under way at a server that does not answer. */
  close(): Promise<void>
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
const OPENERS: ReadonlyMap<string, (url: string, connectMs: number) => Promise<Opening>> = new Map([
  ['memory', async () => memory()],
  ['redis', redis],
  ['rediss', redis],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['pglite', (url: string) => pglite(url.slice('pglite:'.length))],
])

/**
 * Opens the store a URL names and waits until it can decide.
 * @param startMs milliseconds that connecting, making tables and the first answer may take together
 * @throws CommandFailure exit 3 for a URL of no known kind, exit 2 where the server cannot be reached or does not answer in time
 */
export async function openStore(url: string, startMs: number = START_MS): Promise<OpenStore> {
  const name = withoutPassword(url)
  const open = OPENERS.get(/^([a-z]+):/.exec(url)?.[1] ?? '')
  if (open === undefined) throw new CommandFailure(EXIT.usage, `store ${name}: unknown kind; expected ${ALLOWED}`)
  const unreachable = (error: unknown): CommandFailure => {
    const why = error instanceof Error ? (error.message.split('\n')[0] as string) : String(error)
    return new CommandFailure(EXIT.unreachable, `store ${name} cannot be reached: ${withoutSecrets(why, url)}`, { cause: error })
  }
  const { store, keeps, begin, reason, close } = await open(url, Math.min(CONNECT_MS, startMs)).catch((error: unknown) => {
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
  return { store, name, keeps, close }
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
  return { store, keeps: 'limits are gone on restart, and each process has its own', begin: async () => {}, close: () => store.close() }
}

/** A client that neither queues while the server is away nor sends anything twice. */
async function redis(url: string, connectMs: number): Promise<Opening> {
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
    store: redisStore({ client: ioredis(client) }),
    keeps: 'limits are shared by all processes on this server',
    begin: () => client.connect(),
    reason: () => lastError,
    close: async () => client.disconnect(),
  }
}

async function postgres(url: string, connectMs: number): Promise<Opening> {
  const [{ default: driver }, { pg, postgresStore }] = await Promise.all([import('pg'), import('sluice/postgres')])
  const pool = new driver.Pool({ connectionString: url, max: 16, connectionTimeoutMillis: connectMs, query_timeout: 2 * SILENCE_MS })
  const clients = new Set<InstanceType<typeof driver.Client>>()
  pool.on('connect', (client) => client instanceof driver.Client && clients.add(client))
  pool.on('remove', (client) => client instanceof driver.Client && clients.delete(client))
  // A lost idle connection is replaced by the pool; the next call says what it finds.
  pool.on('error', () => {})
  const store = postgresStore({ client: pg(pool) })
  return {
    store,
    keeps: 'limits are kept and shared by all processes on this database',
    begin: () => store.migrate(),
    close: async () => {
      const ended = pool.end()
      // The pool alone would wait for an answer that may never come.
      for (const client of clients) client.end(() => {})
      await ended
    },
  }
}

/** In this process, so that opening it takes as long as the machine takes. */
async function pglite(folder: string): Promise<Opening> {
  const [{ PGlite }, driver] = await Promise.all([import('@electric-sql/pglite'), import('sluice/postgres')])
  if (folder !== '') mkdirSync(folder, { recursive: true })
  const database = folder === '' ? await PGlite.create() : await PGlite.create(folder)
  const store = driver.postgresStore({ client: driver.pglite(database) })
  return {
    store,
    keeps: folder === '' ? 'limits are gone on restart' : `limits are kept in ${folder}; one process at a time`,
    begin: () => store.migrate(),
    close: () => database.close(),
  }
}
