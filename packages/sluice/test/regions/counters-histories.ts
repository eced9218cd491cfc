import * as programs from './counters-programs.ts'
import { manyCounters } from './counters-many.ts'

/** Runs random histories of regions with counters in plain Node: `npm run histories -- --mode counters COUNT SEED`. */
const [count = 20_000, seed = Date.now() % 1_000_000_000] = process.argv.slice(2).map(Number)
const EVERY = 20_000

for (const { coverage, first } of manyCounters(programs, count, seed)) {
  if (first === undefined && coverage.histories % EVERY !== 0 && coverage.histories !== count) continue
  console.log(`seed ${seed}, ${JSON.stringify(coverage)}`)
  if (first === undefined) continue
  console.log(first)
  process.exit(1)
}
