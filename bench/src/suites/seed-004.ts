import { findPostgres, startPostgres } from '@sluice/scripts/engines'
import pg from 'pg'
import { thisMachine } from '../machine.ts'
import type { Part } from '../part.ts'
import { different, hot, type PostgresOptions, single } from '../postgres/parts.ts'
import { grants, sessions, size } from '../postgres/proofs.ts'
import { figure } from '../report.ts'
import { runParts } from './run-parts.ts'
import { MissingEngine, type Suite } from './suite.ts'

const PARTS: readonly Part<PostgresOptions>[] = [hot, different, single, sessions, grants, size]
const SECONDS = 3

/** The PostgreSQL store beside the function of Rate limiting with PostgreSQL / YugabyteDB. */
export const seed004: Suite = {
  name: 'seed-004',
  summary: 'the PostgreSQL store beside the function of Rate limiting with PostgreSQL / YugabyteDB; about four minutes',
  parts: PARTS.map(({ name }) => name),
  async run({ seconds = SECONDS, parts, say, atEnd }) {
    const found = findPostgres()
    if ('missing' in found) throw new MissingEngine(`no PostgreSQL to measure: ${found.missing}`)
    const { url, stop } = await startPostgres(found.path)
    atEnd(stop)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query<{ version: string; commits: string }>(
      `select current_setting('server_version') as version, current_setting('synchronous_commit') as commits`,
    )
    await client.end()
    const [server] = rows
    const chosen = PARTS.filter(({ name }) => parts === undefined || parts.includes(name))
    const { texts, results } = await runParts(chosen, { seconds, say, atEnd, url })
    const machine = thisMachine()
    const { cores, cpu, load, node } = machine
    const head = [
      'seed-004: Rate limiting with PostgreSQL / YugabyteDB, measured anew, with Sluice beside it',
      `machine: ${cores} cores (${cpu}), load ${figure(load, 2)} at the end; node ${node}; PostgreSQL ${server?.version}, private, synchronous_commit ${server?.commits}; ${seconds} s`,
      'Figures are medians of ratios within a round: all ways run in batches by turns on one server, each with a pool of as many connections as callers.',
      'Baselines are prepared once for each connection, as the store is; deadlines are the defaults. us/request is wall time; cpu is the client’s alone, since the',
      'server’s is spread over its processes. YugabyteDB itself was not run.',
    ].join('\n')
    return { text: [head, ...texts].join('\n\n'), results: { suite: 'seed-004', machine, postgres: server, seconds, parts: results } }
  },
}
