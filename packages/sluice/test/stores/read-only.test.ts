import { findRedis, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { StoreFailure } from '../../src/index.ts'
import { pg, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { schema } from '../conformance/postgres-rows.ts'

const engines = inject('engines')
const redis = engines.redis === undefined ? { missing: 'no engine' } : findRedis()
const path = 'path' in redis ? redis.path : ''
const isReadOnly = expect.objectContaining({ kind: 'readonly', executed: 'no' })

describe.skipIf(path === '')('ready() of a Redis that may not write', () => {
  it.each(['plain', 'packed'] as const)('rejects, layout %s', async (layout) => {
    const primary = await startRedis(path)
    onTestFinished(primary.stop)
    const replica = await startRedis(path, ['--replicaof', '127.0.0.1', new URL(primary.url).port])
    onTestFinished(replica.stop)
    const clients = [primary, replica].map(({ url }) => new Redis(url))
    onTestFinished(() => clients.forEach((client) => client.disconnect()))
    const [fit, closed] = clients.map((client) => bareRedisStore({ client: ioredis(client), layout }))
    await fit?.ready()
    expect(await clients[0]?.keys('*')).toEqual([])
    const failure = await closed?.ready().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreFailure)
    expect(failure).toEqual(isReadOnly)
  })
})

describe.skipIf(engines.postgres === undefined)('ready() of a PostgreSQL that may not write', () => {
  it.each(['lock', 'compare-and-swap'] as const)('rejects, concurrency %s', async (concurrency) => {
    const own = schema(engines.postgres)
    await own.create()
    const [fit, closed] = ['', ' -c default_transaction_read_only=on'].map((closing) => {
      const pool = new Pool({ connectionString: engines.postgres, max: 1, options: `-c search_path=${own.name}${closing}` })
      return { pool, store: barePostgresStore({ client: pg(pool), concurrency, sweepEveryMs: 0 }) }
    })
    onTestFinished(async () => {
      await Promise.all([fit?.pool.end(), closed?.pool.end()])
      await own.drop()
    })
    await fit?.store.migrate()
    await fit?.store.ready()
    const failure = await closed?.store.ready().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreFailure)
    expect(failure).toEqual(isReadOnly)
  })
})
