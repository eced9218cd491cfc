import { describe, expect, it } from 'vitest'
import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import * as programs from '../../src/regions/rights/programs.ts'
import { type Demand, giftsOf, recipientOf } from '../../src/regions/replicator/demand.ts'
import { createNetwork } from './network.ts'

const of = (region: string, units: number, need: number): Demand => ({ region, units, need })

describe('regions R7: what a region sends', () => {
  it.each([
    ['nothing if nobody lacks anything', of('a', 500, 0), [of('b', 500, 400)], []],
    ['everything but the reserve, if it has no calls', of('a', 500, 0), [of('b', 500, 1000)], [{ to: 'b', units: 490 }]],
    ['nothing that it needs', of('a', 500, 600), [of('b', 500, 600)], []],
    ['what is above its fair share, if all need more than there is', of('a', 800, 2000), [of('b', 200, 2000)], [{ to: 'b', units: 300 }]],
    ['no more than the peer lacks', of('a', 900, 100), [of('b', 100, 200)], [{ to: 'b', units: 120 }]],
    ['nothing for a lack of less than a tenth', of('a', 600, 100), [of('b', 400, 390)], []],
    ['a little to a region that denies calls', of('a', 600, 100), [of('b', 400, 401)], [{ to: 'b', units: 41 }]],
    ['what is left over, by need', of('a', 600, 200), [of('b', 400, 760)], [{ to: 'b', units: 391 }]],
    [
      'to each peer in proportion',
      of('a', 610, 0),
      [of('b', 0, 600), of('c', 390, 600), of('d', 0, 0)],
      [
        { to: 'b', units: 444 },
        { to: 'c', units: 155 },
      ],
    ],
  ])('%s', (_name, own, peers, gifts) => {
    expect(giftsOf(own, peers)).toEqual(gifts)
  })
})

const TICK = 10_000
/** Ticks of a second: one pull of each peer. */
const PULL = 100
const DELAY = 10

/**
 * Simulates three regions that share 1000 tokens per second. Each reads every other one once a second, and an answer takes 100 ms. Returns
 * the part of the rate that was used in each half second after all demand moved from one region to another.
 */
function afterMove(demand: number): number[] {
  const network = createNetwork({ programs, weights: [334, 333, 333], limits: [planOf(1000, 1, 1000 * MICRO)] })
  const needs = [0, 0, 0]
  const used: number[] = []
  const arrivals: { tick: number; from: number; to: number; units: number }[] = []
  const tries = [0, 0, 0]
  for (let tick = 0; tick < 3000; tick += 1) {
    network.wait(TICK)
    const busy = tick < 1000 ? 0 : 1
    for (let call = 0; call < (demand * 1000 * TICK) / 1_000_000; call += 1) {
      tries[busy] = (tries[busy] as number) + 1
      const passed = network.call(busy, MICRO) / MICRO
      if (tick >= 1000) used[Math.floor((tick - 1000) / 50)] = (used[Math.floor((tick - 1000) / 50)] ?? 0) + passed / 500
    }
    if (tick % PULL === 0)
      for (let region = 0; region < 3; region += 1) needs[region] = (tries.splice(region, 1, 0)[0] as number) / ((PULL * TICK) / 1_000_000)
    if (tick % PULL === DELAY) {
      const demands = needs.map((need, region) => of(`r${region}`, network.unitsOf(region), need))
      for (const [region, own] of demands.entries()) {
        for (const gift of giftsOf(
          own,
          demands.filter((peer) => peer !== own),
        )) {
          const to = Number(gift.to.slice(1))
          const most = Math.floor((network.spendable(region) * gift.units) / own.units)
          if (network.give(region, to, gift.units, most)) arrivals.push({ tick: tick + DELAY, from: region, to, units: gift.units })
        }
      }
    }
    for (const { from, to } of arrivals.filter((arrival) => arrival.tick === tick)) {
      network.pull(to, from)
      network.deliverAll()
      network.check()
    }
  }
  expect(network.worst.a).toBeLessThanOrEqual(0)
  expect(network.worst.b).toBeLessThanOrEqual(0)
  return used
}

describe('regions', () => {
  it('regions R7: hole 14: after a full move of demand, 95 % of the rate is used within 5 seconds, and 97 % from then on', () => {
    const used = afterMove(1.1)
    expect(used.findIndex((part) => part >= 0.95)).toBeLessThan(10)
    expect(Math.min(...used.slice(10))).toBeGreaterThanOrEqual(0.97)
  })
})

/** Three busy regions share one token per second with a burst of one, for two minutes. Returns what each region admitted. */
function oneToken(undivided: boolean): number[] {
  const network = createNetwork({ programs, weights: [334, 333, 333], limits: [planOf(1, 1, MICRO)], undivided })
  const admitted = [0, 0, 0]
  const waiting = [0, 0, 0]
  let since = 0
  let arrival: { tick: number; from: number; to: number } | undefined
  for (let tick = 0; tick < 12_000; tick += 1) {
    network.wait(TICK)
    if (tick % 10 === 0)
      for (let region = 0; region < 3; region += 1) admitted[region] = (admitted[region] as number) + network.call(region, MICRO) / MICRO
    const holder = [0, 1, 2].find((region) => network.unitsOf(region) === 1000)
    if (tick % PULL === 0 && holder !== undefined) {
      const peers = [0, 1, 2]
        .filter((region) => region !== holder)
        .map((region) => ({ region: `r${region}`, since: waiting[region] as number }))
      const next = recipientOf({ since, busy: true, refill: 1_000_000 }, peers, tick * TICK)
      if (next !== undefined && network.give(holder, Number(next.slice(1)), 1000)) {
        waiting[holder] = tick * TICK
        arrival = { tick: tick + DELAY, from: holder, to: Number(next.slice(1)) }
      }
    }
    if (arrival?.tick === tick) {
      network.pull(arrival.to, arrival.from)
      network.deliverAll()
      since = tick * TICK
      network.check()
    }
  }
  expect(network.worst.a).toBeLessThanOrEqual(0)
  expect(network.worst.b).toBeLessThanOrEqual(0)
  return admitted
}

describe('regions R8: cells that are not divided', () => {
  it('regions R8: hole 13: a cost above every share is admitted in turns', () => {
    expect(oneToken(false)).toEqual([0, 0, 0])
    const admitted = oneToken(true)
    expect(Math.min(...admitted)).toBeGreaterThan(24)
    expect(admitted.reduce((sum, one) => sum + one)).toBeGreaterThan(0.8 * 120)
  })

  it.each([
    ['keeps a cell that it uses for five seconds', { since: 0, busy: true, refill: 0 }, 4_999_999, undefined],
    ['then sends it to the one that waits longest', { since: 0, busy: true, refill: 0 }, 5_000_000, 'c'],
    ['keeps it until one cost is refilled', { since: 0, busy: true, refill: 9_000_000 }, 8_999_999, undefined],
    ['sends it at once if it has no calls', { since: 0, busy: false, refill: 0 }, 1, 'c'],
  ])('a region %s', (_name, held, now, to) => {
    const waiting = [
      { region: 'b', since: 2 },
      { region: 'c', since: 1 },
    ]
    expect([recipientOf(held, waiting, now), recipientOf({ ...held, busy: false }, [], now)]).toEqual([to, undefined])
  })
})
