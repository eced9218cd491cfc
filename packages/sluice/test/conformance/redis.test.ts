import { Redis } from 'ioredis'
import { describe, inject } from 'vitest'
import { stateName } from '../../src/keys/encode.ts'
import { ioredis, redisStore } from '../../src/stores/redis/index.ts'
import { decodeBucket } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing/index.ts'

const { redis: url } = inject('engines')
const prefix = `suite-${process.pid}:`

describe.skipIf(url === undefined)('Redis', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  storeSuite('redis', {
    open: async () => redisStore({ client: ioredis(client), prefix }),
    algorithms: ['tb'],
    readState: async (id) => decodeBucket(await client.getBuffer(prefix + stateName(id))),
    close: async () => {
      await client.quit()
    },
  })
})
