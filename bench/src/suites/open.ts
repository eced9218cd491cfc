import { enginesOf, enginesText } from '../engines.ts'
import { thisMachine } from '../machine.ts'
import { OPEN_PARTS } from '../open/part.ts'
import { chosenOf, runParts } from './run-parts.ts'
import { headOf, type Suite } from './suite.ts'

const SECONDS = 5

/** Requests that come when they come: what a user waits, which callers that wait for their answers cannot show. */
export const open: Suite = {
  name: 'open',
  summary: 'latency under Poisson arrivals at half and nine tenths of capacity, on Redis and PostgreSQL; about seven minutes',
  parts: OPEN_PARTS.map(({ name }) => name),
  async run({ seconds = SECONDS, parts, say, atEnd }) {
    const machine = thisMachine()
    // A commit that waits for the disk would hide what is measured.
    const engines = enginesOf({ atEnd }, ['synchronous_commit=off'])
    const chosen = chosenOf(OPEN_PARTS, parts)
    const { texts, results, documents } = await runParts(chosen, { seconds, say, atEnd, engines })
    const used = (['redis', 'postgres'] as const).filter((engine) => chosen.some(({ name }) => name.startsWith(engine)))
    const where = headOf(machine, await enginesText(engines, used))
    const head = [
      'open: requests that come by chance (Poisson), at half and nine tenths of capacity',
      `machine: ${where}; ${seconds} s for each way under each load`,
      'Arrivals are drawn before, the same ones for every way, and made in the process of the way; how late it made them is reported.',
    ].join('\n')
    return { text: [head, ...texts].join('\n\n'), where, documents, results: { suite: 'open', machine, seconds, parts: results } }
  },
}
