import { CALLS, type ColdOptions, coldPostgres, coldRedis } from '../cold/part.ts'
import { enginesOf, enginesText } from '../engines.ts'
import { thisMachine } from '../machine.ts'
import type { Part } from '../part.ts'
import { chosenOf, runParts } from './run-parts.ts'
import { headOf, type Suite } from './suite.ts'

const PARTS: readonly Part<ColdOptions>[] = [coldRedis, coldPostgres]
const SECONDS = 30

/** What a process pays that has just begun: a function of a cloud, a command, a server that was restarted. */
export const cold: Suite = {
  name: 'cold',
  summary: `the first ${CALLS} requests of a fresh process on Redis and PostgreSQL, with its imports; about a minute and a half`,
  parts: PARTS.map(({ name }) => name),
  async run({ seconds = SECONDS, parts, say, atEnd }) {
    const machine = thisMachine()
    // A commit that waits for the disk would hide what is measured.
    const engines = enginesOf({ atEnd }, ['synchronous_commit=off'])
    const chosen = chosenOf(PARTS, parts)
    const { texts, results, documents } = await runParts(chosen, { seconds, say, atEnd, engines })
    const servers = await enginesText(
      engines,
      chosen.map(({ name }) => name as 'redis' | 'postgres'),
    )
    const where = headOf(machine, servers)
    const head = [`cold: a process that has just begun`, `machine: ${where}; ${seconds} s a part`].join('\n')
    return { text: [head, ...texts].join('\n\n'), where, documents, results: { suite: 'cold', machine, seconds, parts: results } }
  },
}
