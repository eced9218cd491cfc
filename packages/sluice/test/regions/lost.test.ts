import { describe, expect, it } from 'vitest'
import * as programs from '../../src/regions/rights/programs.ts'
import { draws } from '../draws.ts'
import { emptyCoverage, coverageOf, problemOf, report } from './audited.ts'
import { run } from './history.ts'
import { lostHistoryOf } from './lost-histories.ts'
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
    const coverage = emptyCoverage()
    for (let index = 0; index < COUNT; index += 1) {
      const history = lostHistoryOf(SEED + index)
      const outcome = run(programs, history)
      const problem = problemOf(outcome)
      if (problem !== undefined) throw new Error(report(programs, history, problem))
      coverageOf(coverage, outcome)
    }
    const { deaths, adopted, losses, transfers, eras } = coverage
    expect(Math.min(deaths, adopted, losses, transfers, eras)).toBeGreaterThan(0)
  })
})
