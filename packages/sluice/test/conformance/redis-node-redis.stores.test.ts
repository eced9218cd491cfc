import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { createClient as createClient5 } from 'redis-5'
import { describe, inject } from 'vitest'
import { nodeRedis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { redisStates } from './redis-states.ts'

const { redis: url = '' } = inject('engines')

describe.skipIf(url === '').each([
  ['node-redis-6', createClient({ url })],
  ['node-redis-5', createClient5({ url })],
])('Redis by %s', (name, client) => {
  const prefix = `${name}-${process.pid}:`
  const reader = new Redis(url, { lazyConnect: true })
  storeSuite(`redis by ${name}`, {
    ...redisStates(prefix, reader),
    open: async () => bareRedisStore({ client: nodeRedis(await client.connect()), prefix }),
    close: async () => void (await Promise.all([client.close(), reader.quit()])),
    differentialCalls: 10_000,
  })
})
