import { describe, expect, it } from 'vitest'
import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import * as programs from '../../src/regions/rights/programs.ts'
import { UNITS } from '../../src/regions/rights/limit.ts'
import { draws } from '../draws.ts'
import { many, type Many } from './many.ts'
import { createNetwork } from './network.ts'

const COUNT = draws(5000, 150)
const SEED = 20_261_123

describe('regions: random histories', () => {
  it(`regions R2 to R6: ${COUNT} histories from seed ${SEED}: never over, and all agree in the end`, () => {
    let all: Many | undefined
    for (all of many(programs, COUNT, SEED));
    expect(all?.first).toBe(undefined)
    const { coverage } = all as Many
    // Each kind of trouble occurred. The limit was reached exactly, so the audits would have noticed one token more.
    expect(Object.values(coverage).every((count) => count > 0)).toBe(true)
    expect(coverage.mostUnits).toBe(UNITS)
  })
  it('regions R5, R6: if a store is lost while an era ends, all agree in three rounds', () => {
    const network = createNetwork({ programs, weights: [334, 333, 333], limits: [planOf(1, 1, 30 * MICRO)] })
    network.close(2)
    for (const [region, peer] of [
      [0, 2],
      [1, 0],
    ] as const) {
      network.pull(region, peer)
      network.deliverAll()
    }
    // Region 0 knows that all regions have closed the era, and opens the next one. Region 1 learns this only after the lost store has
    // closed the new era again.
    network.replace(2, false)
    let rounds = 0
    while (!network.agree() && rounds < 9) {
      network.round()
      rounds += 1
    }
    expect(rounds).toBe(3)
  })
})
