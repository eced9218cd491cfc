import type { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { describe, inject } from 'vitest'
import { bareRedisStore, valkeyGlide } from '../../src/stores/redis/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { glide } from './glide.ts'
import { redisStates } from './redis-states.ts'

const { redis: url = 'redis://none' } = inject('engines')
const { hostname: host, port } = new URL(url)
const prefix = `glide-${process.pid}:`

describe.skipIf(glide === undefined || port === '')('Redis by valkey-glide', () => {
  const reader = new Redis(url, { lazyConnect: true })
  let client: GlideClient | undefined
  storeSuite('redis by valkey-glide', {
    ...redisStates(prefix, reader),
    open: async () => {
      client = await glide?.GlideClient.createClient({ addresses: [{ host, port: Number(port) }], requestTimeout: 60_000 })
      return bareRedisStore({ client: valkeyGlide(client as GlideClient), prefix })
    },
    close: async () => {
      client?.close()
      await reader.quit()
    },
    differentialCalls: 10_000,
  })
})
