import { type Comparison, judge } from '../redis/comparison.ts'
import { figure } from '../render/columns.ts'
import type { Part, PartResult } from '../part.ts'
import { DENIED, type Profile } from '../profiles.ts'
import type { Reading } from '../result/reading.ts'
import { type Spread, spreadOf } from '../result/statistics.ts'
import type { Sample } from '../redis/samples.ts'
import type { Depth } from '../result/suite-result.ts'
import type { Column, ContestantRow, Table } from '../result/table.ts'
import type { LanesInput, Weight } from './lanes.ts'
import { ALLOWED, comparedUnder, onPostgres, type PostgresOptions } from './parts.ts'
import { POSTGRES_WAYS } from './ways.ts'

/** The baseline is the first. */
const WAYS = ['update', 'article', 'flexible', 'bare', 'coalescing', 'sluice'] as const
type LoadWay = (typeof WAYS)[number]

/** Every key has spent a good part of its burst, and gets it back so slowly that no row expires during the run. */
const ALLOWED_ROWS: Profile = { name: 'all allowed, burst 10^7', burst: 10_000_000, tokens: 1, per: '1s', answer: 'allowed' }

interface PostgresLoad {
  readonly name: string
  readonly title: string
  readonly profile: Profile
  readonly keys: LanesInput['keys']
  /** The number of keys in a quick run; default `keys`. */
  readonly quickKeys?: number
  readonly fullOnly?: true
}

const CALLERS: Readonly<Record<Depth, readonly number[]>> = { quick: [32], full: [32, 1] }

export const hotKey: Part = loadPart({ name: 'hot', title: 'one hot key', profile: ALLOWED, keys: 1 })
export const thousand: Part = loadPart({
  name: 'keys-thousand',
  title: '1,000 keys at random',
  profile: ALLOWED_ROWS,
  keys: 1_000,
  fullOnly: true,
})
export const million: Part = loadPart({
  name: 'keys-million',
  title: '1,000,000 keys at random (in a quick run 20,000), and the bytes of each',
  profile: ALLOWED_ROWS,
  keys: 1_000_000,
  quickKeys: 20_000,
})
export const denied: Part = loadPart({
  name: 'denied',
  title: 'a denied flood on one key',
  profile: DENIED,
  keys: 1,
  fullOnly: true,
})
export const mixed: Part = loadPart({
  name: 'mixed',
  title: 'three limits a request, 80 % of the requests from 20 % of the users, 10 % denied',
  profile: { ...ALLOWED, name: 'mixed application' },
  keys: 'mixed',
})

const MIXED_NOTES = [
  'Sluice decides all three limits of a request with one statement, and charges all or none. The other ways check the three limits concurrently, with one statement for each. So if one limit denies a request, they have still charged the limits that allowed it.',
  'The requests of users whose free plan is used up must be denied, and all others must pass. Any other answer counts as wrong.',
]

function loadPart(load: PostgresLoad): Part {
  const { name, title, profile, quickKeys = load.keys, fullOnly } = load
  return {
    name,
    ...(fullOnly === undefined ? {} : { fullOnly }),
    title: `${title}, against one prepared UPDATE for each request`,
    async run(partOptions) {
      const options = await onPostgres(partOptions)
      const keys = options.depth === 'quick' ? quickKeys : load.keys
      const readings: Reading[] = []
      const tables: Table[] = []
      for (const callers of CALLERS[options.depth]) {
        const found = await measured(options, profile, { callers, keys })
        readings.push(...found.readings)
        tables.push(...found.tables)
      }
      return { readings, tables, notes: keys === 'mixed' ? MIXED_NOTES : [] } satisfies PartResult
    },
  }
}

