import { Redis } from 'ioredis'
import { describe, expect, inject } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing.ts'
import { immortal } from '../stores/redis/immortal.ts'
import { draws } from '../draws.ts'
import { plainName } from '../stores/redis/plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `suite-${process.pid}:`

describe.skipIf(url === undefined)('Redis', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  storeSuite('redis', {
    open: async () => bareRedisStore({ client: ioredis(client), prefix }),
    differentialCalls: draws(100_000, 1_000),
    ownClockCalls: draws(3_000, 500),
    readState: async (id) => readValue(await client.getBuffer(plainName(prefix, id))).numbers,
    close: async () => {
      expect(await immortal(client, prefix)).toEqual([])
      await client.quit()
    },
  })
})
