import { Redis } from 'ioredis'
import { describe, inject } from 'vitest'
import { ioredis, redisStore } from '../../src/stores/redis/index.ts'
import { decodeBucket } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing/index.ts'

const { redis: url } = inject('engines')
const prefix = `suite-${process.pid}:`

describe.skipIf(url === undefined)('Redis', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  storeSuite('redis', {
    open: async () => redisStore({ client: ioredis(client), prefix }),
    readState: async ({ scope, key }) => decodeBucket(await client.getBuffer(prefix + scope + key)),
    close: async () => {
      await client.quit()
    },
  })
})
