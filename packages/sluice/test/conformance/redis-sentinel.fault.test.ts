import { Redis } from 'ioredis'
import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis-5'
import { beforeAll, describe } from 'vitest'
import { ioredis, nodeRedis, type RedisPort, bareRedisStore } from '../../src/stores/redis/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { noRedis } from '../faults/private-redis.ts'
import { privateSentinel, type PrivateSentinel, SENTINEL_NAME } from '../faults/private-sentinel.ts'
import { redisStates } from './redis-states.ts'

const prefix = 'sentinel:'
type Sentinels = PrivateSentinel['sentinels']

/** Opens a client by way of these sentinels. `end` closes it. */
type Open = (sentinels: Sentinels) => Promise<{ readonly port: RedisPort; end(): Promise<unknown> }>

const byNodeRedis =
  (make: typeof createSentinel | typeof createSentinel5): Open =>
  async (sentinels) => {
    const options = { name: SENTINEL_NAME, sentinelRootNodes: [...sentinels], maxCommandRediscovers: 0 }
    const client = await (make as typeof createSentinel)(options).connect()
    return { port: nodeRedis(client), end: () => client.close() }
  }

const CLIENTS: [string, Open][] = [
  [
    'ioredis',
    async (sentinels) => {
      const client = new Redis({ sentinels: [...sentinels], name: SENTINEL_NAME })
      return { port: ioredis(client), end: () => client.quit() }
    },
  ],
  ['node-redis-6', byNodeRedis(createSentinel)],
  ['node-redis-5', byNodeRedis(createSentinel5)],
]

describe.skipIf(noRedis).each(CLIENTS)('Redis watched by Sentinel, by %s', (name, open) => {
  let servers: PrivateSentinel
  let client: Awaited<ReturnType<Open>>
  let reader: Redis
  beforeAll(async () => {
    servers = await privateSentinel({ downAfterMs: 5_000 })
    client = await open(servers.sentinels)
    reader = new Redis(servers.primary.port)
  })
  storeSuite(`redis by Sentinel, by ${name}`, {
    ...redisStates(prefix, { getBuffer: (key) => reader.getBuffer(key) }),
    open: async () => bareRedisStore({ client: client.port, prefix }),
    close: async () => {
      await Promise.all([client.end(), reader.quit()])
      await servers.stop()
    },
    differentialCalls: 10_000,
  })
})
