import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Limiter, StoreFailure, tokenBucket } from '../../src/index.ts'
import { type RegionalKey, replicate, type ReplicateOptions } from '../../src/regions.ts'
import { expectInTime } from '../faults/in-time.ts'
import { noRedis, privateRedis } from '../faults/private-redis.ts'
import { until } from '../faults/until.ts'
import { overOf } from './over.ts'
import { areOpen, callsOf, openRegions, type Region, storeOf } from './redis-regions.ts'

const [RATE, BURST] = [100, 100]
const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
const KEY: RegionalKey = { id: { scope: { text: 'default:default:tb:' }, key: 'k' }, limit }

describe.skipIf(noRedis)('replicate over Redis', () => {
  it('regions R3 to R7: three servers under load, links that cut, delay, repeat and half-close, a server lost: 0 over', async () => {
    const folder = (name: string): readonly string[] => (name === 'ap' ? ['--appendonly', 'no'] : ['--appendonly', 'yes'])
    const regions = await openRegions(['ap', 'eu', 'us'], limit, folder)
    const at = (name: string): Region => regions.get(name) as Region
    const all = [...regions.values()]
    const links = all.flatMap(({ links: own }) => [...own.values()])
    const { passed, load, moreIn } = callsOf(regions, 'k')
    const isOpen = (): boolean => areOpen(all)
    const received = (name: string): number => at(name).replicator.status().transfers.unitsReceived

    expect(at('eu').replicator.status()).toMatchObject({ phase: 'learning', units: 0, cells: 0 })
    for (const { faults } of links) Object.assign(faults, { delayMs: 20, lost: 0.1, halfClosed: 0.1, repeated: 0.3 })
    await load(['ap', 'eu', 'us'], 'all are open', isOpen)
    await load(['eu'], 'units move to eu', () => received('eu') >= 500)
    await load(['us'], 'units move to us', () => received('us') >= 700)
    await load(['ap', 'eu', 'us'], 'all pass calls', moreIn(['ap', 'eu', 'us'], 20))

    // `us` is cut off in both directions, and goes on with the units that it holds.
    for (const { name, links: own } of all) {
      for (const [peer, { faults }] of own) if (name === 'us' || peer === 'us') faults.isCut = true
    }
    await load(['ap', 'eu', 'us'], 'a cut-off region passes calls', moreIn(['us'], 100))
    await until('the cut is noticed', async () => (at('us').replicator.status().peers['eu']?.failures ?? 0) > 0)
    for (const { faults } of links) faults.isCut = false
    await load(['ap', 'eu', 'us'], 'the cut is over', () => at('us').replicator.status().peers['eu']?.failures === 0)

    const eras = at('ap').replicator.status().era
    const lost = at('ap')
    lost.redis.signal('SIGKILL')
    await lost.redis.stop()
    await load(['eu', 'us'], 'the others go on', moreIn(['eu', 'us'], 20))
    await until('its pulls fail', async () => lost.replicator.status().peers['eu']?.error?.startsWith('redis: ') === true)
    lost.redis = await privateRedis(folder('ap'), lost.redis.port)
    await load(['ap', 'eu', 'us'], 'a new era is open', () => isOpen() && at('ap').replicator.status().era > eras)
    await load(['ap', 'eu', 'us'], 'the lost one passes calls', moreIn(['ap'], 20))
    for (const { faults } of links) Object.assign(faults, { delayMs: 0, lost: 0, halfClosed: 0, repeated: 0 })
    const before = received('ap')
    await load(['ap'], 'units move to the lost one', () => received('ap') > before)

    expect(overOf(passed, RATE, BURST)).toBeLessThanOrEqual(0)
    // Enough calls passed, and each kind of fault occurred. Otherwise the audit would have tested nothing.
    expect(passed.length).toBeGreaterThan(3 * RATE)
    for (const kind of ['lost', 'halfClosed', 'repeated'] as const)
      expect(
        links.reduce((sum, { counts }) => sum + counts[kind], 0),
        `links: ${kind}`,
      ).toBeGreaterThan(0)
    let units = 0
    for (const { store } of all) units += (await store.remote?.unitsOf(KEY)) ?? 0
    expect(units).toBeLessThanOrEqual(1_000)
  }, 240_000)

  it('two replicators of one region send no more than one would', async () => {
    const regions = await openRegions(['eu', 'us'], limit, () => [])
    const [eu, us] = [regions.get('eu') as Region, regions.get('us') as Region]
    const second = storeOf(us.redis.port, 'us', ['eu'])
    const transport: ReplicateOptions['transport'] = async (_peer, request, signal) => us.links.get('eu')?.ask(request, signal)
    const other = replicate({ store: second, transport, periodMs: 200, timeoutMs: 1_000 })
    onTestFinished(() => other.close())
    us.replicators.push(other)
    const isOpen = (): boolean => [eu.replicator, us.replicator, other].every((one) => one.status().phase === 'open')
    await until('both are open', async () => isOpen())
    const ending = new AbortController()
    const calling = (async () => {
      while (!ending.signal.aborted) if (!(await eu.limiters[0].check('k', { cost: 10 })).allowed) await pause(5)
    })()
    await until('units move', async () => eu.replicator.status().transfers.unitsReceived >= 490, 60_000).finally(() => ending.abort())
    await calling
    expect([await eu.store.remote?.unitsOf(KEY), await us.store.remote?.unitsOf(KEY)]).toEqual([990, 10])
    expect(us.replicator.status().transfers.unitsSent + other.status().transfers.unitsSent).toBe(490)
    expect(us.replicator.status().era).toBe(other.status().era)
  }, 120_000)

  it('sums what the callers of all processes need: one that carries no units gets them, and keeps them', async () => {
    const regions = await openRegions(['eu', 'us'], limit, () => [])
    const [eu, us] = [regions.get('eu') as Region, regions.get('us') as Region]
    await until('both are open', async () => [eu, us].every(({ replicator }) => replicator.status().phase === 'open'))
    const busy = new Set([eu, us])
    const callers = [eu, us].map(async (region) => {
      const [, limiter] = region.limiters
      while (busy.has(region)) if (!(await limiter.check('k', { cost: 10 })).allowed) await pause(5)
    })
    const asked = (): number => eu.links.get('us')?.counts.asked ?? 0
    const before = asked()
    await until('eu asks often', async () => asked() > before + 20)
    const sent = us.replicator.status().transfers.unitsSent
    busy.delete(us)
    await until('units move to eu', async () => eu.replicator.status().transfers.unitsReceived >= 480)
    // What does not change is not published again.
    await until('eu asks', async () => asked() > before + 30)
    const { needs = 0 } = eu.links.get('us')?.counts ?? {}
    await until('eu asks on', async () => asked() > before + 50)
    busy.clear()
    await Promise.all(callers)
    expect((eu.links.get('us')?.counts.needs ?? 0) - needs).toBeLessThanOrEqual(3)
    // Both regions needed more units than there are, so each kept its half.
    expect(sent).toBeLessThanOrEqual(100)
  }, 120_000)

  it('sends units of a key that many callers decide at once', async () => {
    const regions = await openRegions(['eu', 'us'], limit, () => [])
    const [eu, us] = [regions.get('eu') as Region, regions.get('us') as Region]
    await until('both are open', async () => [eu, us].every(({ replicator }) => replicator.status().phase === 'open'))
    const ending = new AbortController()
    let [decided, undecided, slowestMs] = [0, 0, 0]
    const callers = Array.from({ length: 60 }, async (_, index) => {
      const limiter = us.limiters[index % 2] as Limiter
      while (!ending.signal.aborted) {
        const sent = performance.now()
        const { outcome } = await limiter.check('k', { cost: 0.001 })
        slowestMs = Math.max(slowestMs, performance.now() - sent)
        if (outcome === 'undecided') undecided += 1
        else decided += 1
      }
    })
    const sending = async (): Promise<void> => {
      for (let sent = 0; sent < 20; sent += 1) {
        const before = decided
        expect(await us.store.remote?.give(KEY, 'eu', 10), `transfer ${sent}`).toBe(true)
        await until('calls go on', async () => decided > before + 100)
      }
    }
    const error: unknown = await sending().then(
      () => undefined,
      (reason: unknown) => reason,
    )
    ending.abort()
    await Promise.all(callers)
    // While the machine stops, calls reach their deadline of 2 s, and the store gives up its connection.
    if (error !== undefined || undecided > 0) expectInTime('the slowest call', slowestMs, 1_000)
    expect([error, undecided]).toEqual([undefined, 0])
    expect(await us.store.remote?.unitsOf(KEY)).toBe(300)
  }, 120_000)

  it('has a failed pull, and refuses requests with the store failure, while its own server is away, and goes on after that', async () => {
    const regions = await openRegions(['eu', 'us'], limit, () => [])
    const [eu, us] = [regions.get('eu') as Region, regions.get('us') as Region]
    await until('both are open', async () => [eu, us].every(({ replicator }) => replicator.status().phase === 'open'))
    const request = { version: 1, from: 'us', to: 'eu', rows: null, needs: [], after: 0, needsAt: { run: 'p', at: 0 }, hello: null }
    expect(await eu.replicator.answer(request)).toMatchObject({ from: 'eu', to: 'us' })
    const { port } = eu.redis
    eu.redis.signal('SIGKILL')
    await eu.redis.stop()
    // A pull that was under way may have failed for another reason.
    await until('pulls fail by the own server', async () => {
      const peer = eu.replicator.status().peers['us']
      return peer !== undefined && peer.failures >= 2 && peer.error?.startsWith('redis: ') === true
    })
    await expect(eu.replicator.answer(request)).rejects.toBeInstanceOf(StoreFailure)
    eu.redis = await privateRedis([], port)
    await until('both are open again', async () => {
      const [one, other] = [eu.replicator.status(), us.replicator.status()]
      return one.phase === 'open' && other.phase === 'open' && one.era === other.era && one.peers['us']?.failures === 0
    })
  }, 120_000)
})
