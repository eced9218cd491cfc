import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { createLimiter, type Limiter, type Store, tokenBucket } from '../../src/index.ts'
import { pg, postgresStore } from '../../src/postgres.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { ownStore } from '../conformance/postgres-rows.ts'
import { countsAfterResponses } from './after-response.ts'

const { redis: redisUrl, postgres: postgresUrl } = inject('engines')
let made = 0
/** The keys of each limiter are its own. No pause of the machine makes the store late. */
const threeTokens = (store: Store): Limiter => {
  made += 1
  return createLimiter({ name: `after-${made}`, limit: tokenBucket({ rate: '1/day', burst: 3 }), store, deadlineMs: 60_000 })
}

describe.skipIf(redisUrl === undefined)('on Redis', () => {
  let client: Redis
  let store: Store
  beforeAll(() => {
    client = new Redis(redisUrl as string)
    store = redisStore({ client: ioredis(client), prefix: `after-response-${process.pid}:` })
  })
  afterAll(async () => {
    await store.close()
    await client.quit()
  })
  countsAfterResponses(() => threeTokens(store))
})

describe.skipIf(postgresUrl === undefined)('on PostgreSQL', () => {
  const own = ownStore(postgresUrl, 4)
  let store: Store
  beforeAll(async () => {
    await own.open()
    store = postgresStore({ client: pg(own.pool), sweepEveryMs: 0, onWarning: () => {} })
  })
  afterAll(async () => {
    await store.close()
    await own.close()
  })
  countsAfterResponses(() => threeTokens(store))
})
