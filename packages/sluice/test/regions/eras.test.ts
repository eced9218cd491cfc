import { describe, expect, it } from 'vitest'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { UNITS } from '../../src/regions/rights/limit.ts'
import * as programs from '../../src/regions/rights/programs.ts'
import { isNewer, type Roster } from '../../src/regions/rights/roster.ts'
import { EMPTY_CELL, type RegionStore, type Status } from '../../src/regions/rights/state.ts'
import { EU, given, HALVES, left, limitOf, NOW, SECOND, US } from './two-stores.ts'

const statusOf = (store: RegionStore, to: string): Status => programs.statusFor(store, to)
const next: Roster = {
  version: 2,
  weights: new Map([
    ['eu', 900],
    ['us', 100],
  ]),
}

describe('regions R5: eras', () => {
  it('a closed region has at most its weight of both eras, an open one its weight', () => {
    const limit = limitOf(30)
    const closed = { eu: programs.close(EU, next, NOW), us: programs.close(US, next, NOW) }
    expect(left(closed.eu, EMPTY_CELL, limit)).toEqual([15 * MICRO, 500])
    expect(left(closed.us, EMPTY_CELL, limit)).toEqual([3 * MICRO, 100])
    const open = programs.open(closed.eu, new Map([['us', statusOf(closed.us, 'eu')]]), NOW)
    expect(open).toMatchObject({ phase: 'open', era: 1, roster: next })
    // A raised share is capacity, not tokens.
    expect(left(open, EMPTY_CELL, limit)).toEqual([15 * MICRO, 900])
    expect(left(open, EMPTY_CELL, limit, NOW + 15 * SECOND)).toEqual([21 * MICRO, 900])
    expect(left(open, EMPTY_CELL, limit, NOW + 30 * SECOND)).toEqual([27 * MICRO, 900])
  })

  it('opens only if every peer is closed for the same roster, or ahead', () => {
    const eu = programs.close(EU, next, NOW)
    const other: Roster = {
      version: 2,
      weights: new Map([
        ['eu', 100],
        ['us', 900],
      ]),
    }
    const us = programs.close(US, next, NOW)
    const phaseAfter = (status: Status | undefined): string =>
      programs.open(eu, new Map(status === undefined ? [] : [['us', status]]), NOW).phase
    expect(phaseAfter(undefined)).toBe('closed')
    expect(phaseAfter(statusOf(US, 'eu'))).toBe('closed')
    expect(phaseAfter(statusOf(programs.close(US, other, NOW), 'eu'))).toBe('closed')
    expect(phaseAfter({ ...statusOf(us, 'eu'), run: 'us.0' })).toBe('closed')
    expect(phaseAfter({ ...statusOf(us, 'eu'), toRun: 'eu.0' })).toBe('closed')
    expect(phaseAfter(statusOf(us, 'eu'))).toBe('open')
    expect(phaseAfter(statusOf({ ...us, phase: 'open', era: 1, roster: next, next: undefined }, 'eu'))).toBe('open')
  })

  it('follows a peer that is closed; takes a newer roster while closed, and cuts again', () => {
    const limit = limitOf(30)
    const us = programs.meet(US, statusOf(programs.close(EU, next, NOW), 'us'), NOW)
    expect(us).toMatchObject({ phase: 'closed', era: 0, next })
    const least: Roster = {
      version: 3,
      weights: new Map([
        ['eu', 960],
        ['us', 40],
      ]),
    }
    const again = programs.meet(us, statusOf(programs.close(EU, least, NOW), 'us'), NOW)
    expect([again.next, left(again, EMPTY_CELL, limit)]).toEqual([least, [1.2 * MICRO, 40]])
    expect(programs.meet(again, statusOf(programs.close(EU, next, NOW), 'us'), NOW)).toBe(again)
  })

  it('holds nothing if a peer is two eras ahead, until the next era', () => {
    const ahead = { ...EU, era: 2, roster: next }
    const us = programs.meet(US, statusOf(ahead, 'us'), NOW)
    expect(us).toMatchObject({ phase: 'closed', era: 2 })
    expect(left(us, EMPTY_CELL, limitOf(30))).toEqual([0, 0])
  })

  it('rows end with their era', () => {
    const limit = limitOf(30)
    const cell = given(limit, 200)
    const closed = programs.close(EU, HALVES, NOW)
    expect(left(closed, cell, limit)).toEqual([9 * MICRO, 300])
    const open = programs.open(closed, new Map([['us', statusOf(programs.close(US, HALVES, NOW), 'eu')]]), NOW)
    expect(programs.rowTo(open, cell, 'us')).toBeUndefined()
    expect(left(open, cell, limit)).toEqual([9 * MICRO, 500])
    expect(programs.decide(open, cell, limit, NOW, MICRO).cell.rows).toBeUndefined()
  })

  it('rosters have an order in which no two differ', () => {
    const one: Roster = {
      version: 2,
      weights: new Map([
        ['eu', 1],
        ['us', 999],
      ]),
    }
    expect([isNewer(next, HALVES), isNewer(HALVES, next), isNewer(one, one)]).toEqual([true, false, false])
    expect(isNewer(one, next)).not.toBe(isNewer(next, one))
  })
})

