import { runMeasurement } from '../run-measurement.ts'
import { runHosts } from './hosts-run.ts'

/** The measurements of the suite `seed-003` that run in processes of their own. */
await runMeasurement(new Map<string, (input: never) => Promise<unknown>>([['hosts', runHosts]]))
