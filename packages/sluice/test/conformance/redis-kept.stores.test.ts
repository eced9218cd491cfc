import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing.ts'
import { packedState } from '../stores/redis/packed-state.ts'
import { plainName } from '../stores/redis/plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `sluice:kept-${process.pid}:`
const packing = { keys: 200 }
/** With `maxNewKeys`, states are kept longer than they are needed. This number is so large that no key is refused. */
const kept = { maxNewKeys: 1_000_000_000 }

describe.skipIf(url === undefined)('Redis, with states that are kept', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  beforeAll(() => client.connect())
  afterAll(async () => {
    await client.quit()
  })
  storeSuite('redis (kept)', {
    open: async () => bareRedisStore({ client: ioredis(client), prefix, ...kept }),
    readState: async (id) => readValue(await client.getBuffer(plainName(prefix, id))).numbers,
    differentialCalls: 2_000,
  })
  storeSuite('redis (packed, kept)', {
    open: async () => bareRedisStore({ client: ioredis(client), prefix: `${prefix}packed:`, layout: 'packed', packing, ...kept }),
    readState: async (id) => (await packedState(client, `${prefix}packed:`, packing, id)).numbers,
    differentialCalls: 2_000,
  })
})
