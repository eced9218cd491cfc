import type { Profile } from '../profiles.ts'
import { inChild } from '../in-child.ts'
import type { Part, PartOptions } from '../part.ts'
import { type Comparison, comparisonOf, judge, type LaneKnown } from '../redis/comparison.ts'
import type { Goal, Reading } from '../result/reading.ts'
import type { Table } from '../result/table.ts'
import { postgresGrants } from './grants.ts'
import type { LanesInput, LanesResult } from './lanes.ts'
import { POSTGRES_WAYS, type WayName } from './ways.ts'

export interface PostgresOptions extends PartOptions {
  readonly url: string
}

export async function onPostgres(options: PartOptions): Promise<PostgresOptions> {
  const { url } = await options.engines.postgres()
  return { ...options, url }
}

/** No request is denied. The numbers fit the types of the function in the article "Rate limiting with PostgreSQL / YugabyteDB". */
export const ALLOWED: Profile = { name: 'all allowed, burst 10^7', burst: 10_000_000, tokens: 1_000_000, per: '1s', answer: 'allowed' }
const BATCH_MS = 60
/**
 * The warm-up of each lane (a measured limiter), in milliseconds of processor time for each second of the comparison. In this time the
 * states are created and the code is compiled.
 */
const WARM_UP_MS = 600
const WAYS = ['article', 'compat', 'update', 'bare', 'coalescing', 'sluice', 'flexible'] as const

const OURS = [
  ['bare', 'bare'],
  ['Sluice', 'sluice'],
] as const

/**
 * How many callers a comparison has, each with a connection, and its goal. A quick run has only the comparison with eight callers, as in
 * the article "Rate limiting with PostgreSQL / YugabyteDB".
 */
const HOT: readonly { readonly callers: number; readonly goal: Goal; readonly quick: boolean }[] = [
  { callers: 32, goal: { atLeast: 20 }, quick: false },
  { callers: 8, goal: { atLeast: 5 }, quick: true },
]

export const hot: Part = {
  name: 'hot',
  title: 'one hot key, against the article’s function under READ COMMITTED',
  async run(partOptions) {
    const options = await onPostgres(partOptions)
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const { callers, goal, quick } of HOT) {
      if (options.depth === 'quick' && !quick) continue
      options.say(`${callers} connections`)
      const comparison = await comparedOn(options, callers, WAYS)
      const at = `${callers} connections`
      readings.push(...againstArticle(comparison, at, goal))
      tables.push({ ...comparison.table, name: `lanes-${callers}`, title: at })
    }
    return { readings, tables }
  },
}

function againstArticle(comparison: Comparison<(typeof WAYS)[number]>, at: string, goal: Goal): Reading[] {
  return [
    judge(comparison, { name: `bare, ${at}`, ours: 'bare', baseline: 'article', as: 'speed' }),
    judge(comparison, { name: `coalescing, ${at}`, ours: 'coalescing', baseline: 'article', as: 'speed', goal }),
    judge(comparison, { name: `Sluice, ${at}`, ours: 'sluice', baseline: 'article', as: 'speed', goal }),
    judge(comparison, { name: `its function of the same name, ${at}`, ours: 'compat', baseline: 'article', as: 'speed' }),
    judge(comparison, {
      name: `Sluice, ${at}, against rate-limiter-flexible`,
      ours: 'sluice',
      baseline: 'flexible',
      as: 'speed',
      goal: { atLeast: 1 },
    }),
    ...OURS.map(([whose, ours]) =>
      judge(comparison, { name: `${whose}, ${at}, against one prepared UPDATE`, ours, baseline: 'update', as: 'speed' }),
    ),
  ]
}

export const single: Part = {
  name: 'single',
  fullOnly: true,
  title: 'one caller, one request after the other',
  async run(partOptions) {
    const options = await onPostgres(partOptions)
    options.say('one connection')
    const comparison = await comparedOn(options, 1, WAYS)
    const goal = { atMost: 1.25 }
    return {
      readings: [
        judge(comparison, { name: 'bare', ours: 'bare', baseline: 'article', as: 'time', goal }),
        judge(comparison, { name: 'coalescing', ours: 'coalescing', baseline: 'article', as: 'time', goal }),
        judge(comparison, { name: 'Sluice', ours: 'sluice', baseline: 'article', as: 'time', goal }),
        judge(comparison, { name: 'its function of the same name', ours: 'compat', baseline: 'article', as: 'time' }),
        judge(comparison, {
          name: 'Sluice, against rate-limiter-flexible',
          ours: 'sluice',
          baseline: 'flexible',
          as: 'speed',
          goal: { atLeast: 1 },
        }),
        ...OURS.map(([whose, ours]) =>
          judge(comparison, { name: `${whose}, against one prepared UPDATE`, ours, baseline: 'update', as: 'time' }),
        ),
      ],
      tables: [comparison.table],
    }
  },
}

/** Compares limiters on one hot key, all allowed. The first is the baseline of the table. */
export async function comparedOn<Name extends WayName>(
  options: PostgresOptions,
  callers: number,
  ways: readonly Name[],
): Promise<Comparison<Name>> {
  return (await comparedUnder(options, ALLOWED, { callers, keys: 1, ways })).comparison
}

/** How long lanes (measured limiters) are measured and warmed up, computed from the seconds of a comparison. */
export function timesOf({ seconds }: Pick<PartOptions, 'seconds'>): Pick<LanesInput, 'seconds' | 'batchMs' | 'warmUpMs'> {
  return { seconds: seconds * 2, batchMs: Math.min(BATCH_MS, seconds * 20), warmUpMs: seconds * WARM_UP_MS }
}

/** Compares limiters under a load. The first is the baseline of the table. */
export async function comparedUnder<Name extends WayName>(
  options: PostgresOptions,
  profile: Profile,
  load: Pick<LanesInput, 'callers' | 'keys'> & { readonly ways: readonly Name[] },
): Promise<{ readonly comparison: Comparison<Name>; readonly result: LanesResult }> {
  const { url } = options
  const { tokens, per, burst } = profile
  const input: LanesInput = {
    ...timesOf(options),
    url,
    quota: { tokens, per, burst },
    ...load,
  }
  const result = await inChild<LanesResult>('ways', input, { ...options, family: 'postgres' })
  const grantOf = postgresGrants(url, options)
  const known: LaneKnown[] = []
  for (const way of load.ways) known.push({ kind: POSTGRES_WAYS[way].kind, grant: await grantOf(way) })
  return { comparison: comparisonOf(profile, load.ways, result.timed, known), result }
}
