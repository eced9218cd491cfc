import pg from 'pg'
import type { Part, PartResult } from '../part.ts'
import { comparedOn } from './parts.ts'
import { dropPlaces } from './place.ts'
import { type ArticleTarget, exampleOn, sessionTables } from './seed-004.ts'

/** The variable with the URL of a YugabyteDB. */
export const URL_VARIABLE = 'SLUICE_YUGABYTE_URL'

const WAYS = { sessions: ['article', 'update', 'bareSwap', 'swap'], example: ['article', 'swap'] } as const satisfies Omit<
  ArticleTarget,
  'url'
>
const CALLERS = 8

/**
 * Runs the tests of the article "Rate limiting with PostgreSQL / YugabyteDB" on the user's own YugabyteDB, as the article does at its end.
 */
export const yugabyte: Part = {
  name: 'yugabyte',
  title: `the same on a YugabyteDB (${URL_VARIABLE})`,
  async run(options): Promise<PartResult> {
    const url = process.env[URL_VARIABLE]
    if (url === undefined || url === '')
      return { notes: [`Not run: ${URL_VARIABLE} is not set to the URL of a YugabyteDB, and the benchmark cannot install one.`] }
    const version = await versionOf(url)
    options.engines.note(version)
    // Registered before any process is started: the last registered is undone first, so the schemas are dropped when all processes have
    // ended.
    options.atEnd(() => dropPlaces(url))
    options.say(`${CALLERS} connections, ${version}`)
    const { table } = await comparedOn({ ...options, url }, CALLERS, WAYS.sessions)
    const tables = await sessionTables({ url, ...WAYS }, options)
    const ran = await exampleOn({ url, ...WAYS }, options)
    return {
      tables: [{ ...table, name: 'hot', title: `one hot key, ${CALLERS} connections` }, ...tables, ...(ran.tables ?? [])],
      ...(ran.plots === undefined ? {} : { plots: ran.plots }),
      notes: [
        'Sluice uses compare-and-swap here, with its default deadline of 50 ms. A call that the database answers later is undecided.',
        'The article says of this test that after a while only one of its eight sessions still runs, because the others ended with 40001 (serialization failure).',
        ...(version.includes('YB') ? [] : [`The server is not a YugabyteDB: ${version}. These figures say nothing about one.`]),
      ],
    }
  },
}

async function versionOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ version: string }>('select version() as version')
    return rows[0]?.version.split(' on ')[0] ?? 'a server of unknown version'
  } finally {
    await client.end()
  }
}
