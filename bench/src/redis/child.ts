import { runMeasurement } from '../run-measurement.ts'
import { weighWay } from './bytes-hold.ts'
import { countTrips } from './cluster-trips.ts'
import { auditGrant } from './grants.ts'
import { weighKeys } from './memory-hold.ts'
import { measureRegionWork } from './region-hold.ts'
import { measureRedisTime } from './redis-time-lanes.ts'

/** The measurements of the suite `redis` that run in processes of their own. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['grant', auditGrant],
    ['redis-time', measureRedisTime],
    ['memory', async (input: never) => (await weighKeys(input)) ?? null],
    ['bytes', weighWay],
    ['cluster-trips', countTrips],
    ['region-work', measureRegionWork],
  ]),
)
