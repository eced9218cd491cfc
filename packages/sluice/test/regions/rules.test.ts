import { describe, expect, it } from 'vitest'
import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import type { BucketState } from '../../src/algorithms/token-bucket.ts'
import { limitNamed, type RegionalLimit, regionalLimit, UNITS } from '../../src/regions/rights/limit.ts'
import * as programs from '../../src/regions/rights/programs.ts'
import { equalRoster } from '../../src/regions/rights/roster.ts'
import { type Cell, EMPTY_CELL, type RegionStore, type Row } from '../../src/regions/rights/state.ts'
import { EU, given, left, limitOf, NOW, SECOND, US } from './two-stores.ts'

describe('regions R0: rights', () => {
  it('shares of usual limits are exact, fill in the time of the whole, and are together at most the whole', () => {
    for (const text of [
      '1/day 1',
      '1/30d 1',
      '1000000/s 1000000',
      '1000000/day 1000',
      '100/min 100',
      '0.5/s 3',
      '10/30s 10',
      '5000/h 77',
    ]) {
      const [rate = '', burst] = text.split(' ')
      const limit = limitOf(Number(burst), rate)
      const { whole } = limit
      expect([text, limit.share(UNITS).n / limit.share(UNITS).m, limit.share(UNITS).burst]).toEqual([text, whole.n / whole.m, whole.burst])
      for (const units of [1, 333, 999]) {
        const [one, other] = [limit.share(units), limit.share(UNITS - units)]
        expect(one.burst + other.burst).toBeLessThanOrEqual(whole.burst)
        expect(BigInt(one.n) * BigInt(whole.m) * BigInt(UNITS)).toBe(BigInt(whole.n) * BigInt(one.m) * BigInt(units))
        expect(one.full.micros).toBeLessThanOrEqual(whole.full.micros + 1)
      }
    }
  })

  it('a limit with a share that is not exact is refused, and the message names the share', () => {
    expect(() => regionalLimit(planOf(1, 1, 999))).toThrow("a region's share of 1 in 1000: its burst is below a millionth of a token")
    expect(() => regionalLimit(planOf(Number.MAX_SAFE_INTEGER, 1, MICRO))).toThrow(/a region's share of \d+ in 1000: /)
  })

  it('limits that messages name are made once, as many as a policy has overrides; of more, the oldest are made again', () => {
    const count = 12_000
    // Bursts that cannot be divided, which is known at once. They fill the cache without taking time.
    const small = (index: number): string => `1/${index + 1}/1`
    const named = limitNamed('5/3/100000000')
    for (let index = 0; index < count - 1; index += 1) limitNamed(small(index))
    expect(limitNamed('5/3/100000000')).toBe(named)
    limitNamed(small(count))
    const again = limitNamed('5/3/100000000')
    expect([again === named, again?.whole]).toEqual([false, named?.whole])
    limitNamed(small(count + 1))
    expect(limitNamed('5/3/100000000')).toBe(again)
  })

  it('limits that messages name have the same shares', () => {
    const [named, limit] = [limitNamed('5/3/100000000'), regionalLimit(planOf(5, 3, 100 * MICRO))]
    for (let turn = 0; turn < 2; turn += 1)
      for (let units = 1; units <= UNITS; units += 1) expect(named?.share(units)).toEqual(limit.share(units))
  })
})

describe('regions R1: birth', () => {
  it('equal weights are all units, the remainder goes to the first region', () => {
    expect([...equalRoster(['a', 'b', 'c']).weights.values()]).toEqual([334, 333, 333])
  })

  it('a region decides by its share, without a row', () => {
    const limit = limitOf(30)
    expect(left(EU, EMPTY_CELL, limit)).toEqual([15 * MICRO, 500])
    expect(programs.decide(EU, EMPTY_CELL, limit, NOW, 15 * MICRO)).toMatchObject({ outcome: 'allowed', cell: { rows: undefined } })
  })

  it('R8: a cost above the share is denied without a time to wait, one above the whole burst is impossible', () => {
    const limit = limitOf(30)
    const decided = [15 * MICRO + 1, 30 * MICRO + 1].map((cost) => programs.decide(EU, EMPTY_CELL, limit, NOW, cost))
    expect(decided.map(({ outcome, retryAfter }) => [outcome, retryAfter])).toEqual([
      ['denied', undefined],
      ['impossible', undefined],
    ])
  })

  it('a wait is that of the share', () => {
    const limit = limitOf(30)
    const { cell } = programs.decide(EU, EMPTY_CELL, limit, NOW, 15 * MICRO)
    expect(programs.decide(EU, cell, limit, NOW, MICRO)).toMatchObject({ outcome: 'denied', retryAfter: 2 * SECOND })
  })
})

describe('regions R3: give', () => {
  it('takes units and the tokens of those units, and writes the state out', () => {
    const limit = limitOf(30)
    const cell = given(limit, 200)
    expect(left(EU, cell, limit)).toEqual([9 * MICRO, 300])
    expect(programs.rowTo(EU, cell, 'us')).toMatchObject({ units: 200, tokens: 6 * MICRO, era: 0, run: 'eu.1', toRun: 'us.1', base: 0 })
  })

  it('settles at the rate of before, and accrues at the rate of what is left', () => {
    const limit = limitOf(30)
    const { cell } = programs.decide(EU, EMPTY_CELL, limit, NOW, 15 * MICRO)
    const after = given(limit, 250, cell, undefined, NOW + 8 * SECOND)
    // 4 tokens had been refilled, and all were sent: the 250 units that were sent may have up to 7.5 tokens.
    expect(left(EU, after, limit, NOW + 8 * SECOND)).toEqual([0, 250])
    expect(left(EU, after, limit, NOW + 12 * SECOND)).toEqual([MICRO, 250])
  })

  it('gives no debt, and without units nothing accrues', () => {
    const limit = limitOf(30)
    const bucket: BucketState = { zero: NOW + 4 * SECOND, rest: 0, seen: NOW, keepFor: 0, plan: limit.share(500) }
    const cell = given(limit, 500, { bucket, rows: undefined })
    expect(programs.rowTo(EU, cell, 'us')).toMatchObject({ units: 500, tokens: 0 })
    expect(left(EU, cell, limit, NOW + 900 * SECOND)).toEqual([0, 0])
    expect(programs.decide(EU, cell, limit, NOW, 1)).toEqual({ outcome: 'denied', cell })
    // When units return, the bucket is still two tokens below empty.
    const back: Row = { ...(programs.rowTo(US, given2(limit), 'eu') as Row) }
    const again = programs.merge(EU, cell, limit, back, NOW + 900 * SECOND) as Cell
    expect(left(EU, again, limit, NOW + 902 * SECOND)).toEqual([0, 500])
    expect(left(EU, again, limit, NOW + 906 * SECOND)).toEqual([MICRO, 500])
  })

  it.each<[string, Partial<RegionStore>, string, number]>([
    ['in a closed era', { phase: 'closed' }, 'us', 1],
    ['to itself', {}, 'eu', 1],
    ['to a region that is not in the roster', {}, 'asia', 1],
    ['more than it has', {}, 'us', 501],
    ['no units', {}, 'us', 0],
  ])('gives nothing %s', (_name, store, to, units) => {
    expect(programs.give({ ...EU, ...store }, EMPTY_CELL, limitOf(30), to, units, NOW)).toBeUndefined()
  })
})

const given2 = (limit: RegionalLimit): Cell => programs.give(US, EMPTY_CELL, limit, 'eu', 500, NOW, 0) as Cell

describe('regions R4: merge', () => {
  it('adds units and tokens once, however often and in which order rows arrive', () => {
    const limit = limitOf(30)
    const first = given(limit, 100)
    const second = given(limit, 100, first)
    const rows = [first, second].map((cell) => programs.rowTo(EU, cell, 'us') as Row)
    const { cell: empty } = programs.decide(US, EMPTY_CELL, limit, NOW, 15 * MICRO)
    for (const order of [
      [0, 1],
      [1, 0],
      [1, 1],
      [0, 0, 1, 0, 1],
    ]) {
      let cell = empty
      for (const index of order) cell = programs.merge(US, cell, limit, rows[index] as Row, NOW) ?? cell
      expect(left(US, cell, limit)).toEqual([6 * MICRO, 700])
    }
  })

  it.each<[string, Partial<RegionStore>, Partial<Row>]>([
    ['of another run of the sender', {}, { run: 'eu.0' }],
    ['for another run of the receiver', {}, { toRun: 'us.0' }],
    ['for nobody', {}, { toRun: undefined }],
    ['for another region', {}, { to: 'asia' }],
    ['of another era', {}, { era: 1 }],
    ['in a closed era', { phase: 'closed' }, {}],
    ['while learning', { phase: 'learning' }, {}],
  ])('a row %s changes nothing', (_name, store, row) => {
    const limit = limitOf(30)
    const sent = programs.rowTo(EU, given(limit, 100), 'us') as Row
    expect(programs.merge(US, EMPTY_CELL, limit, sent, NOW)).toBeDefined()
    expect(programs.merge({ ...US, ...store }, EMPTY_CELL, limit, { ...sent, ...row }, NOW)).toBeUndefined()
  })

  it('tokens of another limit are lost, units are not', () => {
    const [limit, lower] = [limitOf(30), limitOf(20)]
    const { cell } = programs.decide(US, EMPTY_CELL, lower, NOW, 10 * MICRO)
    const merged = programs.merge(US, cell, lower, programs.rowTo(EU, given(limit, 100), 'us') as Row, NOW) as Cell
    expect(left(US, merged, lower)).toEqual([0, 600])
  })
})

describe('regions R8: cells that are not divided', () => {
  it('begin whole in one region, and are sent whole', () => {
    const limit = programs.keyedLimit(limitOf(1), 7)
    expect([left(EU, EMPTY_CELL, limit), left(US, EMPTY_CELL, limit)]).toEqual([
      [MICRO, 1000],
      [0, 0],
    ])
    expect(programs.give(EU, EMPTY_CELL, limit, 'us', 999, NOW)).toBeUndefined()
    const cell = given(limit, 1000)
    const merged = programs.merge(US, EMPTY_CELL, limit, programs.rowTo(EU, cell, 'us') as Row, NOW) as Cell
    expect([left(EU, cell, limit), left(US, merged, limit)]).toEqual([
      [0, 0],
      [MICRO, 1000],
    ])
  })
})

it('regions: a cell with rows is kept, one without until its state has expired', () => {
  const limit = limitOf(30)
  const { cell } = programs.decide(EU, EMPTY_CELL, limit, NOW, MICRO)
  expect([EMPTY_CELL, cell, given(limit, 1)].map((one) => programs.keepUntil(one))).toEqual([-Infinity, NOW + 2 * SECOND, Infinity])
})

describe('regions R5: a region that is gone for good', () => {
  const ALL = new Map([
    ['eu', 1000],
    ['us', 0],
  ])

  it('ends the era with its run among those that nobody waits for, and a run that was named before stays named', () => {
    const once = programs.adopt(EU, ALL, [['us', 'us.1']], NOW)
    expect(once).toMatchObject({ phase: 'closed', next: { version: 2, weights: ALL, gone: [['us', 'us.1']] } })
    const twice = programs.adopt(once as RegionStore, ALL, [['us', 'us.2']], NOW)
    expect(twice?.next?.gone).toEqual([
      ['us', 'us.1'],
      ['us', 'us.2'],
    ])
  })

  it('is not ordered of a region that is learning, or that is not in the roster: it may not know the latest run', () => {
    expect(programs.adopt({ ...EU, phase: 'learning' }, ALL, [['us', 'us.1']], NOW)).toBeUndefined()
    expect(programs.adopt({ ...EU, region: 'ap' }, ALL, [['us', 'us.1']], NOW)).toBeUndefined()
  })
})
