import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { exchangeRemote, type RegionalKey, type RegionalStore, regionalStore, replicate, type Replicator } from '../../src/regions.ts'
import { advised, noRedis, privateRedis } from '../faults/private-redis.ts'
import { until } from '../faults/until.ts'

const limit = tokenBucket({ rate: '40/s', burst: 80 })
const KEY: RegionalKey = { id: { scope: { text: 'default:default:tb:' }, key: 'k' }, limit }

describe.skipIf(noRedis)('regionalStore over Redis, with rights that are sent, where a server is lost', () => {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  it.each(['starts empty', 'is restored from a snapshot'])('admits no more than the limit, and goes on, after one %s', async (how) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-regions-'))
    folders.push(folder)
    const args = ['--dir', folder]
    let eu = await privateRedis(args)
    const us = await privateRedis()
    onTestFinished(async () => void (await Promise.all([eu.stop(), us.stop()])))
    const clients = [eu, eu, us].map(({ port }) => advised(port))
    onTestFinished(() => clients.forEach((client) => client.disconnect()))
    // Two processes of one region, and one of the other.
    const stores = clients.map((client, index): RegionalStore => {
      const [self, peer] = index < 2 ? ['eu', 'us'] : ['us', 'eu']
      const store = redisStore({ client: ioredis(client), ring: { deadline: '5s', breaker: false } })
      return regionalStore({ store, self: self as string, peers: [peer as string], mode: 'escrow' })
    })
    const [one, two, other] = stores as [RegionalStore, RegionalStore, RegionalStore]
    const limiters = stores.map((store) => createLimiter({ limit, store, onStoreFailure: 'deny', deadlineMs: 5_000 }))
    const exchangeAll = async (): Promise<void> => {
      for (let round = 0; round < 4; round += 1) await exchangeRemote(round % 2 === 0 ? one : two, other)
    }
    const since = performance.now()
    let admitted = 0
    const spend = async (index: number): Promise<number> => {
      let passed = 0
      while ((await limiters[index]?.check('k'))?.allowed ?? false) passed += 1
      admitted += passed
      return passed
    }
    // The buckets begin empty, so at most what the rate gives may pass, without a burst.
    const check = (): void => expect(admitted).toBeLessThanOrEqual((40 * (performance.now() - since)) / 1_000)

    expect([await spend(0), await spend(2)]).toEqual([0, 0])
    await exchangeAll()
    expect(await one.remote?.status()).toEqual(await other.remote?.status())
    await until('the second process admits calls', async () => (await spend(1)) > 0)
    expect(await one.remote?.give(KEY, 'us', 300)).toBe(true)
    // The other process of the region knows at once that 200 units are left.
    expect(await two.remote?.unitsOf(KEY)).toBe(200)
    await exchangeAll()
    expect(await other.remote?.unitsOf(KEY)).toBe(800)
    if (how !== 'starts empty') await clients[0]?.save()
    await Promise.all([spend(0), spend(1), spend(2)])
    check()

    eu.signal('SIGKILL')
    await eu.stop()
    eu = await privateRedis(args, eu.port)
    await until(
      'both processes are connected again',
      async () => (await clients[0]?.ping().catch(() => '')) === 'PONG' && (await clients[1]?.ping().catch(() => '')) === 'PONG',
    )
    expect(await clients[0]?.exists('sluice:region')).toBe(how === 'starts empty' ? 0 : 1)
    // The region holds nothing until its peers know the new run, because what it held before may have been sent or used.
    expect([await spend(0), await spend(1)]).toEqual([0, 0])
    expect(await two.remote?.status()).toMatchObject({ phase: 'learning' })
    await spend(2)
    check()
    await exchangeAll()
    expect([await one.remote?.unitsOf(KEY), await other.remote?.unitsOf(KEY)]).toEqual([500, 500])
    await until('the region admits calls again', async () => (await spend(0)) + (await spend(1)) > 0)
    await spend(2)
    check()
  })

  it('is in another run once its server was emptied, and its peers read it from the beginning', async () => {
    const servers = await Promise.all([privateRedis(), privateRedis()])
    const clients = servers.map(({ port }) => advised(port))
    const replicators: Record<string, Replicator> = {}
    const errors: string[] = []
    const stores = ['eu', 'us'].map((self, index) => {
      const store = redisStore({ client: ioredis(clients[index] as Redis), ring: { deadline: '5s', breaker: false } })
      const made = regionalStore({ store, self, peers: [self === 'eu' ? 'us' : 'eu'], mode: 'escrow' })
      const transport = async (peer: string, request: unknown) => JSON.parse(JSON.stringify(await replicators[peer]?.answer(request)))
      replicators[self] = replicate({ store: made, transport, periodMs: 100, onError: (_, error) => errors.push(String(error)) })
      return made
    }) as [RegionalStore, RegionalStore]
    onTestFinished(async () => {
      await Promise.all(Object.values(replicators).map((replicator) => replicator.close()))
      for (const client of clients) client.disconnect()
      await Promise.all(servers.map((server) => server.stop()))
    })
    const areOpen = async (era: number): Promise<boolean> => {
      const found = await Promise.all(stores.map(async (store) => store.remote?.status()))
      return found.every((one) => one?.phase === 'open' && one.era >= era)
    }
    await until('the regions are open', () => areOpen(1))
    for (let round = 0; round < 40; round += 1) await stores[0].remote?.give(KEY, 'us', 1)
    await until('the peer has read', async () => (await stores[1].remote?.unitsOf(KEY)) === 540)
    await clients[0]?.flushall()
    expect(await stores[0].remote?.status()).toMatchObject({ phase: 'learning' })
    await until('the regions are open again', () => areOpen(2))
    expect(errors).toEqual([])
  })

  it('refuses a second region on one server, and a region with another name', async () => {
    const redis = await privateRedis()
    const client = advised(redis.port)
    onTestFinished(async () => {
      client.disconnect()
      await redis.stop()
    })
    const [eu, us] = ['eu', 'us'].map((self) =>
      regionalStore({ store: redisStore({ client: ioredis(client) }), self, peers: [self === 'eu' ? 'us' : 'eu'], mode: 'escrow' }),
    ) as [RegionalStore, RegionalStore]
    expect(await eu.remote?.status()).toMatchObject({ phase: 'learning' })
    const why = 'regions: region eu has this store, and region us needs one of its own'
    await expect(us.remote?.status()).rejects.toThrow(why)
    const decision = await createLimiter({ limit, store: us, onStoreFailure: 'deny' }).check('k')
    expect(decision).toMatchObject({ outcome: 'undecided' })
  })

  it('is named where units cannot be sent', async () => {
    const redis = await privateRedis()
    const client = advised(redis.port)
    onTestFinished(async () => {
      client.disconnect()
      await redis.stop()
    })
    const make = (options: object) => () =>
      regionalStore({ store: redisStore({ client: ioredis(client), ...options }), self: 'eu', peers: ['us'], mode: 'escrow' })
    expect(make({ layout: 'packed' })).toThrow('does not run over redis with the packed layout in this version; use mode fixed')
    expect(make({ maxNewKeys: 10 })).toThrow('does not run over redis with maxNewKeys in this version; use mode fixed')
    const eu = make({})()
    const us = regionalStore({ store: memoryStore(), self: 'us', peers: ['eu'], mode: 'escrow' })
    for (let round = 0; round < 4; round += 1) await exchangeRemote(eu, us)
    expect([(await eu.remote?.status())?.phase, us.phase]).toEqual(['open', 'open'])
    expect([await eu.remote?.give(KEY, 'us', 501), await eu.remote?.give(KEY, 'us', 100)]).toEqual([false, true])
    await exchangeRemote(eu, us)
    expect([await eu.remote?.unitsOf(KEY), us.unitsOf?.(KEY)]).toEqual([400, 600])
    await expect(eu.remote?.give(KEY, 'eu', 1)).rejects.toThrow('regionalStore: give to "eu", expected another region')
    await expect(exchangeRemote(eu, eu)).rejects.toThrow('expected two regions that know each other')
    expect(eu.capabilities.changes).toEqual(['adjust', 'release', 'settle', 'extend', 'block', 'unblock', 'reset'])
  })
})
