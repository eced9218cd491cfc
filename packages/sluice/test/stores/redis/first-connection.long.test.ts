import { findRedis, startRedis } from '@sluice/scripts/engines'
import { createClient, type RedisClientOptions } from 'redis'
import { createClient as createClient5 } from 'redis-5'
import { Cluster, Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { createLimiter, type Store, tokenBucket } from '../../../src/index.ts'
import { ioredis, nodeRedis, type RedisPort, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { remoteStore } from '../../../src/stores/remote/remote-store.ts'

const engines = inject('engines')
const redis = engines.redis === undefined ? { missing: 'no engine' } : findRedis()
const path = 'path' in redis ? redis.path : ''
const limit = tokenBucket({ rate: '10/s', burst: 20 })

/** The client options that the README advises, except that the client tries again after 20 ms, so that the tests are short. */
const ADVISED = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 }

/** Waits for an event of a client. Unlike `once` of node:events, it does not reject if an error event comes first. */
function once(client: { once(event: string, listener: () => void): unknown }, event: string): Promise<void> {
  return new Promise((resolve) => void client.once(event, resolve))
}

/** A port where nothing listens. */
async function nobodysPort(): Promise<number> {
  const engine = await startRedis(path)
  await engine.stop()
  return Number(new URL(engine.url).port)
}

interface Client {
  readonly port: RedisPort
  /** Resolves when an attempt has failed. */
  failed(): Promise<unknown>
}

function ofIoredis(
  port: number,
  options: { readonly lazyConnect?: true; readonly retryStrategy?: () => null; readonly password?: string } = {},
): Client & { readonly client: Redis } {
  const client = new Redis({ host: '127.0.0.1', port, ...ADVISED, ...options })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return { client, port: ioredis(client), failed: () => once(client, 'close') }
}

function ofCluster(port: number): Client {
  const client = new Cluster([{ host: '127.0.0.1', port }], { enableOfflineQueue: false, clusterRetryStrategy: () => 20 })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return { port: ioredis(client), failed: () => once(client, 'close') }
}

function ofSentinel(port: number): Client {
  const client = new Redis({ ...ADVISED, sentinels: [{ host: '127.0.0.1', port }], name: 'mine', sentinelRetryStrategy: () => 20 })
  const failed = new Promise((resolve) => client.on('error', resolve))
  onTestFinished(() => client.disconnect())
  return { port: ioredis(client), failed: () => failed }
}

function ofIovalkey(port: number): Client {
  const client = new Valkey({ host: '127.0.0.1', port, ...ADVISED })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return { port: ioredis(client), failed: () => once(client, 'close') }
}

function ofNodeRedis(make: typeof createClient | typeof createClient5, port: number, options: RedisClientOptions['socket'] = {}): Client {
  const socket = { host: '127.0.0.1', port, reconnectStrategy: () => 20, ...options } as never
  const client = (make as typeof createClient)({ socket, disableOfflineQueue: true })
  const failed = new Promise((resolve) => client.on('error', resolve))
  client.connect().catch(() => {})
  onTestFinished(() => (client.isOpen ? client.destroy() : undefined))
  return { port: nodeRedis(client), failed: () => failed }
}

const soon = (): { deadline: number } => ({ deadline: performance.now() + 300 })

/** Whether the store is ready soon, or why not. */
const outcomeOf = (store: Store): Promise<string> => store.ready(soon()).then(() => 'ready', String)

describe.skipIf('missing' in redis)('U1: ready() waits for the first connection while the client goes on trying', () => {
  const CLIENTS: [string, (port: number) => Client, string[]][] = [
    ['ioredis', ofIoredis, []],
    ['iovalkey', ofIovalkey, []],
    ['an ioredis Cluster', ofCluster, ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']],
    ['node-redis', (port) => ofNodeRedis(createClient, port), []],
    ['node-redis 5', (port) => ofNodeRedis(createClient5, port), []],
  ]
  it.each(CLIENTS)('resolves where Redis comes up after a failed attempt (%s)', async (_, open, extra) => {
    const port = await nobodysPort()
    const { port: client, failed } = open(port)
    const store = remoteStore(bareRedisStore({ client }))
    const ready = store.ready({ deadline: performance.now() + 60_000 }).then(
      () => 'ready',
      (error: Error) => error.message,
    )
    await failed()
    const engine = await startRedis(path, extra, port)
    onTestFinished(engine.stop)
    if (extra.length > 0) {
      const admin = new Redis(engine.url)
      await admin.call('cluster', 'addslotsrange', 0, 16_383)
      admin.disconnect()
    }
    expect(await ready).toBe('ready')
    const limiter = createLimiter({ limit, store, onStoreFailure: 'local' })
    expect(await limiter.check('k', { deadlineMs: 10_000 })).toMatchObject({ outcome: 'allowed', source: 'store' })
  })

  it.each([
    ...CLIENTS.map(
      ([name, open]) => [name, open, name.includes('Cluster') ? /Failed to refresh.*Connection is closed/ : /ECONNREFUSED/] as const,
    ),
    // It says no more of each sentinel.
    ['ioredis with Sentinel', ofSentinel, /All sentinels are unreachable/] as const,
    ['ioredis that connects when it is called', (port: number) => ofIoredis(port, { lazyConnect: true }), /ECONNREFUSED/] as const,
  ])('rejects at the deadline with the last error of the client (%s)', async (_, open, message) => {
    const { port: client } = open(await nobodysPort())
    const store = bareRedisStore({ client })
    // If this process pauses, the deadline may come before the first attempt fails.
    await expect.poll(() => outcomeOf(store)).toMatch(message)
    const timing = soon()
    const failure = { kind: 'connection', executed: 'no', message: expect.stringMatching(message) as string }
    await expect(store.ready(timing)).rejects.toMatchObject(failure)
    expect(performance.now()).toBeGreaterThan(timing.deadline - 5)
  })

  it('says why to the caller of a limiter', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const limiter = createLimiter({ limit, store: remoteStore(bareRedisStore({ client: ofIoredis(1).port })) })
    const ready = limiter.ready().catch((error: Error) => error.message)
    for (let turn = 0; turn < 60; turn += 1) {
      await new Promise(setImmediate)
      await vi.advanceTimersByTimeAsync(100)
    }
    expect(await ready).toBe('redis: connect ECONNREFUSED 127.0.0.1:1')
  })

  it('names the reason where the host has several addresses, whose error has no message', async () => {
    const port = await nobodysPort()
    const { port: client } = ofNodeRedis(createClient, port, { host: 'two.test', ...twoAddresses() } as never)
    const store = bareRedisStore({ client })
    await expect.poll(() => outcomeOf(store)).toContain(`ECONNREFUSED 127.0.0.1:${port}`)
  })

  it.each<[string, (port: number) => Client]>([
    ['ioredis', (port) => ofIoredis(port, { retryStrategy: () => null })],
    ['node-redis', (port) => ofNodeRedis(createClient, port, { reconnectStrategy: false })],
    ['node-redis 5', (port) => ofNodeRedis(createClient5, port, { reconnectStrategy: false })],
  ])('rejects at once with that reason where the client has given up for good (%s)', async (_, open) => {
    const { port: client } = open(await nobodysPort())
    const store = bareRedisStore({ client })
    const timing = { deadline: performance.now() + 3_600_000 }
    await expect(store.ready(timing)).rejects.toMatchObject({ message: expect.stringContaining('ECONNREFUSED') as string, executed: 'no' })
    await expect(store.ready(timing)).rejects.toThrow('ECONNREFUSED')
  })

  it('rejects at once where the server refuses the account, and works when it no longer does', async () => {
    const engine = await startRedis(path)
    onTestFinished(engine.stop)
    const admin = new Redis(engine.url)
    onTestFinished(() => admin.disconnect())
    await admin.config('SET', 'requirepass', 'one')
    const { port: client } = ofIoredis(Number(new URL(engine.url).port), { password: 'other' })
    const store = bareRedisStore({ client })
    const wrong = { kind: 'setup', executed: 'no', message: expect.stringContaining('WRONGPASS') as string }
    await expect(store.ready({ deadline: performance.now() + 3_600_000 })).rejects.toMatchObject(wrong)
    await admin.config('SET', 'requirepass', 'other')
    await expect.poll(() => outcomeOf(store)).toBe('ready')
  })

  it('knows the reason of a client that had given up before the first call', async () => {
    const { port: client, client: redisClient } = ofIoredis(1, { retryStrategy: () => null })
    await once(redisClient, 'end')
    await expect(bareRedisStore({ client }).ready(soon())).rejects.toThrow('ECONNREFUSED')
  })

  it('waits also where the first attempt had failed before the store was made', async () => {
    const port = await nobodysPort()
    const { client } = ofIoredis(port)
    await once(client, 'reconnecting')
    const ready = bareRedisStore({ client: ioredis(client) }).ready({ deadline: performance.now() + 60_000 })
    const engine = await startRedis(path, [], port)
    onTestFinished(engine.stop)
    await ready
  })

  it('waits for a call no longer than before', async () => {
    const { port: client, failed } = ofIoredis(1)
    const store = bareRedisStore({ client })
    await failed()
    const limiter = createLimiter({ limit, store, deadlineMs: 60_000, onStoreFailure: 'deny' })
    expect(await limiter.check('k')).toMatchObject({ outcome: 'undecided', degraded: { kind: 'connection', executed: 'no' } })
  })

  it('does not wait for a connection that was there and is lost', async () => {
    const engine = await startRedis(path)
    const { port: client, failed } = ofIoredis(Number(new URL(engine.url).port))
    const store = bareRedisStore({ client })
    await store.ready({ deadline: performance.now() + 60_000 })
    const lost = failed()
    await engine.stop()
    await lost
    await expect(store.ready({ deadline: performance.now() + 3_600_000 })).rejects.toMatchObject({ kind: 'connection' })
  })

  it('ends where the caller leaves', async () => {
    const { port: client } = ofIoredis(1)
    const leaving = new AbortController()
    const ready = bareRedisStore({ client }).ready({ deadline: performance.now() + 3_600_000, signal: leaving.signal })
    leaving.abort()
    await expect(ready).rejects.toMatchObject({ kind: 'aborted', executed: 'no' })
  })
})

describe.skipIf('missing' in redis)('U1: the listeners of those who wait', () => {
  const counted = (client: Redis): number[] => ['end', 'error', 'node error'].map((event) => client.listenerCount(event))

  it('are one set for a client, and go with the last who waits', async () => {
    const { client } = ofIoredis(1)
    const stores = Array.from({ length: 50 }, () => bareRedisStore({ client: ioredis(client) }))
    await once(client, 'reconnecting')
    const waits = stores.map((store) => store.ready(soon()).catch(() => {}))
    expect(counted(client)).toEqual([2, 2, 1])
    expect(client.listenerCount('close')).toBeLessThan(5)
    await Promise.all(waits)
    expect(counted(client)).toEqual([1, 1, 0])
  })

  it('silence no error that a program does not listen to, and the reason is known all the same', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const client = new Redis({ host: '127.0.0.1', port: 1, ...ADVISED })
    onTestFinished(() => client.disconnect())
    const store = bareRedisStore({ client: ioredis(client) })
    await expect.poll(() => outcomeOf(store)).toContain('ECONNREFUSED 127.0.0.1:1')
    expect(printed.mock.calls[0]?.join(' ')).toContain('[ioredis] Unhandled error event: Error: connect ECONNREFUSED')
  })
})

/** Socket options for a host that has two addresses. Both refuse connections. */
function twoAddresses(): object {
  const both = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  return {
    autoSelectFamily: true,
    lookup: (_host: string, _options: object, answer: (error: null, found: object[]) => void) => answer(null, both),
  }
}
