import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { describe, inject } from 'vitest'
import { regionalStore } from '../../src/regions.ts'
import { barePostgresStore, pg, type PostgresStore } from '../../src/stores/postgres/index.ts'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing.ts'
import { plainName } from '../stores/redis/plain-name.ts'
import { readRow, schema } from './postgres-rows.ts'

const { redis, postgres } = inject('engines')

// One of two regions holds everything, so it decides as its store does without regions.
const WEIGHTS = { self: 'eu', weights: { eu: 1_000, us: 0 } } as const
const CALLS = { differentialCalls: 5_000, ownClockCalls: 1_500 }

describe.skipIf(redis === undefined)('Redis', () => {
  const prefix = `regional-${process.pid}:`
  const client = new Redis(redis ?? '', { lazyConnect: true })
  storeSuite('a region that holds all, over Redis', {
    ...CALLS,
    open: async () => regionalStore({ store: bareRedisStore({ client: ioredis(client), prefix }), ...WEIGHTS }),
    readState: async (id) => readValue(await client.getBuffer(plainName(prefix, id))).numbers,
    close: async () => void (await client.quit()),
  })
})

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  const own = schema(postgres)
  const pool = new pgDriver.Pool({ connectionString: postgres, max: 8, options: `-c search_path=${own.name}` })
  let store: PostgresStore
  storeSuite('a region that holds all, over PostgreSQL', {
    ...CALLS,
    open: async () => {
      await own.create()
      store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
      await store.migrate()
      return regionalStore({ store, ...WEIGHTS })
    },
    sweep: () => store.sweep(),
    readState: (id) => readRow(pg(pool), id),
    close: async () => {
      await pool.end()
      await own.drop()
    },
  })
})
