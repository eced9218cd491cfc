import type { Part, PartResult } from '../part.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { figure } from '../render/columns.ts'
import type { Plot } from '../result/plot.ts'
import type { Column, Row } from '../result/table.ts'
import { QUOTED } from './article.ts'
import { TERMS } from './compared.ts'
import { startCrowd } from './crowd.ts'
import { driftPercent, overGrantOf } from './drifts.ts'
import type { Sent } from './worker-order.ts'

/** Callers of each process; each calls again as soon as it is answered. */
const CALLERS = 32

/** Limiters that split the check from the update, or keep a count for each process. */
const NOT_ATOMIC: readonly Way[] = ['get-incr', 'multi-command', 'in-process']
const ATOMIC: readonly Way[] = ['incr-expire', 'rate-limit-lua', 'bare', 'sluice']

const COLUMNS: readonly Column[] = [
  { key: 'perSecond', title: 'requests a second' },
  { key: 'admitted', title: 'admitted' },
  { key: 'drift', title: 'drift', unit: '%' },
  { key: 'undecided', title: 'undecided', unit: '%' },
]

/** A way under the load of some processes. */
export interface Drifted {
  readonly way: Way
  readonly processes: number
  readonly sent: readonly Sent[]
}

/** How much limiters that are not atomic let pass beyond the limit, compared with atomic ones. */
export const drift: Part = {
  name: 'drift',
  title: `one key under ${figure(TERMS.METERED.burst)} a second, ${CALLERS} callers in each of several processes`,
  async run(options): Promise<PartResult> {
    const { engines, depth, seconds, say } = options
    const { url } = await engines.redis()
    const counts = depth === 'quick' ? [1, 4] : [1, 2, 4]
    const crowd = await startCrowd(Math.max(...counts), options)
    const found: Drifted[] = []
    for (const [index, way] of [...NOT_ATOMIC, ...ATOMIC].entries())
      for (const processes of counts) {
        say(`${way}, processes: ${processes}`)
        const load = { url, way, quota: TERMS.METERED, key: `drift${index}n${processes}`, keys: 1, callers: CALLERS }
        const sent = await crowd.press({ ...load, ms: Math.ceil(seconds * 1_500), warmUpMs: 0, note: true }, processes)
        found.push({ way, processes, sent })
      }
    crowd.end()
    return driftResult(found)
  },
}

/** Makes the table and the plot of what was measured. */
export function driftResult(found: readonly Drifted[]): PartResult {
  const quoted: Row = { name: 'in the article: not atomic, on a cluster', kind: 'quoted', cells: { drift: QUOTED.notAtomicDrift } }
  return {
    tables: [
      {
        name: 'drift',
        title: 'what passed beyond the limit',
        columns: COLUMNS,
        rows: [quoted, ...found.map(rowOf)],
        rank: { column: 'drift', best: 'least' },
        notes: [
          `Drift is what passed beyond the limit in the worst interval as long as a window. For a bucket, the limit of such an interval is burst + refill. For ways that are not atomic, drift grows with the number of requests in flight when the limit is reached: here up to ${CALLERS} for each process.`,
          `The limit is ${figure(TERMS.METERED.burst)} a second. With counters in each process, every process admits the whole limit.`,
          'Fixed windows let up to twice the limit pass around the end of a window, which is no fault of atomicity. The windows of different ways begin at different instants, so such an end falls into some runs only. The part `comparison` measures this effect alone.',
        ],
      },
    ],
    plots: [plotOf(found)],
    figures: found.map(({ sent, ...own }) => ({
      ...own,
      sent: sent.map(({ admitted, ...rest }) => ({ ...rest, admitted: admitted.length })),
    })),
  }
}

function rowOf({ way, processes, sent }: Drifted): Row {
  const contestant = wayOf(way)
  const total = sum(sent, (one) => one.total)
  return {
    name: contestant.name,
    load: processes === 1 ? '1 process' : `${processes} processes`,
    kind: contestant.kind as 'ours',
    cells: {
      perSecond: sum(sent, (one) => (one.total / one.elapsedMs) * 1_000),
      admitted: sum(sent, ({ allowed }) => allowed),
      drift: driftOf(way, sent),
      undecided: (sum(sent, ({ undecided }) => undecided) / total) * 100,
    },
    overGrant: overGrantOf(contestant, sent),
  }
}

function driftOf(way: Way, sent: readonly Sent[]): number {
  return driftPercent(
    sent.flatMap(({ admitted }) => admitted),
    wayOf(way).promise ?? 'bucket',
    TERMS.METERED,
  )
}

function sum(sent: readonly Sent[], of: (one: Sent) => number): number {
  return sent.reduce((total, one) => total + of(one), 0)
}

function plotOf(found: readonly Drifted[]): Plot {
  const ways = [...new Set(found.map(({ way }) => way))]
  return {
    name: 'drift',
    title: 'drift over processes',
    x: { title: 'processes' },
    y: { title: 'beyond the limit (%)' },
    series: ways.map((way) => ({
      name: wayOf(way).name,
      kind: wayOf(way).kind as 'ours',
      points: found.filter((own) => own.way === way).map(({ processes, sent }) => ({ x: processes, y: driftOf(way, sent) })),
    })),
  }
}
