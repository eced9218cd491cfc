import { EVENTS, movedDemand, NAMES, RATE } from './moved-demand.ts'

/** Prints what the figure of docs/regions.md shows: see `scripts/src/region-figure.ts`. */
process.stdout.write(JSON.stringify({ names: NAMES, rate: RATE, events: EVENTS, samples: await movedDemand() }))
