import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nodeRedis, type RedisPort, bareRedisStore, valkeyGlide } from '../../src/stores/redis/index.ts'
import { seeded } from '../../src/testing/random.ts'
import { glide } from '../conformance/glide.ts'
import { noRedis, privateRedis } from './private-redis.ts'
import { tcpProxy } from './tcp-proxy.ts'
import { SLOW_BURST, underFault, wait } from './under-fault.ts'

/** As the documentation advises. */
async function byNodeRedis(port: number): Promise<RedisPort> {
  const socket = { host: '127.0.0.1', port, connectTimeout: 500, socketTimeout: 1_000, reconnectStrategy: () => 50 }
  const client = createClient({ socket, disableOfflineQueue: true, pingInterval: 300 })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.destroy())
  return nodeRedis(client)
}

async function byGlide(port: number): Promise<RedisPort> {
  const client = await (glide as NonNullable<typeof glide>).GlideClient.createClient({
    addresses: [{ host: '127.0.0.1', port }],
    requestTimeout: 250,
    connectionBackoff: { numberOfRetries: 1, factor: 50, exponentBase: 1, jitterPercent: 20 },
    advancedConfiguration: { connectionTimeout: 300 },
  })
  onTestFinished(() => client.close())
  return valkeyGlide(client)
}

describe.skipIf(noRedis).each([
  ['node-redis', true, byNodeRedis],
  ['valkey-glide', glide !== undefined, byGlide],
] as const)('%s', (_, there, open) => {
  it.skipIf(!there)('its server killed and started again, empty', async () => {
    const first = await privateRedis()
    onTestFinished(first.stop)
    const store = bareRedisStore({ client: await open(first.port) })
    const { degraded } = await underFault({ store, bound: SLOW_BURST }, async () => {
      first.signal('SIGKILL')
      await wait(800)
      const second = await privateRedis([], first.port)
      onTestFinished(second.stop)
    })
    expect(degraded).toBeGreaterThan(0)
  })

  it.skipIf(!there)('a hole that swallows everything', async (context) => {
    context.skip(open === byGlide, 'valkey-glide lets nobody replace a connection, and noticed nothing for ten seconds')
    const server = await privateRedis()
    onTestFinished(server.stop)
    const proxy = await tcpProxy(server.port, seeded(1))
    onTestFinished(proxy.stop)
    const store = bareRedisStore({ client: await open(proxy.port) })
    await underFault({ store, bound: 0 }, async () => {
      proxy.blackhole()
      await wait(1_200)
      proxy.heal()
    })
  })
})
