import { mkdirSync } from 'node:fs'
import { memoryStore, type Store, StoreFailure } from 'sluice'
import { CommandFailure, EXIT } from './failure.ts'

export interface OpenStore {
  readonly store: Store
  /** The URL as it may be printed: without a password. */
  readonly name: string
  /** What a reader must know about keeping and sharing of states. */
  readonly keeps: string
  close(): Promise<void>
}

const ALLOWED = 'memory:, redis://HOST:PORT, rediss://..., postgres://..., or pglite:DIR'
/** Milliseconds a store may take to answer for the first time. */
const START_MS = 5_000

/**
 * Opens the store a URL names and waits until it can decide.
 * @throws CommandFailure exit 3 for a URL of no known kind, exit 2 where the server cannot be reached
 */
export async function openStore(url: string): Promise<OpenStore> {
  const name = withoutPassword(url)
  const scheme = /^([a-z]+):/.exec(url)?.[1]
  switch (scheme) {
    case 'memory': {
      const store = memoryStore()
      return { store, name, keeps: 'limits are gone on restart, and each process has its own', close: () => store.close() }
    }
    case 'redis':
    case 'rediss':
      return started(await redis(url, name))
    case 'postgres':
    case 'postgresql':
      return started(await postgres(url, name))
    case 'pglite':
      return started(await pglite(url.slice('pglite:'.length), name))
    default:
      throw new CommandFailure(EXIT.usage, `store ${name}: unknown kind; expected ${ALLOWED}`)
  }
}

async function started(opened: OpenStore): Promise<OpenStore> {
  try {
    await opened.store.ready({ deadline: performance.now() + START_MS })
    return opened
  } catch (error) {
    await opened.close()
    throw unreachable(opened.name, error)
  }
}

function unreachable(name: string, error: unknown): CommandFailure {
  const why = error instanceof StoreFailure || error instanceof Error ? error.message.split('\n')[0] : String(error)
  return new CommandFailure(EXIT.unreachable, `store ${name} cannot be reached: ${why}`, { cause: error })
}

/** A client that neither queues while the server is away nor sends anything twice. */
async function redis(url: string, name: string): Promise<OpenStore> {
  const [{ Redis }, { ioredis, redisStore }] = await Promise.all([import('ioredis'), import('sluice/redis')])
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.ceil(Math.random() * Math.min(1_000, 50 * 2 ** times)),
  })
  let lastError: Error | undefined
  client.on('error', (error: Error) => (lastError = error))
  const close = async (): Promise<void> => client.disconnect()
  try {
    await client.connect()
  } catch (error) {
    await close()
    throw unreachable(name, lastError ?? error)
  }
  return { store: redisStore({ client: ioredis(client) }), name, keeps: 'limits are shared by all processes on this server', close }
}

async function postgres(url: string, name: string): Promise<OpenStore> {
  const [{ default: driver }, { pg, postgresStore }] = await Promise.all([import('pg'), import('sluice/postgres')])
  const pool = new driver.Pool({ connectionString: url, max: 16, connectionTimeoutMillis: 2_000 })
  // A lost idle connection is replaced by the pool; the next call says what it finds.
  pool.on('error', () => {})
  const store = postgresStore({ client: pg(pool) })
  try {
    await store.migrate()
  } catch (error) {
    await pool.end()
    throw unreachable(name, error)
  }
  return { store, name, keeps: 'limits are kept and shared by all processes on this database', close: () => pool.end() }
}

async function pglite(folder: string, name: string): Promise<OpenStore> {
  const [{ PGlite }, driver] = await Promise.all([import('@electric-sql/pglite'), import('sluice/postgres')])
  try {
    if (folder !== '') mkdirSync(folder, { recursive: true })
    const database = folder === '' ? await PGlite.create() : await PGlite.create(folder)
    const store = driver.postgresStore({ client: driver.pglite(database) })
    await store.migrate()
    return {
      store,
      name,
      keeps: folder === '' ? 'limits are gone on restart' : `limits are kept in ${folder}; one process at a time`,
      close: () => database.close(),
    }
  } catch (error) {
    throw unreachable(name, error)
  }
}

function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/[^:@/]*):[^@/]*@/, '$1:***@')
}
