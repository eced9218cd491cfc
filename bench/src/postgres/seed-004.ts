import { inChild } from '../in-child.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import type { Plot, Series } from '../result/plot.ts'
import type { Column, ContestantRow, Row, Table } from '../result/table.ts'
import { type ExampleCall, type ExampleInput, type ExampleResult, PAUSE_MS } from './example.ts'
import { postgresGrants } from './grants.ts'
import { POSTGRES_WAYS, type WayName } from './ways.ts'
import type { Isolation } from './place.ts'
import type { PostgresGrant } from './audit-way.ts'
import { SESSIONS, type SessionsInput, type SessionsResult } from './sessions.ts'

const ISOLATIONS: readonly Isolation[] = ['read committed', 'serializable']

/** A database on which the tests of the article "Rate limiting with PostgreSQL / YugabyteDB" run, and the limiters that run there. */
export interface ArticleTarget {
  readonly url: string
  readonly sessions: readonly WayName[]
  readonly example: readonly ExampleInput['way'][]
}

const ON_POSTGRES = { sessions: ['article', 'compat', 'update', 'bare', 'sluice'], example: ['article', 'compat', 'sluice'] } as const

/**
 * Runs the test of the article "Rate limiting with PostgreSQL / YugabyteDB" with eight sessions, under both isolation levels, and counts
 * every failure.
 */
export const sessions: Part = {
  name: 'sessions',
  title: 'the article’s eight sessions on one key: READ COMMITTED against SERIALIZABLE',
  async run(options) {
    const { url } = await options.engines.postgres()
    return { tables: await sessionTables({ url, ...ON_POSTGRES }, options), notes: SESSION_NOTES }
  },
}

const SESSION_NOTES = [
  'The article says of PostgreSQL that sessions wait, "but will not fail". Under SERIALIZABLE, its function fails with 40001 (serialization failure) if two sessions update the row concurrently.',
  'Under both isolation levels, the first calls fail with 23505 (unique violation) if several sessions insert the row. After a failure a session calls again here, while the article’s session ends.',
  'After a conflict, Sluice tries again, at most twice. A call that still conflicts with others is undecided (`contention`), never denied. A call without an answer by the default deadline of 50 ms is undecided, too (`timeout`).',
]

/** Runs the example of the article "Rate limiting with PostgreSQL / YugabyteDB": ten tokens, one a second, and a call every 100 ms. */
export const example: Part = {
  name: 'example',
  title: `the article’s example: ten tokens, one a second, a call every 100 ms, then ${PAUSE_MS / 1_000} s of pause`,
  async run(options) {
    const { url } = await options.engines.postgres()
    return exampleOn({ url, ...ON_POSTGRES }, options)
  },
}

/** Makes the table of the sessions, and the table of the over-grant, both under both isolation levels. */
export async function sessionTables({ url, sessions: ways }: ArticleTarget, options: PartOptions): Promise<Table[]> {
  const grantOf = postgresGrants(url, options)
  const measured: SessionsMeasured[] = []
  for (const isolation of ISOLATIONS)
    for (const way of ways) {
      options.say(`${way}, ${isolation}`)
      const input: SessionsInput = { url, seconds: options.seconds, isolation, way }
      const result = await inChild<SessionsResult>('sessions', input, { ...options, family: 'postgres' })
      measured.push({ way, isolation, result, grant: await grantOf(way, isolation) })
    }
  return [sessionsTable(measured), grantsTable(measured)]
}

/** One way under one isolation level. */
export interface SessionsMeasured {
  readonly way: WayName
  readonly isolation: Isolation
  readonly result: SessionsResult
  readonly grant: PostgresGrant
}

/** Decided calls a second of the sessions, with a column for every failure that occurred. */
export function sessionsTable(measured: readonly SessionsMeasured[]): Table {
  const codes = [...new Set(measured.flatMap(({ result }) => Object.keys(result.failures)))].sort()
  const columns: readonly Column[] = [
    { key: 'perSecond', title: 'decided calls a second' },
    { key: 'total', title: 'calls' },
    { key: 'failed', title: 'failed', unit: '%' },
    ...codes.map((code) => ({ key: code, title: code })),
  ]
  return {
    name: 'sessions',
    title: `${SESSIONS} sessions on one key, 1,000 tokens a second, a window of an hour; failures by SQLSTATE`,
    columns,
    rows: measured.map((one) => sessionsRow(one, codes)),
    rank: { column: 'perSecond', best: 'most' },
    notes: [
      'Decided calls a second are those that did not fail. Medians and quartiles are those of ten equal parts of the time. All ways use prepared statements.',
    ],
  }
}

function sessionsRow({ way, isolation, result, grant }: SessionsMeasured, codes: readonly string[]): Row {
  const { total, denied, perSecond, failures } = result
  const failed = Object.values(failures).reduce((sum, times) => sum + times, 0)
  const counts = codes.map((code): [string, number] => [code, failures[code] ?? 0])
  return {
    name: POSTGRES_WAYS[way].name,
    load: isolation,
    kind: POSTGRES_WAYS[way].kind as ContestantRow['kind'],
    cells: { perSecond, total, failed: (failed / total) * 100, ...Object.fromEntries(counts) },
    overGrant: grant.overGrantPercent,
    wrongAnswers: denied,
  }
}

