import * as programs from '../../src/regions/rights/programs.ts'
import { historyOf } from './history.ts'
import { lostHistoryOf } from './lost-histories.ts'
import { many } from './many.ts'

/**
 * Random histories of regions, in plain Node: `npm run histories -- COUNT SEED`. Runs COUNT with all kinds of trouble, and COUNT in which
 * regions die while eras end. Prints a line of what occurred so far after each 20,000, and exits with 1 if one failed.
 */
const [count = 20_000, seed = Date.now() % 1_000_000_000] = process.argv.slice(2).map(Number)
const EVERY = 20_000

for (const drawn of [historyOf, lostHistoryOf])
  for (const { coverage, failed, first } of many(programs, count, seed, drawn)) {
    if (coverage.histories % EVERY !== 0 && coverage.histories !== count) continue
    console.log(`${drawn.name}, seed ${seed}, ${JSON.stringify(coverage)}, failed ${JSON.stringify(failed)}`)
    if (first === undefined) continue
    console.log(first)
    process.exit(1)
  }
