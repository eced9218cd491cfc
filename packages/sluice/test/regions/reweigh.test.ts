import { describe, expect, it } from 'vitest'
import { type RegionalStore, regionalStore, reweigh } from '../../src/regions.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { carriedRegions, paced } from './carried.ts'

type Network = ReturnType<typeof carriedRegions>

/** Regions that are open, with full buckets. */
async function opened(names: readonly string[]): Promise<Network> {
  const network = carriedRegions(names, { rate: 100, tickMs: 50 })
  while (!network.isOpen()) await network.pass(100)
  await network.pass(1_500)
  return network
}

const storeOf = (network: Network, name: string): RegionalStore => network.at(name).store
const eraOf = (network: Network): number => storeOf(network, 'eu').era ?? 0
const weightsOf = (network: Network, name: string): unknown => network.at(name).replicator.status().weights

/** Lets time pass until an era later than `after` is open in all regions. */
async function nextEra(network: Network, after: number, each: () => void = () => {}): Promise<void> {
  while (!(network.isOpen() && eraOf(network) > after)) await network.pass(100, each)
}

describe('regions R5: reweigh', () => {
  it('drains a region while all are called: its units go to the others, nothing is over, and it can be stopped', async () => {
    const network = await opened(['ap', 'eu', 'us'])
    const era = eraOf(network)
    const busy = (): void => ['ap', 'eu', 'us'].forEach((name) => void paced(network, name, 60))
    await network.pass(2_000, busy)
    expect(await reweigh(storeOf(network, 'ap'), { ap: 0, eu: 500, us: 500 })).toBe(true)
    let passed = 0
    const others = (): void => ['eu', 'us'].forEach((name) => (passed += paced(network, name, 100)))
    await nextEra(network, era, others)
    expect(network.units('another')).toEqual([0, 500, 500])
    for (const name of ['ap', 'eu', 'us']) expect(weightsOf(network, name)).toEqual({ ap: 0, eu: 500, us: 500 })
    // `ap` may still have units that its last callers needed. It sends them back, except for its reserve of 10. Then the others use the
    // limit without `ap`.
    await network.pass(10_000, others)
    expect(network.units()[0]).toBeLessThanOrEqual(10)
    await network.at('ap').replicator.close()
    passed = 0
    await network.pass(5_000, others)
    expect(passed).toBeGreaterThanOrEqual(480)
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })

  it('removes a region: it is not waited for any more, not even by a store that is lost', async () => {
    const network = await opened(['ap', 'eu', 'us'])
    const era = eraOf(network)
    expect(await reweigh(storeOf(network, 'eu'), { eu: 600, us: 400 })).toBe(true)
    await nextEra(network, era)
    expect([network.units(), weightsOf(network, 'us')]).toEqual([[0, 600, 400], { eu: 600, us: 400 }])
    await network.at('ap').replicator.close()
    await network.lose('us')
    const isOpen = (): boolean => ['eu', 'us'].every((name) => storeOf(network, name).phase === 'open')
    while (isOpen()) await network.pass(100)
    while (!isOpen()) await network.pass(100)
    expect(network.units().slice(1)).toEqual([600, 400])
    await network.close()
  })

  it('adds a region again, that has lost its store meanwhile', async () => {
    const network = await opened(['ap', 'eu'])
    await reweigh(storeOf(network, 'eu'), { eu: 1_000 })
    await nextEra(network, 1)
    await network.lose('ap')
    await network.pass(10_000)
    const era = eraOf(network)
    expect([network.units(), network.isOpen()]).toEqual([[0, 1_000], true])
    expect(await reweigh(storeOf(network, 'ap'), { ap: 300, eu: 700 })).toBe(true)
    await nextEra(network, era)
    expect(network.units()).toEqual([300, 700])
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })

  it('adds a region again, after another one lost its store', async () => {
    const network = await opened(['ap', 'eu', 'us'])
    await reweigh(storeOf(network, 'eu'), { eu: 600, us: 400 })
    await nextEra(network, eraOf(network))
    // After its loss, `eu` learns the roster from `us`, and reads nothing of `ap`. So no roster that `eu` knows has `ap`.
    for (const cut of ['ap>eu', 'eu>ap']) network.cuts.add(cut)
    await network.lose('eu')
    const isOpen = (): boolean => ['eu', 'us'].every((name) => storeOf(network, name).phase === 'open')
    while (isOpen()) await network.pass(100)
    while (!isOpen()) await network.pass(100)
    network.cuts.clear()
    await network.pass(10_000)
    const era = eraOf(network)
    expect(await reweigh(storeOf(network, 'us'), { ap: 200, eu: 500, us: 300 })).toBe(true)
    await nextEra(network, era)
    expect(network.units()).toEqual([200, 500, 300])
    // Units of ap reach eu.
    await network.pass(5_000, () => void paced(network, 'eu', 100))
    const [ap, eu] = network.units()
    expect(ap).toBeLessThanOrEqual(20)
    expect(eu).toBeGreaterThan(900)
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })

  it('waits for a region that cannot be reached, which goes on with what it holds', async () => {
    const network = await opened(['ap', 'eu'])
    const era = eraOf(network)
    network.cuts.add('ap>eu').add('eu>ap')
    expect(await reweigh(storeOf(network, 'eu'), { ap: 0, eu: 1_000 })).toBe(true)
    await network.pass(5_000)
    expect([storeOf(network, 'eu').phase, storeOf(network, 'ap').phase, network.units()]).toEqual(['closed', 'open', [500, 500]])
    expect(await reweigh(storeOf(network, 'eu'), { ap: 500, eu: 500 })).toBe(false)
    network.cuts.clear()
    await nextEra(network, era)
    expect(network.units()).toEqual([0, 1_000])
    await network.close()
  })

  it('a region that is gone for good is not waited for, and the others go on with its weight; a new run of it joins later', async () => {
    const network = await opened(['ap', 'eu', 'us'])
    const era = eraOf(network)
    const { replicator } = network.at('eu')
    const runOf = (name: string): string => replicator.status().peers[name]?.run ?? ''
    const gone = { us: runOf('us') }
    await network.at('us').replicator.close()
    // The era begins to end, and without `us` it never does.
    expect(await reweigh(storeOf(network, 'eu'), { ap: 600, eu: 200, us: 200 })).toBe(true)
    await network.pass(5_000)
    expect([storeOf(network, 'ap').phase, storeOf(network, 'eu').phase]).toEqual(['closed', 'closed'])
    const weights = { ap: 500, eu: 500 }
    await expect(reweigh(storeOf(network, 'eu'), weights, { gone: { us: 'another' } })).rejects.toThrow('but region eu knows a later run')
    await expect(reweigh(storeOf(network, 'eu'), { us: 9 }, { gone })).rejects.toThrow('weights has "us", which is gone')
    await expect(reweigh(storeOf(network, 'eu'), { ap: 1_000 }, { gone: { eu: 'x' } })).rejects.toThrow('region eu knows no run')
    expect(await reweigh(storeOf(network, 'eu'), weights, { gone })).toBe(true)
    const isOpen = (): boolean => ['ap', 'eu'].every((name) => storeOf(network, name).phase === 'open' && eraOf(network) > era)
    while (!isOpen()) await network.pass(100)
    expect(network.units().slice(0, 2)).toEqual([500, 500])
    let passed = 0
    await network.pass(3_000)
    await network.pass(5_000, () => ['ap', 'eu'].forEach((name) => (passed += paced(network, name, 60))))
    expect(passed).toBeGreaterThanOrEqual(480)
    await network.lose('us')
    while (!network.isOpen()) await network.pass(100)
    const later = eraOf(network)
    expect([network.units(), runOf('us') !== gone.us]).toEqual([[500, 500, 0], true])
    expect(await reweigh(storeOf(network, 'us'), { ap: 400, eu: 300, us: 300 })).toBe(true)
    await nextEra(network, later)
    expect(network.units()).toEqual([400, 300, 300])
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })

  it('a store that is lost and waits for a region that is gone learns from the others that it is', async () => {
    const network = await opened(['ap', 'eu', 'us'])
    await network.at('us').replicator.close()
    network.cuts.add('eu reads us').add('ap reads us')
    await network.lose('ap')
    await network.pass(5_000)
    expect(storeOf(network, 'ap').phase).toBe('learning')
    const run = network.at('eu').replicator.status().peers['us']?.run ?? ''
    expect(await reweigh(storeOf(network, 'ap'), { ap: 500, eu: 500 }, { gone: { us: run } }).catch(() => false)).toBe(false)
    expect(await reweigh(storeOf(network, 'eu'), { ap: 500, eu: 500 }, { gone: { us: run } })).toBe(true)
    const isOpen = (): boolean => ['ap', 'eu'].every((name) => storeOf(network, name).phase === 'open')
    while (!isOpen()) await network.pass(100)
    expect(network.units().slice(0, 2)).toEqual([500, 500])
    await network.close()
  })

  it.each([
    [{ ap: 500, eu: 500 }, 'weights has "ap", expected eu, us'],
    [{ eu: 0.5 }, 'weights.eu is 0.5, expected a whole number from 0 to 1000'],
    [{ eu: -1 }, 'weights.eu is -1'],
    [{ eu: 600, us: 500 }, 'weights are 1100 together, expected 1 to 1000'],
    [{ eu: 0 }, 'weights are 0 together'],
    [{}, 'weights are 0 together'],
  ])('refuses %j', async (weights, message) => {
    const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'escrow' })
    await expect(reweigh(store, weights)).rejects.toThrow(message)
    expect(await reweigh(store, { eu: 1_000 })).toBe(false)
    const fixed = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'] })
    await expect(reweigh(fixed, { eu: 1_000 })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })
})
