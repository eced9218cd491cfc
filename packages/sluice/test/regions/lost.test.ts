import { describe, expect, it } from 'vitest'
import * as programs from '../../src/regions/rights/programs.ts'
import { draws } from '../draws.ts'
import { lostHistoryOf } from './lost-histories.ts'
import { many, type Many } from './many.ts'
import { LOST_HISTORIES } from './written-lost.ts'

const COUNT = draws(5000, 150)
const SEED = 20_261_128

describe('regions: runs that are gone while an era ends', () => {
  it.each(Object.keys(LOST_HISTORIES) as (keyof typeof LOST_HISTORIES)[])('regions R5: never over: %s', (name) => {
    const { over, mostUnits, agreed } = LOST_HISTORIES[name](programs)
    expect({ over, agreed }).toEqual({ over: false, agreed: true })
    expect(mostUnits).toBeLessThanOrEqual(1000)
  })

  it(`regions R5: ${COUNT} histories from seed ${SEED}: never over, and all agree in the end`, () => {
    let all: Many | undefined
    for (all of many(programs, COUNT, SEED, lostHistoryOf));
    expect(all?.first).toBe(undefined)
    const { deaths, adopted, losses, transfers, eras } = (all as Many).coverage
    expect(Math.min(deaths, adopted, losses, transfers, eras)).toBeGreaterThan(0)
  })
})
