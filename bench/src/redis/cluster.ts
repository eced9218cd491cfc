import { inChild } from '../in-child.ts'
import type { Reading } from '../result/reading.ts'
import { amount } from '../render/cells.ts'
import type { TripsInput, TripsResult } from './cluster-trips.ts'
import { startCluster } from './private-cluster.ts'
import type { RedisPart } from './redis-part.ts'
import type { RingName } from './rings.ts'

const CALLERS = [1, 64] as const
/** Requests for each second of the measurement, but at most twice this number in all. */
const REQUESTS = 1_000

const STORES = [
  ['bare', 'bare'],
  ['Sluice', 'sluice'],
  ['strict leases', 'leases'],
] as const satisfies readonly (readonly [name: string, ring: RingName])[]

/** Measures how often the servers of a cluster are called for one request under several limits. */
export const cluster: RedisPart = {
  name: 'cluster',
  title: 'global, tenant and endpoint for one request in a cluster of three nodes: round trips',
  async run(options) {
    const readings: Reading[] = []
    const urls = (await startCluster(options)).map(({ url }) => url)
    for (const callers of CALLERS) {
      if (options.depth === 'quick' && callers === 1) continue
      options.say(`round trips of three limits, ${callers} callers`)
      for (const [store, ring] of STORES) {
        const requests = Math.ceil(REQUESTS * Math.min(2, options.seconds))
        const input: TripsInput = { urls, callers, requests, ring }
        const { trips, microseconds, refused, undecided } = await inChild<TripsResult>('cluster-trips', input, {
          ...options,
          family: 'redis',
        })
        const unanswered = undecided === 0 ? '' : `, ${undecided} undecided`
        readings.push({
          name: `${store}, ${callers === 1 ? '1 caller' : `${callers} callers`}`,
          unit: 'calls',
          value: trips,
          ours: `${amount(microseconds, 'us')} a request${unanswered}`,
          wrongAnswers: refused,
        })
      }
    }
    return {
      readings,
      notes: [
        '`measured` is the number of Lua programs that all nodes together ran for one request, as the nodes count them. The states of the three limits are in three different slots.',
      ],
    }
  },
}
