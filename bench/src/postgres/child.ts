import { runMeasurement } from '../run-measurement.ts'
import { auditWay } from './audit-way.ts'
import { runExample } from './example.ts'
import { auditClients } from './grant.ts'
import { compareHolds } from './holds-lanes.ts'
import { compareWays } from './lanes.ts'
import { measureRegionWork } from './region-hold.ts'
import { runSessions } from './sessions.ts'
import { weighKeys } from './size-hold.ts'

/** The measurements on PostgreSQL that run in processes of their own. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['ways', compareWays],
    ['sessions', runSessions],
    ['audit', auditWay],
    ['grant', auditClients],
    ['example', runExample],
    ['size', weighKeys],
    ['holds', compareHolds],
    ['region-work', measureRegionWork],
  ]),
)
