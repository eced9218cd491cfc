import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { exchangeRemote, type RegionalKey, type RegionalStore, regionalStore } from '../../src/regions.ts'
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
    // Their first run begins empty, so not even the burst is there at first.
    const check = (): void => expect(admitted).toBeLessThanOrEqual((40 * (performance.now() - since)) / 1_000)

    expect([await spend(0), await spend(2)]).toEqual([0, 0])
    await exchangeAll()
    expect(await one.remote?.status()).toEqual(await other.remote?.status())
    await until('the second process admits calls', async () => (await spend(1)) > 0)
    expect(await one.remote?.give(KEY, 'us', 300)).toBe(true)
    // The other process of the region decides by what is left, at once.
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
    // It holds nothing until its peers know it: what it held may have been sent, or used.
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
    expect(eu.capabilities.changes).toEqual(['adjust', 'block', 'unblock', 'reset'])
  })
})
