import { describe, expect, it } from 'vitest'
import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { draws } from '../draws.ts'
import { manyCounters } from './counters-many.ts'
import { type CountersPrograms, createCountersNetwork } from './counters-network.ts'
import { WRONG_COUNTERS } from './counters-wrong.ts'
import { countersVariantOf } from './variants.ts'
import * as programs from './counters-programs.ts'

const COUNT = draws(3_000, 100)
const SEED = 20_261_124

describe('counters of regions: random histories', () => {
  it(`${COUNT} histories from seed ${SEED}: never over the bound, and all agree in the end`, () => {
    let last: { coverage: object; first: string | undefined } | undefined
    for (last of manyCounters(programs, COUNT, SEED)) if (last.first !== undefined) throw new Error(last.first)
    // Each kind of trouble occurred. The bound was reached exactly, so the audit would have noticed one token more.
    expect(Object.entries(last?.coverage ?? {}).filter(([, count]) => count === 0)).toEqual([])
  })
  it('reaches the bound with a delay: calls of a whole fill time that nobody else has read', () => {
    const limit = planOf(1, 1, 10 * MICRO)
    const network = createCountersNetwork({ ...TWO, programs, limits: [limit], cells: 1, cutoffMs: undefined })
    network.call(0, undefined)
    network.call(1, undefined)
    // The second region goes on, and grants everything that its bucket is refilled with.
    for (let step = 0; step < 10; step += 1) {
      network.wait(limit.emptyBefore.micros / 10)
      network.call(1, undefined)
    }
    network.call(0, undefined)
    expect(network.worst.a).toBe(0)
  })
})

describe('counters of regions: a rollout', () => {
  it('a region that is charged with what a peer spent, under the smaller limit, is full by the larger one no sooner (history 4408691)', () => {
    const [small, large] = [planOf(1, 1, 40 * MICRO), planOf(1, 1, 60 * MICRO)]
    const network = createCountersNetwork({ ...TWO, programs, limits: [small, large], cells: 1, cutoffMs: undefined })
    network.call(0, undefined, 0, 1)
    readFirst(network)
    network.wait(17_150_000)
    network.call(0, undefined, 0, 0)
    network.call(1, undefined, 0, 1)
    network.pull(0, 1)
    network.deliverAll()
    network.wait(60_894_000)
    network.check()
    // The first region was 17.15 tokens below empty. 60.894 tokens were refilled since, so fewer than 60.894 are left.
    expect(network.spendable(0, 0, 1)).toBeLessThan(60_894_000)
    expect(network.worst.b).toBeLessThanOrEqual(0)
  })
})

describe('counters of regions: wrong programs', () => {
  it.each([
    ['a lost store counts on under its old run', lostAndBusy],
    ['a debt is cut at one burst below empty', threeAtOnce],
    ['the first page counts for at most a burst', lateFirstPage],
    ['the first page counts by the limit of the latest call', changedBeforeFirstPage],
  ] as const)('a history by hand notices that %s', async (name, history) => {
    expect(history(programs)).toBeLessThanOrEqual(0)
    expect(history(await countersVariantOf(WRONG_COUNTERS[name]))).toBeGreaterThan(0)
  })
})

const TWO = { weights: [500, 500], drifts: [0, 0], offsets: [0, 0] }
const THREE = { weights: [334, 333, 333], drifts: [0, 0, 0], offsets: [0, 0, 0] }

const TEN = planOf(1, 1, 10 * MICRO)

/**
 * The store of a region is lost. Then the region spends all that it can for long, and the other one reads it. Returns the most tokens above
 * the bound, in bursts.
 */
function lostAndBusy(of: CountersPrograms): number {
  const network = createCountersNetwork({ ...TWO, programs: of, limits: [TEN], cells: 1, cutoffMs: undefined })
  for (let step = 0; step < 100; step += 1) {
    network.wait(MICRO)
    network.call(0, undefined)
    network.round()
  }
  network.lose(0, 0)
  for (let step = 0; step < 80; step += 1) {
    network.wait(MICRO)
    network.call(0, undefined)
    network.call(1, undefined)
    readFirst(network)
  }
  return Math.max(network.worst.a, network.worst.b)
}

/** The second region reads the first one, which reads nothing. */
function readFirst(network: ReturnType<typeof createCountersNetwork>): void {
  network.pull(1, 0)
  network.deliverAll()
}

/** Each of three regions spends a burst at the same instant. Then each is charged with what the two others spent. */
function threeAtOnce(of: CountersPrograms): number {
  const network = createCountersNetwork({ ...THREE, programs: of, limits: [TEN], cells: 1, cutoffMs: undefined })
  for (let region = 0; region < 3; region += 1) network.call(region, undefined)
  network.round()
  network.wait(2 * TEN.emptyBefore.micros)
  network.check()
  // All regions spend what they can again. If a part of a debt was forgotten, they now exceed the bound by that part.
  for (let region = 0; region < 3; region += 1) network.call(region, undefined)
  return Math.max(network.worst.a, network.worst.b)
}

/** A region spends a burst and more before the other one reads its first page. */
function lateFirstPage(of: CountersPrograms): number {
  const network = createCountersNetwork({ ...TWO, programs: of, limits: [TEN], cells: 1, cutoffMs: undefined })
  network.call(0, undefined)
  network.call(1, undefined)
  for (let step = 0; step < 30; step += 1) {
    network.wait(MICRO)
    network.call(0, undefined)
  }
  readFirst(network)
  network.wait(MICRO)
  network.call(0, undefined)
  network.call(1, undefined)
  network.check()
  return Math.max(network.worst.a, network.worst.b)
}

/** Both regions spend all that they can for long, then something by a slower limit. Only then they read the first page of each other. */
function changedBeforeFirstPage(of: CountersPrograms): number {
  const limits = [planOf(10, 1, 10 * MICRO), planOf(1, 10, MICRO)]
  const network = createCountersNetwork({ ...TWO, programs: of, limits, cells: 1, cutoffMs: undefined })
  const both = (policy: number, cost?: number): void => {
    network.wait(MICRO)
    for (const region of [0, 1]) network.call(region, cost, 0, policy)
  }
  for (let step = 0; step < 20; step += 1) both(0)
  both(1)
  network.round()
  // A call that is denied. It converts the states to the faster limit.
  both(0, 10 * MICRO)
  for (let step = 0; step < 5; step += 1) {
    both(0)
    network.round()
  }
  network.check()
  return Math.max(network.worst.a, network.worst.b)
}
