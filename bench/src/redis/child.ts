import { runMeasurement } from '../run-measurement.ts'
import { countTrips } from './cluster-trips.ts'
import { auditGrant } from './grants.ts'
import { weighKeys } from './memory-hold.ts'
import { measureRedisTime } from './redis-time-lanes.ts'

/** The measurements of the suite `redis` that have a process to themselves. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['grant', auditGrant],
    ['redis-time', measureRedisTime],
    ['memory', async (input: never) => (await weighKeys(input)) ?? null],
    ['cluster-trips', countTrips],
  ]),
)
