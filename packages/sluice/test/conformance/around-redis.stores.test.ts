import { Redis } from 'ioredis'
import { describe, inject } from 'vitest'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing.ts'
import { plainName } from '../stores/redis/plain-name.ts'
import { around } from './rings.ts'

const { redis: url } = inject('engines')

describe.skipIf(url === undefined).each(around)('%s', (name, exact, wrap) => {
  const prefix = `${name.replaceAll(/\W/g, '')}-${process.pid}:`
  const client = new Redis(url ?? '', { lazyConnect: true })
  storeSuite(`${name} around Redis`, {
    open: async () => wrap(bareRedisStore({ client: ioredis(client), prefix })),
    readState: async (id) => readValue(await client.getBuffer(plainName(prefix, id))).numbers,
    close: async () => void (await client.quit()),
    differentialCalls: 10_000,
    ownClockCalls: exact ? 3_000 : 0,
  })
})
