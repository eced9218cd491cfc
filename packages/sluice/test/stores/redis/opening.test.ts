import { createServer } from 'node:net'
import { once } from 'node:events'
import { createClient } from 'redis'
import { Redis, type RedisOptions } from 'ioredis'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { ioredis, nodeRedis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { remoteStore } from '../../../src/stores/remote/remote-store.ts'

const { redis: url } = inject('engines')
const prefix = `opening-${process.pid}:`
const limit = tokenBucket({ rate: '10/s', burst: 20 })

/** As the README advises. */
const ADVISED = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 } satisfies RedisOptions

const connect = (target: string, options: { readonly lazyConnect?: true } = {}): Redis => {
  const redis = new Redis(target, { ...ADVISED, ...options })
  redis.on('error', () => {})
  onTestFinished(() => redis.disconnect())
  return redis
}

const limiterOf = (store: Store, deadlineMs = 10_000) => createLimiter({ limit, store, deadlineMs, onStoreFailure: 'local' })

describe.skipIf(url === undefined)('U1: a client that makes its first connection meanwhile', () => {
  const target = url ?? ''

  it.each([
    ['plain', (store: Store) => store],
    ['with the ring', (store: Store) => remoteStore(store, { deadline: 10_000 })],
  ] as const)('is waited for: the first call is decided in Redis (%s)', async (_, wrap) => {
    const limiter = limiterOf(wrap(bareRedisStore({ client: ioredis(connect(target)), prefix })))
    const first = await Promise.all([limiter.check('one'), limiter.check('two')])
    for (const decision of first) {
      expect(decision).toMatchObject({ outcome: 'allowed', source: 'store' })
      expect(decision).not.toHaveProperty('degraded')
    }
  })

  it.each([
    ['plain', (store: Store) => store],
    ['with the ring', (store: Store) => remoteStore(store)],
  ] as const)('is waited for by ready() (%s)', async (_, wrap) => {
    const redis = connect(target)
    const limiter = limiterOf(wrap(bareRedisStore({ client: ioredis(redis), prefix })))
    await limiter.ready()
    expect(redis.status).toBe('ready')
  })

  it('is waited for also where it connects when it is first called', async () => {
    const limiter = limiterOf(bareRedisStore({ client: ioredis(connect(target, { lazyConnect: true })), prefix }))
    expect(await limiter.check('lazy')).toMatchObject({ source: 'store' })
  })

  it('is listened to once, however many stores share it', async () => {
    const redis = connect(target)
    const stores = Array.from({ length: 50 }, () => bareRedisStore({ client: ioredis(redis), prefix }))
    expect(redis.listenerCount('close')).toBeLessThan(5)
    await Promise.all(stores.map((store) => store.ready()))
  })

  it('is waited for where the client is of node-redis and its connect() was not', async () => {
    const client = createClient({ url: target, disableOfflineQueue: true })
    client.on('error', () => {})
    const connected = client.connect()
    onTestFinished(() => client.destroy())
    const limiter = limiterOf(bareRedisStore({ client: nodeRedis(client), prefix }))
    expect(await limiter.check('node')).toMatchObject({ source: 'store' })
    await connected
  })
})

describe('U1: a server that is not there', () => {
  it('fails a call at once, as its connection was refused', async () => {
    const limiter = limiterOf(bareRedisStore({ client: ioredis(connect('redis://127.0.0.1:1')), prefix }))
    const degraded = { kind: 'connection', executed: 'no' }
    expect(await limiter.check('k')).toMatchObject({ source: 'fallback', degraded })
    expect(await limiter.check('k')).toMatchObject({ source: 'fallback', degraded })
  })

  it('keeps the deadline where it takes connections and says nothing, and nothing was sent', async () => {
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const redis = connect(`redis://127.0.0.1:${port}`)
    onTestFinished(() => void silent.close())
    const limiter = createLimiter({
      limit,
      store: bareRedisStore({ client: ioredis(redis), prefix }),
      deadlineMs: 20,
      onStoreFailure: 'deny',
    })
    expect(await limiter.check('k')).toMatchObject({ outcome: 'undecided', degraded: { kind: 'timeout', executed: 'no' } })
  })
})
