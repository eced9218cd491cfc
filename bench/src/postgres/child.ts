import { runMeasurement } from '../run-measurement.ts'
import { auditClients } from './grant.ts'
import { compareWays } from './lanes.ts'
import { runSessions } from './sessions.ts'
import { weighKeys } from './size-hold.ts'

/** The measurements of the suite `seed-004` that have a process to themselves. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['ways', compareWays],
    ['sessions', runSessions],
    ['grant', auditClients],
    ['size', weighKeys],
  ]),
)