/** What each limiter let pass under a limit of ten a second. */
export function grantsTable(measured: readonly Pick<SessionsMeasured, 'way' | 'isolation' | 'grant'>[]): Table {
  return {
    name: 'over-grant',
    title: 'what passes under a limit of 10 a second, burst 10: a flood of 16 callers, and one caller that comes every 55 ms',
    columns: [
      { key: 'flood', title: 'flood: allowed' },
      { key: 'floodMost', title: 'permitted' },
      { key: 'floodOver', title: 'over-grant, flood', unit: '%' },
      { key: 'paced', title: 'every 55 ms: allowed' },
      { key: 'pacedMost', title: 'permitted' },
      { key: 'pacedOver', title: 'over-grant, every 55 ms', unit: '%' },
    ],
    rows: measured.map(({ way, isolation, grant: { flood, paced, overGrantPercent } }) => ({
      name: POSTGRES_WAYS[way].name,
      load: isolation,
      kind: POSTGRES_WAYS[way].kind as ContestantRow['kind'],
      cells: {
        flood: flood.allowed,
        floodMost: flood.permitted,
        floodOver: flood.overGrantPercent,
        paced: paced.allowed,
        pacedMost: paced.permitted,
        pacedOver: paced.overGrantPercent,
      },
      overGrant: overGrantPercent,
    })),
    notes: [
      'Every interval was compared with the limit by the database’s clock, which the deciding statement also returns. The columns `permitted` are burst and refill until the last answer.',
      'The article’s function rounds each refill to whole tokens. A caller that comes every 55 ms has 0.55 tokens refilled each time and gets a whole one. A flood gets no refill, because each call rounds a small part of a token to 0 and records the time.',
      'The function refills until clock_timestamp(), but records now(), the start of the transaction. So if a call waits for the row lock, the refill of its wait is added twice. A refused call leaves -1 tokens, so the next refilled token only makes up for it.',
    ],
  }
}

/**
 * What the article "Rate limiting with PostgreSQL / YugabyteDB" prints for its example: the remaining tokens after each call, before and
 * after the pause.
 */
const PRINTED = { before: [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -1, -1], after: [3, 2, 1, 0, -1], everySeconds: 0.1 } as const

export async function exampleOn({ url, example: ways }: ArticleTarget, options: PartOptions): Promise<PartResult> {
  options.say(`${ways.join(', ')} at once, in real time`)
  const results = await Promise.all(
    ways.map(async (way) => ({
      way,
      result: await inChild<ExampleResult>('example', { url, way } satisfies ExampleInput, { ...options, family: 'postgres' }),
    })),
  )
  return exampleResult(results)
}

/** The table and the plot of the example, with what the article prints. */
export function exampleResult(results: readonly { readonly way: WayName; readonly result: ExampleResult }[]): PartResult {
  const printed = printedCalls()
  const table: Table = {
    name: 'example',
    title: 'ten tokens, one a second, a call every 100 ms until the third refusal, a pause of 4 s, and again until the first refusal',
    columns: [
      { key: 'allowed', title: 'allowed at first' },
      { key: 'left', title: 'left after the first call that follows the pause' },
      { key: 'again', title: 'allowed after the pause' },
    ],
    rows: [
      ...results.map(({ way, result }): Row => ({
        name: POSTGRES_WAYS[way].name,
        kind: POSTGRES_WAYS[way].kind as ContestantRow['kind'],
        cells: exampleCells(result),
        overGrant: result.overGrantPercent,
      })),
      { name: 'as the article prints it', kind: 'quoted', cells: exampleCells(printed) },
    ],
    notes: [
      'The article prints whole seconds only. By them, its calls after the pause began 5 to 6 s after the earlier calls had ended, although the pause was to be 4 s. A refused call of the article’s function leaves -1 tokens: one is owed.',
      'The report’s plot draws the article’s later calls 4 s after its earlier ones, and refused calls of every way as -1.',
    ],
  }
  const series = (name: string, kind: Series['kind'], { before, after }: Pick<ExampleResult, 'before' | 'after'>): Series => ({
    name,
    kind,
    points: [...before, ...after].map(({ at, left }) => ({ x: at, y: left })),
  })
  const plot: Plot = {
    name: 'example',
    title: 'Remaining tokens in the article’s example',
    x: { title: 'seconds since the first call' },
    y: { title: 'remaining tokens; -1 is a refusal' },
    steps: true,
    series: [
      ...results.map(({ way, result }) => series(POSTGRES_WAYS[way].name, POSTGRES_WAYS[way].kind, result)),
      series('as the article prints it', 'quoted', printed),
    ],
  }
  return { tables: [table], plots: [plot], figures: results }
}

function exampleCells({ before, after }: Pick<ExampleResult, 'before' | 'after'>): Row['cells'] {
  const passed = (calls: readonly ExampleCall[]): number => calls.filter(({ left }) => left >= 0).length
  return { allowed: passed(before), left: after[0]?.left, again: passed(after) }
}

function printedCalls(): Pick<ExampleResult, 'before' | 'after'> {
  const { before, after, everySeconds } = PRINTED
  const again = (before.length - 1) * everySeconds + PAUSE_MS / 1_000
  const callsOf = (left: readonly number[], from: number): ExampleCall[] =>
    left.map((tokens, call) => ({ at: from + call * everySeconds, left: tokens }))
  return { before: callsOf(before, 0), after: callsOf(after, again) }
}
