import type { Engines } from '../engines.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import { POSTGRES_WAYS, type WayName } from '../postgres/lanes.ts'
import { poolIn } from '../postgres/pool.ts'
import { figure, markdownTable, table } from '../report.ts'
import { median, ratiosOf, type Spread } from '../statistics.ts'
import { coldRounds } from './rounds.ts'
import type { ColdInput, ColdSample, ColdWay } from './sample.ts'

export interface ColdOptions extends PartOptions {
  readonly engines: Engines
}

/** Requests of each process. */
export const CALLS = 500

/** The baseline first. */
const REDIS: readonly ColdWay[] = ['baseline', 'bare', 'sluice', 'flexible', 'express-store']
const POSTGRES: Readonly<Partial<Record<ColdWay, WayName>>> = {
  baseline: 'update',
  bare: 'bare',
  sluice: 'sluice',
  flexible: 'flexible',
}

export const coldRedis: Part<ColdOptions> = {
  name: 'redis',
  title: `Redis: the first ${CALLS} requests of a process, one after the other, against one EVALSHA each`,
  async run(options) {
    const { url } = await options.engines.redis()
    return measured(
      REDIS.map((way): ColdInput => ({ engine: 'redis', way, url, space: `cold${way}`, calls: CALLS })),
      options,
    )
  },
}

export const coldPostgres: Part<ColdOptions> = {
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
    return measured(inputs, options)
  },
}

async function measured(inputs: readonly ColdInput[], options: ColdOptions): Promise<PartResult> {
  options.say(`processes of ${inputs.map(({ way }) => way).join(', ')} by turns`)
  const samples = await coldRounds(inputs, options)
  return coldResult(samples)
}

/** The first way is the baseline; samples of one round are held against each other. */
export function coldResult(samples: readonly (readonly ColdSample[])[]): PartResult {
  const [baseline = []] = samples
  const heading = [
    'way',
    'import',
    'open',
    'calls',
    'calls x',
    'quartiles',
    'in all x',
    'first',
    'p50',
    'p99',
    'p50 x',
    'refused',
    'undecided',
  ]
  const rows = samples.map((own) => {
    const middle = (of: (sample: ColdSample) => number): number => median(own.map(of))
    const times = (of: (sample: ColdSample) => number): Spread => ratiosOf(own.map(of), baseline.map(of))
    const calls = times(called)
    const sumOf = (of: (sample: ColdSample) => number): number => own.reduce((sum, sample) => sum + of(sample), 0)
    return [
      own[0]?.name ?? '',
      ...[middle(imported), middle(opened), middle(called)].map((micros) => figure(micros / 1_000, 1)),
      figure(calls.median, 2),
      `${figure(calls.low, 2)} .. ${figure(calls.high, 2)}`,
      figure(times(inAll).median, 2),
      figure(middle(first) / 1_000, 2),
      ...[middle(p50), middle(p99)].map((micros) => figure(micros)),
      figure(times(p50).median, 2),
      ...[sumOf(refused), sumOf(undecided)].map((count) => figure(count)),
    ]
  })
  return {
    readings: [],
    notes: [
      table(heading, rows),
      `import, open, calls: processor time of the process, all threads, user and system, in ms: importing client and limiter; connecting and making ready;`,
      `${CALLS} requests. calls x: against the baseline of the same round; in all x: of the three together. first: wall time of the first request, in ms;`,
      `p50, p99: of all, in us. ${baseline.length} processes of each way, by turns; medians. A first process of each is not counted.`,
    ],
    figures: samples,
    document: markdownTable(heading, rows),
  }
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
