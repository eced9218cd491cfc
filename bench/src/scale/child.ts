import { runMeasurement } from '../run-measurement.ts'
import { compareCosts } from './costs-lanes.ts'
import { admitShared } from './shared-grant.ts'

/** The measurements of the suite `scale` that run in processes of their own. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['costs', compareCosts],
    ['shared-grant', admitShared],
  ]),
)
