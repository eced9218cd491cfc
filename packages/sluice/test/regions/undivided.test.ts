import { describe, expect, it } from 'vitest'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../src/create-limiter.ts'
import { takesTurns, type WholeDemand, wholeGiftOf } from '../../src/regions/replicator/demand.ts'
import { UNITS } from '../../src/regions/rights/limit.ts'
import * as programs from '../../src/regions/rights/programs.ts'
import { equalRoster, type Roster } from '../../src/regions/rights/roster.ts'
import { firstUnits, isUndivided } from '../../src/regions/rights/undivided.ts'
import { regionalStore } from '../../src/regions.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { carriedRegions, turns } from './carried.ts'
import { draws } from '../draws.ts'
import { limitOf } from './two-stores.ts'
import { variantOf } from './variants.ts'
import { WRONG } from './wrong.ts'
import { UNDIVIDED_HISTORIES } from './written-undivided.ts'

const NAMES = ['ap', 'eu', 'us']
const of = (region: string, units: number, need: number, cost: number, since = 0): WholeDemand => ({ region, units, need, cost, since })

describe('regions R8: which cells are not divided, and where they begin', () => {
  it.each([
    [1, 1, false],
    [2, 1, true],
    [2, 2, false],
    [3, 2.9, true],
    [3, 3, true],
    [3, 3.1, false],
    [3, 0.5, false],
  ])('regions R8: in %s regions, a burst of %s tokens: %s', (regions, burst, undivided) => {
    const roster = equalRoster(NAMES.slice(0, regions))
    expect(isUndivided(roster, burst * MICRO)).toBe(undivided)
  })

  it('regions R8: a cell begins whole in one region, by weight, and none holds it where nobody has a weight', () => {
    const roster: Roster = { version: 1, weights: new Map(Object.entries({ eu: 600, ap: 300, us: 0 })) }
    const homes = new Map<string, number>()
    const limit = limitOf(1)
    for (let hash = 0; hash < 900; hash += 1) {
      const held = NAMES.map((name) => firstUnits(roster, name, programs.keyedLimit(limit, hash * 7919)))
      expect(held.filter((units) => units > 0)).toEqual([UNITS])
      const home = NAMES[held.indexOf(UNITS)] as string
      homes.set(home, (homes.get(home) ?? 0) + 1)
    }
    expect(Object.fromEntries(homes)).toEqual({ ap: 300, eu: 600 })
    const nobody = { version: 1, weights: new Map(NAMES.map((name) => [name, 0])) }
    expect(NAMES.map((name) => firstUnits(nobody, name, programs.keyedLimit(limitOf(1), 7)))).toEqual([0, 0, 0])
  })

  it.each(Object.keys(UNDIVIDED_HISTORIES) as (keyof typeof UNDIVIDED_HISTORIES)[])('regions R8: never over: %s', (name) => {
    const { over, mostUnits, agreed } = UNDIVIDED_HISTORIES[name](programs)
    expect({ over, agreed, units: mostUnits <= UNITS }).toEqual({ over: false, agreed: true, units: true })
  })

  it.each([
    ['a cell that is not divided is whole in every region', 'all regions call a limit of one token'],
    ['regions differ in the home of a cell', 'all regions call a limit of one token'],
    ['a cell is whole at its next home while an era ends', 'the home of a cell changes while an era ends'],
    ['rows of a divided cell count when it no longer is', 'a limit is no longer divided, and had rows'],
    ['rows of a divided cell are received when it no longer is', 'a limit is no longer divided while a row is on its way'],
    ['units are sent of a cell with rows of when it was not divided', 'a limit is divided, and had rows'],
  ] as const)('regions R8: noticed: %s', async (wrong, history) => {
    const { over, agreed, mostUnits } = UNDIVIDED_HISTORIES[history](await variantOf(WRONG[wrong]))
    expect(over || !agreed || mostUnits > UNITS).toBe(true)
  })
})

