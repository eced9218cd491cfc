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

/** A database on which the article's tests run, and the ways that run there. */
export interface ArticleTarget {
  readonly url: string
  readonly sessions: readonly WayName[]
  readonly example: readonly ExampleInput['way'][]
}

const ON_POSTGRES = { sessions: ['article', 'compat', 'update', 'bare', 'sluice'], example: ['article', 'compat', 'sluice'] } as const

/** Runs the article's test with eight sessions under both isolation levels, and counts every failure. */
export const sessions: Part = {
  name: 'sessions',
  title: 'the article’s eight sessions on one key: READ COMMITTED against SERIALIZABLE',
  async run(options) {
    const { url } = await options.engines.postgres()
    return { tables: await sessionTables({ url, ...ON_POSTGRES }, options), notes: SESSION_NOTES }
  },
}

const SESSION_NOTES = [
  'The article says of PostgreSQL that sessions wait, "but will not fail". Under SERIALIZABLE its function fails with 40001 wherever two of them meet. Under both',
  'levels its first calls fail with 23505 if several sessions insert the row. After a failure a session calls again here; in the article it ends.',
  'Sluice tries again, twice at most. A call that still conflicts with others is undecided (contention), never denied. A call that is late is undecided, too (timeout; the default deadline).',
]

/** Runs the article's own example: ten tokens, one a second, and a call every 100 ms. */
export const example: Part = {
  name: 'example',
  title: `the article’s example: ten tokens, one a second, a call every 100 ms, then ${PAUSE_MS / 1_000} s of pause`,
  async run(options) {
    const { url } = await options.engines.postgres()
    return exampleOn({ url, ...ON_POSTGRES }, options)
  },
}

/** The tables of the sessions, and of the audits under both isolation levels. */
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
      'Decided calls a second are those that did not fail; medians and quartiles of tenths of the time. Statements are prepared on all sides.',
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

/** What each way let pass under a limit of ten a second. */
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
      'Audited over every interval by the database’s clock, which the deciding statement also returns. permitted: burst and refill until the last answer.',
      'The article’s function rounds each refill to whole tokens: whoever comes after 0.55 of a token’s time gets a whole one, and whoever floods gets none at all,',
      'because every call moves the time on. It records now(), the start of the transaction, and adds the refill until clock_timestamp(): a call that waited for the row',
      'is refilled for its wait twice. A refused call leaves -1, which the next refill must pay first.',
    ],
  }
}

/** What the article prints for its example: the tokens before and after the pause. */
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
      'The article prints whole seconds only: its second run began 5 to 6 s after the first had ended, not 4 s. Its -1 counts as a token that is owed.',
      'In the plot the second run of the article begins 4 s after the first, and -1 is a refused call.',
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
