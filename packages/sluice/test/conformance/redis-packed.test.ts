import { Redis } from 'ioredis'
import { describe, expect, inject } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { immortal } from '../stores/redis/immortal.ts'
import { packedState } from '../stores/redis/packed-state.ts'
import { draws } from '../draws.ts'

const { redis: url } = inject('engines')
const prefix = `suite-packed-${process.pid}:`

describe.skipIf(url === undefined)('Redis, packed', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  const packing = { keys: 200, secret: 'of the suite' }
  storeSuite('redis (packed)', {
    open: async () => bareRedisStore({ client: ioredis(client), prefix, layout: 'packed', packing }),
    differentialCalls: draws(100_000, 2_000),
    ownClockCalls: draws(3_000, 500),
    readState: async (id) => (await packedState(client, prefix, packing, id)).numbers,
    close: async () => {
      expect(await immortal(client, prefix)).toEqual([])
      await client.quit()
    },
  })
})