describe('regions R8: what a region sends of a cell of which the regions take turns', () => {
  const SECOND = 1_000_000
  const waiting = [of('eu', 0, 600, 600, 2), of('us', 0, 600, 600, 1)]

  it('regions R8: regions take turns if they cannot all hold what their largest calls cost', () => {
    expect(takesTurns([of('ap', 500, 9, 600), of('eu', 500, 9, 600)])).toBe(true)
    expect(takesTurns([of('ap', 500, 9, 400), of('eu', 500, 9, 400)])).toBe(false)
    expect(takesTurns([of('ap', 500, 9, 600), of('eu', 500, 0, 600)])).toBe(false)
    expect(takesTurns([of('ap', 500, 9, 500), of('eu', 500, 9, 500)])).toBe(false)
    // With 100 regions, the reserves of those without calls count as at most half of the limit.
    expect(takesTurns([of('ap', 500, 9, 500), ...Array.from({ length: 99 }, (_, index) => of(`r${index}`, 5, 0, 0))])).toBe(false)
    // A region without calls keeps a reserve of units. So no other region can have all units for its largest call.
    expect(takesTurns([of('ap', 500, 9, 1000), of('eu', 500, 0, 0)])).toBe(true)
  })

  it.each([
    ['keeps what it uses for five seconds', of('ap', 1000, 9, 600), waiting, 0, 5 * SECOND - 1, undefined],
    ['then sends all to the one that waits longest', of('ap', 1000, 9, 600), waiting, 0, 5 * SECOND, { to: 'us', units: 1000 }],
    ['keeps it for as long as its largest cost takes to refill', of('ap', 1000, 9, 600), waiting, 9 * SECOND, 9 * SECOND - 1, undefined],
    ['sends it at once if it has no calls', of('ap', 1000, 0, 0), waiting, 9 * SECOND, 0, { to: 'us', units: 1000 }],
    ['sends nothing if nobody waits', of('ap', 1000, 0, 0), [of('eu', 0, 0, 600)], 0, 9 * SECOND, undefined],
    ['sends a part to the region that has more', of('eu', 333, 9, 600), [of('ap', 334, 9, 600)], 0, 0, { to: 'ap', units: 333 }],
    ['collects the parts if it has the most', of('ap', 334, 9, 600), [of('eu', 333, 9, 600)], 0, 0, undefined],
    ['collects them if its name is the first', of('ap', 500, 9, 600), [of('eu', 500, 9, 600)], 0, 0, undefined],
    [
      'sends a part that it does not use',
      of('us', 333, 0, 0),
      [of('ap', 334, 0, 600), waiting[0] as WholeDemand],
      0,
      0,
      { to: 'eu', units: 333 },
    ],
    ['sends nothing if it has nothing', of('ap', 0, 0, 0), waiting, 0, 0, undefined],
  ])('regions R8: a region %s', (_name, own, peers, refill, now, gift) => {
    expect(wholeGiftOf(own, peers, refill, now)).toEqual(gift)
  })
})

describe('regions R8: replicate', () => {
  const shared = [
    [NAMES, { rate: 1, per: 's', burst: 1, cost: 1 }, 120, 0.9],
    [['eu', 'us'], { rate: 100, per: 'm', burst: 100, cost: 60 }, 600, 0.8],
    [NAMES, { rate: 1, per: 's', burst: 2, cost: 1 }, 120, 0.9],
    [['eu', 'us'], { rate: 100, per: 'm', burst: 100, cost: 100 }, 600, 0.8],
  ] as const
  it.each(shared.slice(0, draws(4, 1)))('regions R8: hole 13: %j share %j: they take turns', async (names, limit, seconds, least) => {
    const { granted, use, over } = await turns(names, limit, { seconds, pauseMs: 100 })
    expect(over).toBe(false)
    expect(use).toBeGreaterThan(least)
    expect(Math.min(...granted)).toBeGreaterThan(0.6 * Math.max(...granted))
  })

  it('regions R8: a cell goes where it is called, though it is called seldom, and stays there until it is called elsewhere', async () => {
    const network = carriedRegions(NAMES, { rate: 1, per: 'm', burst: 1, tickMs: 50 })
    while (!network.isOpen()) await network.pass(100)
    await network.pass(61_000)
    const units = network.units()
    expect(units.filter((held) => held > 0)).toEqual([1000])
    const home = NAMES[units.indexOf(1000)] as string
    const [away] = NAMES.filter((name) => name !== home) as [string]
    expect(network.call(away)).toBe(0)
    await network.pass(4_000)
    expect(network.at(away).store.unitsOf?.(network.keyOf())).toBe(1000)
    expect([network.call(away), network.call(home)]).toEqual([1, 0])
    // It was called at home since.
    await network.pass(70_000)
    expect(network.units()).toEqual(units)
    expect([network.call(home), network.call(away)]).toEqual([1, 0])
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })

  it('regions R8: over a store, a cost up to the burst is denied where the cell is not, and one above it is impossible', () => {
    const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'escrow' })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), store })
    const decisions = [1, 1.5].map((cost) => limiter.checkSync('k', { cost }))
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['denied', 'impossible'])
    expect(decisions[0]).not.toHaveProperty('retryAfterMs')
  })
})
