import { PGlite } from '@electric-sql/pglite'
import { Redis } from 'ioredis'
import { inject } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { barePostgresStore, pg, pglite } from '../../src/stores/postgres/index.ts'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { ownStore } from '../conformance/postgres-rows.ts'

const { redis: redisUrl, postgres: postgresUrl } = inject('engines')

interface Opened {
  readonly store: Store
  close(): Promise<unknown>
}

const onRedis = async (): Promise<Opened> => {
  const redis = new Redis(redisUrl as string)
  return { store: bareRedisStore({ client: ioredis(redis), prefix: `long-${process.pid}:` }), close: () => redis.quit() }
}
const onPostgres = async (): Promise<Opened> => {
  const { pool, open, close } = ownStore(postgresUrl, 2)
  await open()
  const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
  await store.migrate()
  return { store, close }
}
const onPglite = async (): Promise<Opened> => {
  const database = await PGlite.create()
  const store = barePostgresStore({ client: pglite(database), sweepEveryMs: 0 })
  await store.migrate()
  return { store, close: () => database.close() }
}

/** The stores that are available, and how many random decisions a whole run makes on each: a million in memory, 50,000 on a server. */
export const LONG: readonly (readonly [name: string, decisions: number, open: () => Opened | Promise<Opened>])[] = [
  ['memory', 1_000_000, () => ({ store: memoryStore(), close: async () => {} })],
  ...(redisUrl === undefined ? [] : [['Redis', 50_000, onRedis] as const]),
  ...(postgresUrl === undefined ? [] : [['PostgreSQL', 50_000, onPostgres] as const]),
  ['PGlite', 5_000, onPglite],
]
