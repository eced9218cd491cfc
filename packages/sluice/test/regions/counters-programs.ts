/** The programs that the histories of counters run. A wrong variant has some texts of these programs replaced. */
export { createCounters } from '../../src/regions/counters/counters.ts'
export { partSince } from '../../src/regions/counters/debt.ts'
export { countingStore } from '../../src/regions/counters/store.ts'
export { regionalLimits } from '../../src/regions/regional-limits.ts'
