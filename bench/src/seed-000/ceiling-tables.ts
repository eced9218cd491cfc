import type { PartResult } from '../part.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { figure } from '../render/columns.ts'
import type { Plot } from '../result/plot.ts'
import { median, spreadOf } from '../result/statistics.ts'
import type { Column, OverGrant, Row, Table } from '../result/table.ts'
import { QUOTED } from './article.ts'
import type { Sent } from './worker-order.ts'

/** One round of a way in some processes. */
export interface Lifted {
  readonly way: Way
  readonly keys: number
  readonly processes: number
  readonly sent: readonly Sent[]
  /** Time that the server's thread ran, in nanoseconds, warm-up included. */
  readonly serverNs: number
  /** What else used the machine meanwhile, in words. */
  readonly disturbed?: string
}

const COLUMNS: readonly Column[] = [
  { key: 'perSecond', title: 'decisions a second' },
  { key: 'commands', title: 'commands a decision', decimals: 4 },
  { key: 'server', title: 'Redis’s time a decision', unit: 'us', decimals: 3 },
  { key: 'undecided', title: 'undecided', unit: '%' },
]
const MILLION_COLUMNS: readonly Column[] = [
  { key: 'processes', title: 'processes like these', decimals: 1 },
  { key: 'commands', title: 'commands a second at Redis' },
  { key: 'servers', title: 'Redis threads kept busy', decimals: 2 },
]

/**
 * Makes a table of the measured rounds. A second table is computed from the rounds with the most processes: what a million decisions a
 * second would need.
 */
export function ceilingResult(found: readonly Lifted[], over: ReadonlyMap<Way, OverGrant>): PartResult {
  const groups = grouped(found)
  const most = Math.max(...found.map(({ processes }) => processes))
  const measured: Table = {
    name: 'ceiling',
    title: 'the ceiling of this machine',
    columns: COLUMNS,
    rows: groups.map((rounds) => rowOf(rounds, over)),
    rank: { column: 'perSecond', best: 'most' },
    notes: [
      'The processes, Redis and the bench share the cores of one machine, so a second process takes time from Redis. The column `Redis’s time a decision` is the processor time of Redis’s main thread.',
    ],
  }
  const quoted: Row = { name: `in the article: ${figure(QUOTED.perSecond)} a second on a cluster`, kind: 'quoted', cells: {} }
  const million: Table = {
    name: 'million',
    title: `what ${figure(QUOTED.perSecond)} decisions a second need, computed`,
    columns: MILLION_COLUMNS,
    rows: [quoted, ...groups.filter(([first]) => first?.processes === most).map(millionOf)],
    notes: [
      `This table is computed from the rows with ${most} processes. Processes = 1,000,000 * processes / decisions a second. Commands = 1,000,000 * commands a decision. Busy threads = 1,000,000 * Redis’s time a decision / 1 s.`,
      'The table assumes that all three grow in proportion to the decisions. So each process must have a processor like the ones here. Redis must have as many shards as busy threads. One key belongs to one shard, so the rows `one key` assume such a key on each shard.',
    ],
  }
  return { tables: [measured, million], plots: [plotOf(groups)], figures: found }
}

/** The rounds of each load and limiter, in the order in which they were first measured. */
function grouped(found: readonly Lifted[]): Lifted[][] {
  const groups = new Map<string, Lifted[]>()
  for (const own of found) {
    const name = `${own.keys} ${own.processes} ${own.way}`
    groups.set(name, [...(groups.get(name) ?? []), own])
  }
  return [...groups.values()]
}

function perSecondOf({ sent }: Lifted): number {
  return sent.reduce((sum, { total, undecided, elapsedMs }) => sum + ((total - undecided) / elapsedMs) * 1_000, 0)
}

function sumOf(sent: readonly Sent[], of: (one: Sent) => number): number {
  return sent.reduce((sum, one) => sum + of(one), 0)
}

function commandsOf({ sent }: Lifted): number {
  return sumOf(sent, ({ commands }) => commands) / sumOf(sent, ({ total }) => total)
}

/** Redis's time for a decision in microseconds. Decisions of the warm-up are counted, because Redis's time includes the warm-up. */
function serverOf({ sent, serverNs }: Lifted): number {
  return serverNs / 1_000 / sumOf(sent, ({ total, warmedUp }) => total + warmedUp)
}

function loadOf({ keys, processes }: Lifted): string {
  return `${keys === 1 ? 'one key' : `${figure(keys)} keys`}, ${processes === 1 ? '1 process' : `${processes} processes`}`
}

function rowOf(rounds: readonly Lifted[], over: ReadonlyMap<Way, OverGrant>): Row {
  const [first] = rounds as readonly [Lifted]
  const disturbed = rounds.find((round) => round.disturbed !== undefined)?.disturbed
  const { name, kind } = wayOf(first.way)
  const all = rounds.flatMap(({ sent }) => sent)
  const [total, undecided, allowed] = [sumOf(all, (one) => one.total), sumOf(all, (one) => one.undecided), sumOf(all, (one) => one.allowed)]
  return {
    name,
    load: loadOf(first),
    kind: kind as 'ours',
    cells: {
      perSecond: spreadOf(rounds.map(perSecondOf)),
      commands: median(rounds.map(commandsOf)),
      server: median(rounds.map(serverOf)),
      undecided: (undecided / total) * 100,
    },
    overGrant: over.get(first.way) ?? { notAudited: 'it was not sent under a limit' },
    wrongAnswers: total - undecided - allowed,
    ...(disturbed === undefined ? {} : { disturbed }),
  }
}

function millionOf(rounds: readonly Lifted[]): Row {
  const [first] = rounds as readonly [Lifted]
  const million = QUOTED.perSecond
  return {
    name: wayOf(first.way).name,
    load: first.keys === 1 ? 'one key' : `${figure(first.keys)} keys`,
    kind: 'computed',
    cells: {
      processes: (million * first.processes) / median(rounds.map(perSecondOf)),
      commands: million * median(rounds.map(commandsOf)),
      servers: (million * median(rounds.map(serverOf))) / 1e6,
    },
  }
}

function plotOf(groups: readonly (readonly Lifted[])[]): Plot {
  const names = [...new Set(groups.map(([first]) => `${first?.way} ${first?.keys}`))]
  return {
    name: 'ceiling',
    title: 'decisions a second over processes',
    x: { title: 'processes' },
    y: { title: 'decisions a second', log: true },
    series: names.map((name) => {
      const own = groups.filter(([first]) => `${first?.way} ${first?.keys}` === name)
      const [[first]] = own as [[Lifted]]
      const { name: title, kind } = wayOf(first.way)
      return {
        name: `${title}, ${first.keys === 1 ? 'one key' : `${figure(first.keys)} keys`}`,
        kind: kind as 'ours',
        points: own.map((rounds) => {
          const { low, median: y, high } = spreadOf(rounds.map(perSecondOf))
          return { x: (rounds[0] as Lifted).processes, y, low, high }
        }),
      }
    }),
  }
}
