import type { ContestantKind } from '../contestants/contestant.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import { postgresGrants } from '../postgres/grants.ts'
import { POSTGRES_WAYS, type WayName } from '../postgres/ways.ts'
import { poolIn } from '../postgres/pool.ts'
import { redisGrants } from '../redis/taken-grants.ts'
import type { Way } from '../redis/ways.ts'
import { median, ratiosOf, type Spread, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import { type ColdTimed, coldRounds } from './rounds.ts'
import type { ColdInput, ColdSample, ColdWay } from './sample.ts'

/** Requests of each process. */
export const CALLS = 500

/** The ways on Redis; the first is the baseline. */
const REDIS: readonly ColdWay[] = ['baseline', 'bare', 'sluice', 'flexible', 'express-store']
const POSTGRES: Readonly<Partial<Record<ColdWay, WayName>>> = {
  baseline: 'update',
  bare: 'bare',
  sluice: 'sluice',
  flexible: 'flexible',
}

/** The names of the same limiters in the suite `redis`, which measures their over-grant. */
const REDIS_NAMES: Readonly<Record<ColdWay, Way>> = {
  baseline: 'lua',
  bare: 'bare',
  sluice: 'sluice',
  flexible: 'flexible',
  'express-store': 'express-store',
}

const KINDS: Readonly<Record<ColdWay, ContestantKind>> = {
  baseline: 'baseline',
  bare: 'ours',
  sluice: 'ours',
  flexible: 'peer',
  'express-store': 'peer',
}

export const coldRedis: Part = {
  name: 'redis',
  title: `Redis: the first ${CALLS} requests of a process, one after the other, against one EVALSHA each`,
  async run(options) {
    const { url } = await options.engines.redis()
    const grantOf = redisGrants(url, options)
    return measured(
      REDIS.map((way): ColdInput => ({ engine: 'redis', way, url, space: `cold${way}`, calls: CALLS })),
      (way) => grantOf(REDIS_NAMES[way]),
      options,
    )
  },
}

export const coldPostgres: Part = {
  name: 'postgres',
  title: `PostgreSQL: the first ${CALLS} requests of a process, one after the other, against one prepared UPDATE each`,
  async run(options) {
    const { url } = await options.engines.postgres()
    const inputs: ColdInput[] = []
    for (const [way, name] of Object.entries(POSTGRES) as [ColdWay, WayName][]) {
      const space = `cold_${name}`
      const pool = await poolIn(url, space, 1)
      await POSTGRES_WAYS[name].prepare(pool, { tokens: 1_000_000, per: '1s', burst: 10_000_000 })
      await pool.end()
      inputs.push({ engine: 'postgres', way, url, space, calls: CALLS })
    }
    const grantOf = postgresGrants(url, options)
    return measured(inputs, (way) => grantOf(POSTGRES[way] as WayName), options)
  },
}

async function measured(
  inputs: readonly ColdInput[],
  grantOf: (way: ColdWay) => Promise<{ readonly overGrantPercent: number }>,
  options: PartOptions,
): Promise<PartResult> {
  options.say(`processes of ${inputs.map(({ way }) => way).join(', ')} by turns`)
  const timed = await coldRounds(inputs, options)
  const known: ColdKnown[] = []
  for (const { way } of inputs) known.push({ kind: KINDS[way], overGrant: (await grantOf(way)).overGrantPercent })
  return coldResult(timed, known)
}

/** What is known of a limiter in addition to the samples of its processes. */
export interface ColdKnown {
  readonly kind: ContestantKind
  /** Over-grant in percent, from a separate run whose limit is below the load. */
  readonly overGrant: number
}

const COLUMNS: readonly Column[] = [
  { key: 'imported', title: 'import', unit: 'ms', decimals: 1 },
  { key: 'opened', title: 'open', unit: 'ms', decimals: 1 },
  { key: 'called', title: 'calls', unit: 'ms', decimals: 1 },
  { key: 'calledX', title: 'calls against the first', unit: 'x' },
  { key: 'allX', title: 'in all against the first', unit: 'x' },
  { key: 'first', title: 'first request', unit: 'ms' },
  { key: 'p50', title: 'p50', unit: 'us', decimals: 0 },
  { key: 'p99', title: 'p99', unit: 'us', decimals: 0 },
  { key: 'p50x', title: 'p50 against the first', unit: 'x' },
  { key: 'refused', title: 'refused' },
  { key: 'undecided', title: 'undecided' },
]

/** The measurements of all limiters. The first limiter is the baseline. Samples of the same round are compared. */
export function coldResult(timed: readonly ColdTimed[], known: readonly ColdKnown[]): PartResult {
  const baseline = timed[0]?.samples ?? []
  const table: Table = {
    name: 'cold',
    title: `processor time and latency of the first ${CALLS} requests`,
    columns: COLUMNS,
    rows: timed.map((own, lane) => rowOf(own, baseline, known[lane] as ColdKnown)),
    rank: { column: 'called', best: 'least' },
    notes: [
      'The columns `import`, `open` and `calls` are processor time: user and system time of all threads of the process. `import` loads the client library and the limiter. `open` connects and makes the limiter ready. `calls` makes the requests.',
      'Over-grant was measured in a separate run, because the first requests of a process do not reach their limit.',
      `Each way was measured in ${baseline.length} processes, and the ways took turns. Medians and quartiles are those of the processes. One more process of each way ran before them and is not counted.`,
    ],
  }
  return { tables: [table], figures: timed.map(({ samples }) => samples) }
}

function rowOf({ samples: own, disturbed }: ColdTimed, baseline: readonly ColdSample[], { kind, overGrant }: ColdKnown): Row {
  const middle = (of: (sample: ColdSample) => number): number => median(own.map(of))
  const times = (of: (sample: ColdSample) => number): Spread => ratiosOf(own.map(of), baseline.map(of))
  const millis = (of: (sample: ColdSample) => number): Spread => spreadOf(own.map((sample) => of(sample) / 1_000))
  const sumOf = (of: (sample: ColdSample) => number): number => own.reduce((sum, sample) => sum + of(sample), 0)
  const name = own[0]?.name ?? ''
  const cells = {
    imported: millis(imported),
    opened: millis(opened),
    called: millis(called),
    calledX: times(called),
    allX: times(inAll),
    first: middle(first) / 1_000,
    p50: middle(p50),
    p99: middle(p99),
    p50x: times(p50),
    refused: sumOf(refused),
    undecided: sumOf(undecided),
  }
  const row = { name, cells, ...(disturbed === undefined ? {} : { disturbed }) }
  if (kind === 'floor') return { ...row, kind }
  return { ...row, kind, overGrant, wrongAnswers: sumOf(refused) }
}

function imported({ cpu }: ColdSample): number {
  return cpu.imported
}

function opened({ cpu }: ColdSample): number {
  return cpu.opened
}

function called({ cpu }: ColdSample): number {
  return cpu.called
}

function inAll({ cpu }: ColdSample): number {
  return cpu.imported + cpu.opened + cpu.called
}

function first({ latency }: ColdSample): number {
  return latency.first
}

function p50({ latency }: ColdSample): number {
  return latency.p50
}

function p99({ latency }: ColdSample): number {
  return latency.p99
}

function refused(sample: ColdSample): number {
  return sample.refused
}

function undecided(sample: ColdSample): number {
  return sample.undecided
}
