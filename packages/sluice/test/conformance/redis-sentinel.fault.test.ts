import { Redis } from 'ioredis'
import { beforeAll, describe } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { noRedis } from '../faults/private-redis.ts'
import { privateSentinel, type PrivateSentinel, SENTINEL_NAME } from '../faults/private-sentinel.ts'
import { redisStates } from './redis-states.ts'

const prefix = 'sentinel:'

describe.skipIf(noRedis)('Redis watched by Sentinel', () => {
  let servers: PrivateSentinel
  let client: Redis
  beforeAll(async () => {
    servers = await privateSentinel({ downAfterMs: 5_000 })
    client = new Redis({ sentinels: [...servers.sentinels], name: SENTINEL_NAME })
  })
  storeSuite('redis by Sentinel', {
    ...redisStates(prefix, { getBuffer: (key) => client.getBuffer(key) }),
    open: async () => bareRedisStore({ client: ioredis(client), prefix }),
    close: async () => {
      await client.quit()
      await servers.stop()
    },
    differentialCalls: 10_000,
  })
})
