import { runMeasurement } from '../run-measurement.ts'
import { holdLogs } from './logs-in-memory.ts'
import { weighRows } from './logs-in-postgres.ts'

/** The measurements of the suite `seed-000` that run in processes of their own. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['logs-in-memory', holdLogs],
    ['logs-in-postgres', weighRows],
  ]),
)
