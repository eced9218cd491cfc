/** What the histories of counters run, and what a wrong variant replaces texts of. */
export { createCounters } from '../../src/regions/counters/counters.ts'
export { partSince } from '../../src/regions/counters/debt.ts'
export { countingStore } from '../../src/regions/counters/store.ts'
export { regionalLimits } from '../../src/regions/regional-limits.ts'
