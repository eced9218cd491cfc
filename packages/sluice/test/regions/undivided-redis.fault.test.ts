import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import type { RegionalKey } from '../../src/regions.ts'
import { noRedis, privateRedis } from '../faults/private-redis.ts'
import { until } from '../faults/until.ts'
import { overOf } from './over.ts'
import { areOpen, callsOf, openRegions, type Region } from './redis-regions.ts'

/** A burst of less than one token for each region, so a key is not divided: one region at a time holds all units. */
const [RATE, BURST] = [5, 2]
const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
const KEY: RegionalKey = { id: { scope: { text: 'default:default:tb:' }, key: 'few' }, limit }
const NAMES = ['ap', 'eu', 'us']

describe.skipIf(noRedis)('a limit that is not divided, over Redis', () => {
  it('regions R8: three servers take turns over links that cut, delay, repeat and half-close; the one that holds it is lost: 0 over', async () => {
    const regions = await openRegions(NAMES, limit, () => ['--appendonly', 'no'])
    const all = [...regions.values()]
    const links = all.flatMap(({ links: own }) => [...own.values()])
    const { passed, load, moreIn } = callsOf(regions, 'few')
    const unitsIn = async ({ store }: Region): Promise<number> => (await store.remote?.unitsOf(KEY)) ?? 0
    /** The only region that holds the key. If the key is on its way, or moves while regions are asked one by one, asks again. */
    const holder = async (): Promise<Region> => {
      let holders: readonly Region[] = []
      await until('one region holds the key', async () => {
        const units = await Promise.all(all.map(unitsIn))
        holders = all.filter((_, index) => units[index] !== 0)
        return holders.length === 1
      })
      return holders[0] as Region
    }

    for (const { faults } of links) Object.assign(faults, { delayMs: 20, lost: 0.1, halfClosed: 0.1, repeated: 0.3 })
    await load(NAMES, 'all are open', () => areOpen(all))
    await load(NAMES, 'all have a turn', moreIn(NAMES, 5))

    // All links are cut. The region that holds the key goes on, and the two others must wait.
    for (const { faults } of links) faults.isCut = true
    const cutOff = await holder()
    await load(NAMES, 'the holder goes on', moreIn([cutOff.name], 10))
    expect(await holder()).toBe(cutOff)
    for (const { faults } of links) faults.isCut = false
    await load(NAMES, 'all have a turn again', moreIn(NAMES, 5))

    const lost = await holder()
    const eras = lost.replicator.status().era
    lost.redis.signal('SIGKILL')
    await lost.redis.stop()
    lost.redis = await privateRedis(['--appendonly', 'no'], lost.redis.port)
    await load(NAMES, 'a new era is open', () => areOpen(all) && lost.replicator.status().era > eras)
    await load(NAMES, 'all have a turn in it', moreIn(NAMES, 5))

    expect(overOf(passed, RATE, BURST)).toBeLessThanOrEqual(0)
    // The audit would be empty if nothing had passed.
    expect(passed.length).toBeGreaterThan(50)
    await holder()
  }, 240_000)
})