describe('regions R6: recovery', () => {
  it('a store of another run holds nothing; when its peers know it, the next era gives its weight back, empty', () => {
    const limit = limitOf(30)
    let eu = programs.inRun(EU, 'eu', 'eu.2', HALVES, NOW)
    expect([programs.inRun(EU, 'eu', 'eu.1', HALVES, NOW), eu.phase, left(eu, EMPTY_CELL, limit)]).toEqual([EU, 'learning', [0, 0]])
    expect(programs.mustGreet(eu, 'us')).toBe(true)
    const greeted = programs.greet(US, programs.hello(eu, programs.invite(US, 'eu')))
    let us = greeted.store
    eu = programs.learn(eu, greeted.answer as NonNullable<typeof greeted.answer>)
    expect([eu.phase, eu.era, us.bound.get('eu'), left(eu, EMPTY_CELL, limit)]).toEqual(['closed', 0, 'eu.2', [0, 0]])
    us = programs.meet(us, statusOf(eu, 'us'), NOW)
    eu = programs.open(eu, new Map([['us', statusOf(us, 'eu')]]), NOW)
    us = programs.open(us, new Map([['eu', statusOf(eu, 'us')]]), NOW)
    expect([eu.era, eu.phase, us.era, us.phase]).toEqual([1, 'open', 1, 'open'])
    expect([left(eu, EMPTY_CELL, limit), left(us, EMPTY_CELL, limit)]).toEqual([
      [0, 500],
      [15 * MICRO, 500],
    ])
    expect(left(eu, EMPTY_CELL, limit, NOW + 10 * SECOND)).toEqual([5 * MICRO, 500])
  })

  it('a hello counts once, and only for the run it names', () => {
    const eu = programs.newRun('eu', 'eu.2', HALVES, NOW)
    const hello = programs.hello(eu, programs.invite(US, 'eu'))
    const { store } = programs.greet(US, hello)
    expect(programs.greet(store, hello)).toEqual({ store, answer: undefined })
    expect(programs.greet({ ...US, run: 'us.2' }, hello).answer).toBeUndefined()
  })

  it('an answer is void if the peer has joined since', () => {
    const eu = programs.newRun('eu', 'eu.2', HALVES, NOW)
    const { answer } = programs.greet(US, programs.hello(eu, programs.invite(US, 'eu')))
    const us = programs.newRun('us', 'us.2', HALVES, NOW)
    const { store } = programs.greet(eu, programs.hello(us, programs.invite(eu, 'us')))
    expect(programs.learn(store, answer as NonNullable<typeof answer>)).toBe(store)
  })

  it('a region without peers needs no answer', () => {
    const roster: Roster = { version: 1, weights: new Map([['eu', UNITS]]) }
    const store = programs.newRun('eu', 'eu.1', roster, NOW)
    expect(programs.open(store, new Map(), NOW)).toMatchObject({ phase: 'open', era: 1 })
  })
})
