import { runMeasurement } from '../run-measurement.ts'
import { holdArticle } from './article-hold.ts'
import { playBoundaries } from './boundary.ts'

/** The measurements of the suite `seed-002` that run in processes of their own. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['hold', holdArticle],
    ['boundary', playBoundaries],
  ]),
)
