import { describe, expect, it } from 'vitest'
import * as programs from '../../src/regions/rights/programs.ts'
import { problemOf } from './audited.ts'
import { type History, historyOf, run } from './history.ts'
import { lostHistoryOf } from './lost-histories.ts'
import { many, type Many } from './many.ts'
import type { Programs } from './site.ts'
import { variantOf } from './variants.ts'
import { WRONG } from './wrong.ts'

/**
 * Runs many histories: `HISTORIES=1000000 SEED=7 npx vitest run --config vitest.faults.config.ts packages/sluice/test/regions`. Prints one
 * line of what occurred. A history that fails is printed as short as possible, with its seed. `WRONG_HISTORIES=2000 SEED=1` also prints how
 * many histories notice each wrong program, for the table in docs/decisions/0032. `wrong.long.test.ts` tests that each is noticed.
 */
const COUNT = Number(process.env['HISTORIES'] ?? 5000)
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000)
const WRONG_COUNT = Number(process.env['WRONG_HISTORIES'] ?? 0)
const HOURS = 6 * 3_600_000

describe('regions: many histories', () => {
  it.each([{ drawn: historyOf }, { drawn: lostHistoryOf }])(
    `regions R2 to R6: ${COUNT} histories from seed ${SEED}, $drawn.name`,
    ({ drawn }) => {
      let all: Many | undefined
      for (all of many(programs, COUNT, SEED, drawn));
      console.log(`seed ${SEED}, ${JSON.stringify(all?.coverage)}, failed ${JSON.stringify(all?.failed)}`)
      expect(all?.first).toBe(undefined)
    },
    HOURS,
  )

  it.each(WRONG_COUNT > 0 ? [{ drawn: historyOf }, { drawn: lostHistoryOf }] : [])(
    `regions: wrong programs in ${WRONG_COUNT} histories from seed ${SEED}, $drawn.name`,
    async ({ drawn }) => {
      for (const [name, replacements] of Object.entries(WRONG))
        console.log(`${name}: ${JSON.stringify(counted(await variantOf(replacements), drawn))}`)
    },
    HOURS,
  )
})

/**
 * Counts for each audit in how many histories a wrong program fails it first. Also returns the first such history, and the most tokens
 * above the limit, in bursts.
 */
function counted(wrong: Programs, drawn: (seed: number) => History): object {
  const found = { a: 0, b: 0, c: 0, d: 0, first: -1, over: 0 }
  for (let index = 0; index < WRONG_COUNT; index += 1) {
    const outcome = run(wrong, drawn(SEED + index))
    const problem = problemOf(outcome)
    if (problem === undefined) continue
    found[problem[0] as 'a'] += 1
    if (found.first < 0) found.first = index
    found.over = Math.max(found.over, Math.round(10 * Math.max(outcome.a, outcome.b)) / 10)
  }
  return found
}