async function measured(
  options: PostgresOptions,
  profile: Profile,
  load: Pick<LanesInput, 'callers' | 'keys'>,
): Promise<Required<Pick<PartResult, 'readings' | 'tables'>>> {
  const { callers, keys } = load
  const at = callers === 1 ? '1 connection' : `${callers} connections`
  options.say(at)
  const { comparison, result } = await comparedUnder(options, profile, { ...load, ways: WAYS })
  const of = typeof keys === 'number' && keys > 1 ? `${figure(keys)} keys, ` : ''
  const tables: Table[] = [{ ...withLatencies(comparison.table, result.samples), name: `lanes-${callers}`, title: `${of}${at}` }]
  if (result.weights.length > 0 && callers !== 1) tables.push(bytesTable(comparison, result.weights, keys as number))
  return { tables, readings: readingsOf(comparison, at, keys) }
}

/** The table with the latency of each limiter, whose samples are in the order of the rows. */
export function withLatencies(table: Table, samples: readonly (readonly Sample[])[]): Table {
  const [callers, time, ratio, ...others] = table.columns
  const latency: readonly Column[] = [
    { key: 'p50', title: 'p50', unit: 'us', decimals: 0 },
    { key: 'p99', title: 'p99', unit: 'us', decimals: 0 },
  ]
  const quantile = (index: number, of: (sample: Sample) => number): Spread => spreadOf((samples[index] ?? []).map(of))
  return {
    ...table,
    columns: [callers, time, ratio, ...latency, ...others].filter((column) => column !== undefined),
    rows: table.rows.map((row, index) => ({
      ...row,
      cells: { ...row.cells, p50: quantile(index, ({ p50 }) => p50), p99: quantile(index, ({ p99 }) => p99) },
    })),
    notes: [...(table.notes ?? []), 'p50 and p99 come from separate batches, in which each request was timed.'],
  }
}

/**
 * Compares Sluice with other limiters. There is a goal only if many keys are called: Sluice with batches against the function of the
 * article "Rate limiting with PostgreSQL / YugabyteDB".
 */
function readingsOf(comparison: Comparison<LoadWay>, at: string, keys: LanesInput['keys']): Reading[] {
  const speed = (whose: string, ours: LoadWay, baseline: LoadWay): Reading =>
    judge(comparison, { name: `${whose}, ${at}, against ${comparison.lanes[baseline].name}`, ours, baseline, as: 'speed' })
  const different = typeof keys === 'number' && keys > 10_000 && !at.startsWith('1 ')
  return [
    speed('bare', 'bare', 'update'),
    speed('Sluice', 'sluice', 'update'),
    speed('Sluice', 'sluice', 'flexible'),
    ...(different
      ? (['coalescing', 'sluice'] as const).map((ours) =>
          judge(comparison, {
            name: `${ours === 'sluice' ? 'Sluice' : ours}, ${at}, against the article’s function`,
            ours,
            baseline: 'article',
            as: 'speed',
            goal: { atLeast: 3 },
          }),
        )
      : []),
  ]
}

/** The bytes of a row in table and indexes, after the rows were made. */
function bytesTable({ lanes }: Pick<Comparison<LoadWay>, 'lanes'>, weights: readonly Weight[], keys: number): Table {
  return {
    name: 'bytes',
    title: `bytes a key of ${figure(keys)} keys of 13 characters`,
    columns: [
      { key: 'table', title: 'table', unit: 'bytes' },
      { key: 'index', title: 'index', unit: 'bytes' },
      { key: 'all', title: 'in all', unit: 'bytes' },
    ],
    rows: WAYS.map((way, index) => {
      const { table, index: indexes } = weights[index] as Weight
      const { grant } = lanes[way]
      return {
        name: POSTGRES_WAYS[way].name,
        kind: POSTGRES_WAYS[way].kind as ContestantRow['kind'],
        cells: { table, index: indexes, all: table + indexes },
        overGrant: grant === undefined ? { notAudited: 'it was not requested' } : grant.overGrantPercent,
      }
    }),
    rank: { column: 'all', best: 'least' },
    notes: [
      'Bytes are pg_table_size and pg_indexes_size of a way’s tables, divided by the number of keys, after one insert for each. Updates would add dead rows, which stay until a vacuum.',
    ],
  }
}
