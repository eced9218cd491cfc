import type { Part } from '../part.ts'
import { amount } from '../render/cells.ts'
import { ALLOWED, DENIED } from '../profiles.ts'
import type { Goal, Reading } from '../result/reading.ts'
import { differencesOf, median } from '../result/statistics.ts'
import { NODE } from './contestants.ts'
import type { Guard } from './order.ts'
import { measureWeb, type WebLane, type WebLoad } from './web-lanes.ts'
import type { ServerTimed } from './server-rounds.ts'
import { answersOf, fieldNotes, webTable } from './web-table.ts'

/** Measures the cost that the adapter adds to a request of `node:http`, against its goals. */
export const node: Part = {
  name: 'node',
  title: 'node:http with sluice/node: processor time added per request, by pairs against the bare server',
  async run(options) {
    const measured = await measureWeb(NODE, { ...options, more: ['sluice-off', 'async', 'constant'] })
    const lane = (guard: Guard, load: WebLoad = 'answered with 200'): WebLane =>
      // The last constant has the default fields.
      measured.lanes.findLast((one) => one.guard === guard && one.load === load) as WebLane
    const [bare, ours, constant] = [lane('bare').timed, lane('sluice-default'), lane('constant')]
    return {
      readings: [
        reading('default headers', ALLOWED.name, ours.timed, bare, {
          goal: { atMost: 3 },
          floor: constant.timed,
          what: `the same ${constant.answered.fields.length} fields, constant, set by hand`,
        }),
        reading('headers off', ALLOWED.name, lane('sluice-off').timed, bare, {
          goal: { atMost: 1.2 },
          floor: lane('async').timed,
          what: 'an async function that says yes',
        }),
        reading('answered with 429', DENIED.name, lane('sluice-default', 'answered with 429').timed, bare),
      ],
      tables: [webTable({ ...measured, lanes: measured.lanes.filter((one) => one !== constant) })],
      notes: fieldNotes(measured),
      figures: answersOf(measured),
    }
  },
}

function reading(
  name: string,
  profile: string,
  ours: ServerTimed,
  bare: ServerTimed,
  judged?: { readonly goal: Goal; readonly floor: ServerTimed; readonly what: string },
): Reading {
  const spread = differencesOf(ours.cpuMicros, bare.cpuMicros)
  const shown = (timed: ServerTimed): string => amount(median(timed.cpuMicros), 'us')
  return {
    name,
    profile,
    unit: 'us',
    value: spread.median,
    spread,
    ours: shown(ours),
    baseline: `bare ${shown(bare)}`,
    wrongAnswers: ours.wrong + ours.failed + bare.wrong,
    ...(judged === undefined
      ? {}
      : { goal: judged.goal, floor: { value: differencesOf(judged.floor.cpuMicros, bare.cpuMicros).median, what: judged.what } }),
  }
}
