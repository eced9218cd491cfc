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
      `User and system time of the server’s process, all its threads: differences to the bare server in the same round, medians and quartiles of ${rounds} rounds.`,
      `${LOAD.connections} keep-alive connections, ${LOAD.depth} requests in flight on each, sent by another process; one client. A 429 takes the place of the handler’s answer.`,
      'The row `constant fields` has no limiter: it sets the fields of our first row, and 429, by hand. Fields, not reported: those of limit, remaining, reset, policy,',
      'and with 429 also Retry-After and Cache-Control, that are not sent. Over-grant: what passed beyond the limiter’s own promise in a flood of 64 connections around the end of a window; beyond a token bucket: the same,',
      'against burst + rate * time. Limiters that count in windows promise up to twice the limit there.',
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
  // Without a store on a server, an answer with 5xx is wrong, too, because no store can be late.
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
  // Guards without an audit are left out of the table, because they are measured only for a reading.
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
