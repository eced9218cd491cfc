import type { GrantCounted } from './audit.ts'
import { figure } from '../render/columns.ts'
import { differencesOf, median } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import type { Answered } from './fields.ts'
import { LATENCY_COLUMNS } from './latency.ts'
import { LOAD, type WebLane, type WebMeasured } from './web-lanes.ts'

const COLUMNS: readonly Column[] = [
  { key: 'added', title: 'added per request', unit: 'us' },
  { key: 'cpu', title: 'a whole request', unit: 'us', decimals: 1 },
  { key: 'fields', title: 'fields' },
  { key: 'lacks', title: 'not reported' },
  { key: 'beyond', title: 'beyond a token bucket', unit: '%', decimals: 0 },
]

const UNDECIDED: Column = { key: 'undecided', title: 'undecided', unit: '%' }

/** Processor time that each contestant adds to a request of its framework, under each load. */
export function webTable({ scenario, lanes, grants }: WebMeasured): Table {
  const bare = lanes.find(({ guard }) => guard === 'bare') as WebLane
  const rounds = bare.timed.cpuMicros.length
  return {
    name: 'added',
    title: `${scenario.title}: processor time of the server that a limiter adds to a request`,
    first: 'limiter',
    columns: bare.latency === undefined ? COLUMNS : [...COLUMNS, ...LATENCY_COLUMNS, UNDECIDED],
    rows: lanes.flatMap((lane) => rowOf(lane, bare, grants.get(lane.guard))),
    rank: { column: 'added', best: 'least' },
    notes: [
      `The time is user and system time of the server’s process, with all its threads. The column \`added per request\` is this time less that of the bare server in the same round. Medians and quartiles are those of ${rounds} rounds.`,
      `Another process sends the requests as one client, over ${LOAD.connections} keep-alive connections with ${LOAD.depth} requests in flight on each. A limiter that answers 429 answers in place of the handler, so it may take less time than the bare server.`,
      'The row `constant fields` has no limiter. Its server sets the header fields of the first Sluice row by hand, with constant values, and answers 200 or 429 as the load requires.',
      'The column `not reported` names what the contestant sends no field for: limit, remaining, reset and policy, and with 429 also Retry-After and Cache-Control.',
      'Over-grant is what passed beyond the contestant’s own promise, while 64 connections flooded the server around the end of a window. Limiters that count in windows promise up to twice the limit there. The column `beyond a token bucket` compares the same requests with burst + rate * time.',
    ],
  }
}

function rowOf(lane: WebLane, bare: WebLane, grant: GrantCounted | undefined): Row[] {
  const { guard, load, contestant, answered, lacks, timed, latency } = lane
  const disturbed = timed.disturbed === undefined ? {} : { disturbed: timed.disturbed }
  const cells = {
    added: lane === bare ? undefined : differencesOf(timed.cpuMicros, bare.timed.cpuMicros),
    cpu: median(timed.cpuMicros),
    fields: answered.fields.length,
    ...(latency === undefined ? {} : { ...latency, undecided: (timed.failed / timed.total) * 100 }),
  }
  // If the counts are in the server's own memory, an answer with 5xx is wrong, too, because no store can be late.
  const wrongAnswers = timed.wrong + (latency === undefined ? timed.failed : 0)
  if (guard === 'constant') return [{ name: 'constant fields', kind: 'floor', load, cells, ...disturbed }]
  if (guard === 'bare')
    return [
      {
        name: 'no limiter',
        kind: 'baseline',
        load,
        cells,
        overGrant: { notAudited: 'it limits nothing' },
        wrongAnswers,
        ...disturbed,
      },
    ]
  // Guards whose over-grant was not measured are left out of the table. They were measured only for a figure with a goal.
  if (contestant === undefined || grant === undefined) return []
  return [
    {
      name: contestant.name,
      kind: contestant.kind,
      load,
      cells: { ...cells, lacks: lacks.join(', ') || 'none', beyond: grant.beyondBucketPercent },
      overGrant: grant.overGrantPercent,
      wrongAnswers,
      ...disturbed,
    },
  ]
}

/** Status and fields with which a contestant answers under a load. */
export interface ContestantAnswer extends Answered {
  readonly name: string
  readonly load: string
}

export function answersOf({ lanes }: WebMeasured): ContestantAnswer[] {
  return lanes.flatMap(({ contestant, load, answered }) => (contestant === undefined ? [] : [{ name: contestant.name, load, ...answered }]))
}

/** The fields that each contestant sends, in words. */
export function fieldNotes({ lanes }: WebMeasured): string[] {
  return lanes.flatMap(({ contestant, load, answered: { fields } }) =>
    contestant === undefined || load !== 'answered with 429'
      ? []
      : [`${contestant.name} answers 429 with ${figure(fields.length)} fields: ${fields.map(([name]) => name).join(', ')}.`],
  )
}
