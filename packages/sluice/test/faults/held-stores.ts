import { PGlite } from '@electric-sql/pglite'
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { inject, onTestFinished } from 'vitest'
import { memoryStore, type Store } from '../../src/index.ts'
import { pg, pglite, postgresStore } from '../../src/postgres.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { schema } from '../conformance/postgres-rows.ts'

const { redis: redisUrl, postgres: postgresUrl } = inject('engines')

/** A store that one test has for itself, and the address at which another process finds its states. */
export interface HeldStore {
  /** Another store on the same states, as another process has one. */
  open(): Store
  readonly address?: { readonly kind: 'redis' | 'postgres'; readonly url: string; readonly space: string }
  /** The Redis in which the states are. */
  readonly redis?: Redis
}

function inMemory(): HeldStore {
  const store = memoryStore()
  return { open: () => store }
}

function inRedis(): HeldStore {
  const space = `held-${process.pid}-${Math.floor(performance.now())}:`
  const redis = new Redis(redisUrl as string)
  onTestFinished(async () => void (await redis.quit()))
  return {
    open: () => redisStore({ client: ioredis(redis), prefix: space }),
    address: { kind: 'redis', url: redisUrl as string, space },
    redis,
  }
}

async function inPostgres(): Promise<HeldStore> {
  const own = schema(postgresUrl)
  await own.create()
  const pool = new pgDriver.Pool({ connectionString: postgresUrl, max: 4, options: `-c search_path=${own.name}` })
  onTestFinished(async () => {
    await pool.end()
    await own.drop()
  })
  await postgresStore({ client: pg(pool) }).migrate()
  return {
    open: () => postgresStore({ client: pg(pool), sweepEveryMs: 0 }),
    address: { kind: 'postgres', url: postgresUrl as string, space: own.name },
  }
}

let database: PGlite | undefined

/** One database serves all tests of a file, because creating it takes seconds. It is emptied for each test. */
async function inPglite(): Promise<HeldStore> {
  database ??= await PGlite.create()
  await database.exec('drop schema public cascade; create schema public')
  const store = postgresStore({ client: pglite(database), sweepEveryMs: 0 })
  await store.migrate()
  return { open: () => store }
}

/** The stores that there are. */
export const HELD: readonly (readonly [name: string, make: () => HeldStore | Promise<HeldStore>])[] = [
  ['memory', inMemory],
  ...(redisUrl === undefined ? [] : [['Redis', inRedis] as const]),
  ...(postgresUrl === undefined ? [] : [['PostgreSQL', inPostgres] as const]),
]

/** The same, and PGlite, which is in this process. */
export const EVERY_HELD: typeof HELD = [...HELD, ['PGlite', inPglite]]
