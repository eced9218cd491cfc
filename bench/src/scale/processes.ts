import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import { scheduleOf } from '../machine/processor.ts'
import type { Part, PartOptions } from '../part.ts'
import { ALLOWED } from '../profiles.ts'
import type { KeyPattern } from '../redis/lane-input.ts'
import { openLane, type RemoteLane } from '../redis/remote-lane.ts'
import type { Batch } from '../redis/rounds.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import type { Plot } from '../result/plot.ts'
import type { Depth } from '../result/suite-result.ts'
import { ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import { sharedOverGrant } from './shared-grant.ts'

const WAYS: readonly Way[] = ['lua', 'bare', 'sluice', 'leases', 'flexible']
const CALLERS = 64

interface Scenario {
  readonly name: string
  readonly keys: KeyPattern
  readonly title: string
  /** The numbers of processes. */
  readonly counts: readonly number[]
}

const HOT = { name: 'hot', keys: 'one', title: 'one key for all processes' } as const
const SCENARIOS: Readonly<Record<Depth, readonly Scenario[]>> = {
  quick: [{ ...HOT, counts: [1, 4] }],
  full: [
    { ...HOT, counts: [1, 2, 4, 8] },
    { name: 'many', keys: 'many', title: '50,000 keys in turn', counts: [1, 2, 8] },
  ],
}
const MIN_ROUNDS = 3

const COLUMNS: readonly Column[] = [
  { key: 'perSecond', title: 'decisions a second' },
  { key: 'ratio', title: 'against the first', unit: 'x' },
  { key: 'server', title: 'Redis busy', unit: '%', decimals: 0 },
  { key: 'calls', title: 'store calls a decision', decimals: 3 },
  { key: 'undecided', title: 'undecided', unit: '%' },
]

/** What one limiter did in one round, with all its processes at the same time. */
interface Together {
  readonly perSecond: number
  readonly busyPercent: number
  readonly batches: readonly Batch[]
}

/** Decisions a second and the load of one Redis, with more and more processes. */
export const processes: Part = {
  name: 'processes',
  title: `decisions a second and the load of one Redis, with 1 to 8 processes of ${CALLERS} callers each`,
  async run(options) {
    const { url, pid } = await options.engines.redis()
    const [tables, plots]: [Table[], Plot[]] = [[], []]
    const over = new Map<Way, number>()
    for (const way of WAYS) {
      options.say(`over-grant of ${way}, 4 processes`)
      over.set(way, await sharedOverGrant(way, { url, processes: 4 }, options))
    }
    for (const scenario of SCENARIOS[options.depth]) {
      const rows: Row[] = []
      for (const count of scenario.counts) {
        options.say(`${scenario.title}: ${count === 1 ? '1 process' : `${count} processes`}`)
        rows.push(...(await measured(scenario, count, { url, pid, over }, options)))
      }
      tables.push(tableOf(scenario, rows))
      plots.push(plotOf(scenario, rows, 'perSecond', 'decisions a second'), plotOf(scenario, rows, 'server', 'Redis busy, in percent'))
    }
    return {
      tables,
      plots,
      notes: [
        'All processes of a way call at the same time, and the ways take turns. The processes and Redis share the machine’s processors, so more processes than processors add no speed.',
        'Over-grant was measured with 4 processes of 16 callers each on one key, with a burst of 10 and a rate of 10 a second.',
      ],
    }
  },
}

interface Place {
  readonly url: string
  readonly pid: number
  readonly over: ReadonlyMap<Way, number>
}

async function measured(scenario: Scenario, count: number, { url, pid, over }: Place, options: PartOptions): Promise<Row[]> {
  const { tokens, per, burst } = ALLOWED
  const batchMs = Math.min(150, options.seconds * 100)
  const fleets: RemoteLane[][] = []
  for (const way of WAYS) {
    // Processes of a way share their keys.
    const space = `scale${scenario.name}${way}${count}`
    const place = { url, batchMs, warmUpMs: options.seconds * 300, quota: { tokens, per, burst }, space }
    const lane = { way, callers: CALLERS, keys: scenario.keys } as const
    const fleet = await Promise.all(Array.from({ length: count }, () => openLane(lane, place, options)))
    await Promise.all(fleet.map((one) => one.warmUp()))
    fleets.push(fleet)
  }
  const found = WAYS.map(() => ({ rounds: [] as Together[], meter: disturbanceMeter() }))
  const until = performance.now() + options.seconds * 1_000
  for (let round = 0; round < MIN_ROUNDS || performance.now() < until; round += 1) {
    for (const [index, fleet] of fleets.entries()) {
      const { rounds, meter } = found[index] as (typeof found)[number]
      meter.begin()
      rounds.push(await together(fleet, pid))
      meter.end()
    }
  }
  for (const fleet of fleets) for (const lane of fleet) await lane.close()
  const [first] = found
  return WAYS.map((way, index): Row => {
    const { rounds, meter } = found[index] as (typeof found)[number]
    const batches = rounds.flatMap((round) => round.batches)
    const sum = (of: (batch: Batch) => number): number => batches.reduce((all, batch) => all + of(batch), 0)
    const { name, kind } = wayOf(way)
    const perSecond = (of: readonly Together[]): number[] => of.map((round) => round.perSecond)
    return {
      name,
      kind: kind === 'floor' ? 'baseline' : kind,
      load: count === 1 ? '1 process' : `${count} processes`,
      cells: {
        perSecond: spreadOf(perSecond(rounds)),
        ratio: ratiosOf(perSecond(rounds), perSecond(first?.rounds ?? [])),
        server: spreadOf(rounds.map(({ busyPercent }) => busyPercent)),
        calls: sum(({ trips }) => trips) / sum(({ total }) => total),
        undecided: (sum(({ errors }) => errors) / sum(({ total }) => total)) * 100,
      },
      overGrant: over.get(way) ?? { notAudited: 'not requested' },
      wrongAnswers: sum(({ total, errors, allowed }) => total - errors - allowed),
      ...disturbedBy(meter),
    }
  })
}

/** One batch of every process at the same time. */
async function together(fleet: readonly RemoteLane[], pid: number): Promise<Together> {
  const server = scheduleOf(pid)
  const before = server().ran
  const started = performance.now()
  const batches = await Promise.all(fleet.map((lane) => lane.batch()))
  const busy = (server().ran - before) / ((performance.now() - started) * 1e6)
  return { perSecond: batches.reduce((sum, { round }) => sum + 1e9 / round.wall, 0), busyPercent: busy * 100, batches }
}

function tableOf({ name, title }: Scenario, rows: readonly Row[]): Table {
  return { name, title, columns: COLUMNS, rows, rank: { column: 'perSecond', best: 'most' } }
}

function plotOf({ name, title }: Scenario, rows: readonly Row[], column: string, what: string): Plot {
  const names = [...new Set(rows.map((row) => row.name))]
  return {
    name: `${name}-${column}`,
    title: `${title}: ${what}`,
    x: { title: 'processes' },
    y: { title: what, log: column === 'perSecond' },
    series: names.map((of) => {
      const own = rows.filter((row) => row.name === of)
      const points = own.map(({ load = '', cells }) => {
        const { median, low, high } = cells[column] as ReturnType<typeof spreadOf>
        return { x: Number.parseInt(load, 10), y: median, low, high }
      })
      return { name: of, kind: own[0]?.kind ?? 'ours', points }
    }),
  }
}
