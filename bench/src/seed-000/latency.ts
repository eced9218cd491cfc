import type { Quota } from '../contestants/contestant.ts'
import type { MeteredRound, OpenPlace } from '../open/lane-order.ts'
import { meteredOver } from '../open/metered.ts'
import { startLanes } from '../open/rounds.ts'
import type { Part, PartResult } from '../part.ts'
import { POSTGRES_WAYS, type WayName } from '../postgres/ways.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { figure } from '../render/columns.ts'
import { type Spread, spreadOf } from '../result/statistics.ts'
import type { Column, Row } from '../result/table.ts'
import { type LaneRounds, sameArrivals } from './arrivals.ts'
import { QUOTED } from './article.ts'

/** Arrivals a second: so few that a database which waits for its disk at every commit can bear them. */
const ARRIVALS = 300
const CALLERS = 16
const GENEROUS: Quota = { tokens: 1_000_000, per: '1s', burst: 10_000_000 }

/** A way on one of the stores. */
export type StoreWay = { readonly store: string } & ({ readonly redis: Way } | { readonly postgres: WayName })

export const STORE_WAYS: readonly StoreWay[] = [
  { store: 'this process', redis: 'memory' },
  { store: 'Redis', redis: 'rate-limit-lua' },
  { store: 'Redis', redis: 'bare' },
  { store: 'Redis', redis: 'sluice' },
  { store: 'PostgreSQL', postgres: 'update' },
  { store: 'PostgreSQL', postgres: 'bare' },
  { store: 'PostgreSQL', postgres: 'sluice' },
  { store: 'Redis', redis: 'ping' },
]

const COLUMNS: readonly Column[] = [
  { key: 'p50', title: 'p50', unit: 'ms', decimals: 3 },
  { key: 'p99', title: 'p99', unit: 'ms', decimals: 3 },
  { key: 'longest', title: 'longest', unit: 'ms' },
  { key: 'undecided', title: 'undecided', unit: '%' },
]

/** The latency of one check in memory, Redis and PostgreSQL under the same arrivals. */
export const latency: Part = {
  name: 'latency',
  title: `one check in memory, Redis and PostgreSQL: ${ARRIVALS} Poisson arrivals a second on random keys`,
  async run(options): Promise<PartResult> {
    const { engines, depth, seconds, say } = options
    const [redis, postgres] = [await engines.redis(), await engines.postgres()]
    const places = STORE_WAYS.map((way, index): OpenPlace => {
      const settings = { callers: CALLERS, keys: 'many', quota: GENEROUS, space: `latency${index}` } as const
      return 'redis' in way ? { ...settings, url: redis.url, redis: way.redis } : { ...settings, url: postgres.url, postgres: way.postgres }
    })
    const lanes = await startLanes(places, options)
    say('warming up')
    for (const lane of lanes) await lane.invoke({ what: 'warm-up', ms: seconds * 400 })
    say(`${ARRIVALS} a second`)
    const rounds = await sameArrivals(lanes, { perSecond: ARRIVALS, ms: seconds * 1_000, rounds: depth === 'quick' ? 3 : 5 })
    say('over-grant')
    const metered: MeteredRound[] = []
    for (const lane of lanes) {
      metered.push((await lane.invoke({ what: 'metered', perSecond: ARRIVALS, seed: 1 })) as MeteredRound)
      await lane.invoke({ what: 'close' })
      lane.kill()
    }
    return latencyResult(rounds, metered)
  },
}

/** Makes the table of the measurements. Before each kind of store stand the figures of the article "Rate Limiting at Scale". */
export function latencyResult(measured: readonly LaneRounds[], metered: readonly MeteredRound[]): PartResult {
  const rows = STORE_WAYS.map((way, index) => rowOf(way, measured[index] as LaneRounds, metered[index] as MeteredRound))
  const quoted = (store: string, p99: string, what: string): Row => ({
    name: `in the article: ${what}`,
    load: store,
    kind: 'quoted',
    cells: { p99 },
  })
  return {
    tables: [
      {
        name: 'latency',
        title: 'from the instant at which a request was due until its answer',
        columns: COLUMNS,
        rows: [
          quoted('this process', QUOTED.memoryP99, 'optimized in-memory structures'),
          quoted('PostgreSQL', QUOTED.databaseP99, 'synchronous database writes'),
          ...rows,
        ],
        rank: { column: 'p99', best: 'least' },
        notes: [
          `Every way gets the same ${figure(ARRIVALS)} arrivals a second, in ${measured[0]?.rounds.length ?? 0} rounds. The servers are on the loopback address, so the time of a network is not included.`,
          'PostgreSQL waits for its disk at each commit, as it does by default (synchronous_commit on). So its rows mainly measure the disk. Requests without an answer by Sluice’s default deadline of 50 ms are undecided.',
        ],
      },
    ],
    figures: { measured, metered },
  }
}

function rowOf(way: StoreWay, { name, rounds, disturbed }: LaneRounds, metered: MeteredRound): Row {
  const kind = 'redis' in way ? wayOf(way.redis).kind : POSTGRES_WAYS[way.postgres].kind
  const of = (which: 'p50' | 'p99' | 'longest'): Spread => spreadOf(rounds.map((round) => round.latency[which] / 1_000))
  const total = rounds.reduce((sum, round) => sum + round.total, 0)
  const undecided = (rounds.reduce((sum, round) => sum + round.undecided, 0) / total) * 100
  const cells = { p50: of('p50'), p99: of('p99'), longest: of('longest'), undecided }
  const row = { name, load: way.store, cells, ...(disturbed === undefined ? {} : { disturbed }) }
  if (kind === 'floor') return { ...row, kind }
  return { ...row, kind, overGrant: meteredOver(metered), wrongAnswers: rounds.reduce((sum, round) => sum + round.refused, 0) }
}
