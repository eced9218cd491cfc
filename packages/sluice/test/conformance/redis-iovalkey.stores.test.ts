import { Redis as Valkey } from 'iovalkey'
import { describe, inject } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { redisStates } from './redis-states.ts'

const { redis: url } = inject('engines')
const prefix = `iovalkey-${process.pid}:`

describe.skipIf(url === undefined)('Redis by iovalkey', () => {
  const client = new Valkey(url ?? '', { lazyConnect: true })
  storeSuite('redis by iovalkey', {
    ...redisStates(prefix, client),
    open: async () => bareRedisStore({ client: ioredis(client), prefix }),
    close: async () => void (await client.quit()),
    differentialCalls: 10_000,
  })
})
