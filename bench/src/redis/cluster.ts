import { inChild } from '../in-child.ts'
import type { Reading } from '../reading.ts'
import { amount } from '../reading-text.ts'
import type { TripsInput, TripsResult } from './cluster-trips.ts'
import { startCluster } from './private-cluster.ts'
import type { RedisPart } from './redis-part.ts'
import { clustering, type WrapperName } from './wrappers.ts'

const CALLERS = [1, 64] as const
/** So many requests a second of the time asked for, at most twice that. */
const REQUESTS = 1_000

const STORES: readonly (readonly [name: string, wrappers: readonly WrapperName[]])[] = [
  ['plain', []],
  ['coalescing', ['withCoalescing']],
  ['strict leases', ['withCoalescing', 'withLeases']],
]

/** How often the servers of a cluster are asked for one request under several limits. */
export const cluster: RedisPart = {
  name: 'cluster',
  title: 'global, tenant and endpoint for one request in a cluster of three nodes: round trips',
  async run(options) {
    const readings: Reading[] = []
    const urls = clustering() ? await startCluster(options) : undefined
    for (const callers of CALLERS) {
      options.say(`round trips of three limits, ${callers} callers`)
      for (const [store, wrappers] of STORES) {
        const name = `${store}, ${callers === 1 ? '1 caller' : `${callers} callers`}`
        if (urls === undefined) {
          readings.push({ name, absent: 'this version has no store for a cluster' })
          continue
        }
        const input: TripsInput = { urls, callers, requests: Math.ceil(REQUESTS * Math.min(2, options.seconds)), wrappers }
        const result = await inChild<TripsResult | null>('cluster-trips', input, { ...options, family: 'redis' })
        readings.push(
          result === null
            ? { name, absent: 'this version has no such wrapper for its Redis store' }
            : {
                name,
                unit: 'calls',
                value: result.trips,
                ours: `${amount(result.microseconds, 'us')} a request${result.undecided === 0 ? '' : `, ${result.undecided} undecided`}`,
                wrongAnswers: result.refused,
              },
        )
      }
    }
    return {
      readings,
      notes: ['Programs that all nodes ran, by their own count, for one request; states of the three limits lie in slots of their own.'],
    }
  },
}
