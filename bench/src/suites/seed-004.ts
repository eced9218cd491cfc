import { openPostgres } from '../engines.ts'
import { thisMachine } from '../machine.ts'
import type { Part } from '../part.ts'
import { different, hot, type PostgresOptions, single } from '../postgres/parts.ts'
import { grants, sessions, size } from '../postgres/proofs.ts'
import { chosenOf, runParts } from './run-parts.ts'
import { headOf, type Suite } from './suite.ts'

const PARTS: readonly Part<PostgresOptions>[] = [hot, different, single, sessions, grants, size]
const SECONDS = 3

/** The PostgreSQL store against the function of Rate limiting with PostgreSQL / YugabyteDB. */
export const seed004: Suite = {
  name: 'seed-004',
  summary: 'the PostgreSQL store against the function of Rate limiting with PostgreSQL / YugabyteDB; about four minutes',
  parts: PARTS.map(({ name }) => name),
  async run({ seconds = SECONDS, parts, say, atEnd }) {
    const machine = thisMachine()
    const server = await openPostgres({ atEnd })
    const { texts, results, documents } = await runParts(chosenOf(PARTS, parts), { seconds, say, atEnd, url: server.url })
    const where = headOf(machine, `PostgreSQL ${server.version}, private, synchronous_commit ${server.commits}`)
    const head = [
      'seed-004: Rate limiting with PostgreSQL / YugabyteDB, measured anew, with Sluice in comparison',
      `machine: ${where}; ${seconds} s`,
      'Figures are medians of ratios within a round: all ways run in batches by turns on one server, each with a pool of as many connections as callers.',
      'Baselines are prepared once for each connection, as the store is; deadlines are the defaults. us/request is wall time; cpu is the client’s alone, since the',
      'server’s is spread over its processes. YugabyteDB itself was not run.',
    ].join('\n')
    const { version, commits } = server
    const found = { suite: 'seed-004', machine, postgres: { version, commits }, seconds, parts: results }
    return { text: [head, ...texts].join('\n\n'), where, documents, results: found }
  },
}
