import type { Plot } from '../result/plot.ts'
import { spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import type { Grant } from '../redis/grants.ts'
import type { RedisOptions, RedisPart } from '../redis/redis-part.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { HOT_KEY, LESSONS } from './article.ts'
import { type Observed, observe } from './clocks.ts'
import type { Measured } from './contention.ts'
import { loadsOf, textOf } from './loads.ts'
import { lanesUnder, testOf } from './measured.ts'
import { REGRESSION, REGRESSION_LOAD } from './scenarios.ts'

const STORING: readonly Way[] = ['lua-last-time', 'lua-article', 'lua-server-time', 'sluice']
const WRITING: readonly Way[] = ['multi-command-printed', 'multi-command', 'multi-command-allowed-only']
/** WATCH, HMGET and the transaction. */
const CALLS_OF_A_TRY = 3
const DRAWN = 60

/** The article's "Lessons Learned" as runs. */
export const lessons: RedisPart = {
  name: 'lessons',
  title: 'the article’s lessons: timestamps that go back, writing on denial, retries against throughput',
  async run(options) {
    options.say('timestamps that go back')
    const observed = await observe(options, REGRESSION, STORING, REGRESSION_LOAD)
    const grants: [Way, Grant][] = []
    for (const way of WRITING) {
      options.say(wayOf(way).name)
      grants.push([way, await testOf(options, way)])
    }
    const measured = await hotLoads(options)
    return { tables: [regressionTable(observed), writeTable(grants), watchTable(measured)], plots: timeline(observed) }
  },
}

async function hotLoads(options: RedisOptions): Promise<Measured[]> {
  const all: Measured[] = []
  for (const load of loadsOf(options.depth, 'hot_key')) all.push({ load, lanes: await lanesUnder(options, load) })
  return all
}

const REGRESSION_COLUMNS: readonly Column[] = [
  { key: 'total', title: 'decided' },
  { key: 'errors', title: 'errors' },
  { key: 'allowed', title: 'allowed' },
  { key: 'exact', title: 'an exact bucket' },
  { key: 'article', title: 'over_grant of the article', unit: '%' },
]

export function regressionTable({ results }: Pick<Observed, 'results'>): Table {
  const { lastTime, latestTime } = LESSONS.timestampRegression
  const quoted: Partial<Record<Way, Row>> = {
    'lua-last-time': { name: 'ts = now in the article', kind: 'quoted', cells: { article: lastTime } },
    'lua-article': { name: 'math.max(now, ts) in the article', kind: 'quoted', cells: { article: latestTime } },
  }
  const rows = results.flatMap(({ way, name, total, errors, allowed, exactAllowed, overGrantPercent }): Row[] => {
    const cells = { total, errors, allowed, exact: exactAllowed }
    const row: Row = { name, kind: wayOf(way).kind as 'ours', cells, overGrant: overGrantPercent }
    const other = quoted[way]
    return other === undefined ? [row] : [row, other]
  })
  const { hosts, perSecond, rate, burst } = REGRESSION_LOAD
  return {
    name: 'timestamp-regression',
    title: `timestamps that go back: ${hosts} hosts without skew, ${perSecond} requests a second, burst ${burst}, ${rate}/s`,
    columns: REGRESSION_COLUMNS,
    rows,
    notes: [
      'Each host has a connection through a proxy that delays each direction by 2.5 to 7.5 ms, so requests arrive in another order than their timestamps.',
      'Errors are requests without a decision, such as those without an answer by the deadline of 1 s. The column `an exact bucket` is what an exact bucket would allow of the decided requests.',
      'The over-grant (the excess in the worst interval, in percent of burst + rate * length) depends on how many requests overtake each other. The article states approximate figures, for goroutines on one machine.',
    ],
  }
}

const WRITE_COLUMNS: readonly Column[] = [
  { key: 'total', title: 'total' },
  { key: 'allowed', title: 'allowed' },
  { key: 'reckoned', title: 'over_grant of the article', unit: '%' },
]

export function writeTable(grants: readonly (readonly [Way, Grant])[]): Table {
  const { always, onlyWhenAllowed } = LESSONS.writeBack
  const quoted: Partial<Record<Way, Row>> = {
    'multi-command-printed': { name: 'always writes, in the article', kind: 'quoted', cells: { reckoned: always } },
    'multi-command-allowed-only': {
      name: 'writes only when allowed, in the article',
      kind: 'quoted',
      cells: { reckoned: onlyWhenAllowed },
    },
  }
  const rows = grants.flatMap(([way, { name, total, allowed, overNominalPercent, overGrantPercent }]): Row[] => {
    const cells = { total, allowed, reckoned: overNominalPercent }
    const row: Row = { name, kind: wayOf(way).kind as 'baseline', cells, overGrant: overGrantPercent }
    const other = quoted[way]
    return other === undefined ? [row] : [row, other]
  })
  return {
    name: 'write-back',
    title: 'multi-command: what is written on denial, in the test of the part over-grant',
    columns: WRITE_COLUMNS,
    rows,
    notes: [
      'The article’s code as printed writes max(tokens - cost, 0) when it denies, which destroys the part of a token that was refilled. The other two variants keep this part, and differ in what they write on denial.',
    ],
  }
}

const WATCH_COLUMNS: readonly Column[] = [
  { key: 'calls', title: 'store calls', decimals: 2 },
  { key: 'tries', title: 'tries', decimals: 2 },
  { key: 'perSecond', title: 'decisions a second' },
  { key: 'share', title: 'of Lua’s', unit: '%' },
  { key: 'errors', title: 'given up', unit: '%' },
]

/** Retries of WATCH against its throughput, over callers. */
export function watchTable(all: readonly Measured[]): Table {
  const rows = all.flatMap(({ load, lanes }): Row[] => {
    const [lua, watch] = [lanes[0], lanes.find(({ way }) => way === 'watch')]
    if (lua === undefined || watch === undefined) return []
    const { name, rounds, storeCalls, total, errors, disturbed } = watch.timed
    const perSecond = rounds.map(({ wall }) => 1e9 / wall)
    const share = rounds.map(({ wall }, index) => ((lua.timed.rounds[index]?.wall ?? Number.NaN) / wall) * 100)
    const callers = textOf(load)
    const cells = {
      calls: storeCalls,
      tries: storeCalls / CALLS_OF_A_TRY,
      perSecond: spreadOf(perSecond),
      share: spreadOf(share),
      errors: (errors / total) * 100,
    }
    const doubt = disturbed === undefined ? {} : { disturbed }
    const row: Row = { name, load: callers, kind: 'baseline', cells, overGrant: watch.grant.overGrantPercent, ...doubt }
    const [line, baseline] = [HOT_KEY.watch[load.callers], HOT_KEY['lua-article'][load.callers]]
    if (line === undefined || baseline === undefined) return [row]
    const { calls, nanoseconds } = line
    const quoted = { calls, perSecond: 1e9 / nanoseconds, share: (baseline.nanoseconds / nanoseconds) * 100 }
    return [row, { name: 'WatchMultiExec in the article', load: callers, kind: 'quoted', cells: quoted }]
  })
  return {
    name: 'watch-retries',
    title: 'WATCH: retries against throughput',
    columns: WATCH_COLUMNS,
    rows,
    rank: { column: 'perSecond', best: 'most' },
    notes: [
      'The column `tries` is the store calls of a request divided by three, because each try makes three calls. A request is given up after 20 tries. The column `of Lua’s` compares the decisions a second with those of the article’s Lua program in the same round.',
    ],
  }
}

/**
 * The plot of timestamps that go back, as in the article "Benchmarking Token Bucket Rate Limiters": the stored instants of the bucket, in
 * the order in which the server decided.
 */
export function timeline({ results }: Pick<Observed, 'results'>): Plot[] {
  const sent = results.find(({ way }) => way === 'lua-last-time')?.sent.slice(0, DRAWN) ?? []
  const first = sent[0] ?? 0
  let latest = Number.NEGATIVE_INFINITY
  return [
    {
      name: 'timestamps',
      title: 'the stored timestamp, request by request',
      x: { title: 'requests in the order of the server' },
      y: { title: 'ms since the first' },
      series: [
        { name: 'ts = now', kind: 'baseline', points: sent.map((ms, x) => ({ x, y: ms - first })) },
        {
          name: 'ts = math.max(now, ts)',
          kind: 'computed',
          points: sent.map((ms, x) => {
            latest = Math.max(latest, ms)
            return { x, y: latest - first }
          }),
        },
      ],
      steps: true,
    },
  ]
}
