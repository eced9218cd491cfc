import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis-5'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { bareRedisStore, nodeRedis } from '../../src/stores/redis/index.ts'
import { noRedis } from './private-redis.ts'
import { privateSentinel, SENTINEL_NAME } from './private-sentinel.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

const BURST = 100
const limit = tokenBucket({ rate: '1/h', burst: BURST })

/** As the documentation advises. The primary is reached through the proxy. */
async function opened(make: typeof createSentinel | typeof createSentinel5) {
  let link: TcpProxy | undefined
  const servers = await privateSentinel({
    sentinels: 1,
    downAfterMs: 30_000,
    allThrough: true,
    through: async (port) => (link = await tcpProxy(port, () => 0.5)).port,
  })
  onTestFinished(async () => {
    await servers.stop()
    await link?.stop()
  })
  const client = (make as typeof createSentinel)({
    name: SENTINEL_NAME,
    sentinelRootNodes: [...servers.sentinels],
    maxCommandRediscovers: 0,
    nodeClientOptions: { disableOfflineQueue: true, socket: { connectTimeout: 500, reconnectStrategy: () => 20 } },
  })
  client.on('error', () => {})
  onTestFinished(async () => void (await client.destroy()))
  return { client, link: link as unknown as TcpProxy }
}

describe.skipIf(noRedis).each([
  ['node-redis 6', createSentinel],
  ['node-redis 5', createSentinel5],
] as const)('createSentinel of %s', (_, make) => {
  it('decides also where its connect() was not awaited', async () => {
    const { client } = await opened(make)
    const connected = client.connect()
    const limiter = createLimiter({ limit, store: bareRedisStore({ client: nodeRedis(client) }), deadlineMs: 10_000 })
    await limiter.ready()
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed', limits: [{ remaining: BURST - 1 }] })
    await connected
  })

  it('charges a call once whose reply was lost', async () => {
    const { client, link } = await opened(make)
    await client.connect()
    const store = bareRedisStore({ client: nodeRedis(client) })
    const limiter = createLimiter({ limit, store, deadlineMs: 10_000, onStoreFailure: 'deny' })
    await limiter.ready()
    const lost = 3
    for (let call = 0; call < lost; call += 1) {
      // The client has connected again, so that the next call is sent.
      await expect.poll(() => limiter.peek('k').then(({ outcome }) => outcome)).toBe('allowed')
      link.faults.lost = 1
      expect(await limiter.check('k')).toMatchObject({ outcome: 'undecided', degraded: { kind: 'connection', executed: 'unknown' } })
      link.faults.lost = 0
    }
    await expect.poll(() => limiter.peek('k')).toMatchObject({ limits: [{ remaining: BURST - lost }] })
  })
})
