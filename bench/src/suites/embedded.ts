import { algorithms } from '../embedded/algorithms.ts'
import { http } from '../embedded/http.ts'
import { hot } from '../embedded/hot.ts'
import { keys } from '../embedded/keys.ts'
import { gates } from '../embedded/gates.ts'
import { rules } from '../embedded/rules.ts'
import { service } from '../embedded/service.ts'
import { size } from '../embedded/size.ts'
import { thisMachine } from '../machine.ts'
import type { Part } from '../part.ts'
import { chosenOf, runParts } from './run-parts.ts'
import { headOf, type Suite } from './suite.ts'

const PARTS: readonly Part[] = [hot, keys, algorithms, rules, http, service, size]
const SECONDS = 3

/** What the embedded limiter, the policy engine, the adapter and the service must reach, each with its baseline. */
export const embedded: Suite = {
  name: 'embedded',
  summary: 'what the limiter in this process, the adapter and the service must reach, as ratios to baselines; about two minutes',
  parts: PARTS.map(({ name }) => name),
  gates: true,
  async run({ seconds = SECONDS, parts, gates: withGates = false, say, atEnd }) {
    const machine = thisMachine()
    const issued = chosenOf(PARTS, parts)
    const { texts, results, documents } = await runParts(withGates ? [...issued, gates] : issued, { seconds, say, atEnd })
    const where = headOf(machine)
    const head = [
      'embedded: what must be reached, and what it is held against',
      `machine: ${where}; ${seconds} s a comparison`,
      'Figures are medians of ratios within a round: both sides run in small batches by turns. Compare ratios, not machines.',
    ].join('\n')
    return { text: [head, ...texts].join('\n\n'), where, documents, results: { suite: 'embedded', machine, seconds, parts: results } }
  },
}
