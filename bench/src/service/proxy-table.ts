import { type Latency, LATENCY_COLUMNS } from '../http/latency.ts'
import type { ServerTimed } from '../http/server-rounds.ts'
import { ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'

/** One limiter under one load, and the first limiter in the same rounds. */
export interface ProxyRow {
  readonly name: string
  readonly kind: 'floor' | 'peer' | 'ours'
  readonly load: string
  readonly timed: ServerTimed
  readonly first: ServerTimed
  readonly latency: Latency
  /** Answers that differ from those of the load, but that its limit permits. */
  readonly tolerated: number
  /** Over-grant in percent; undefined without a limit. */
  readonly grant: number | undefined
}

const COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'requests a second' },
  { key: 'cpu', title: 'cpu a request', unit: 'us', decimals: 1 },
  { key: 'ratio', title: 'cpu against the first', unit: 'x' },
  ...LATENCY_COLUMNS,
]

/** Makes the table of requests a second, processor time and latency, for the proxies and limiters before a site. */
export function proxyTable(rows: readonly ProxyRow[]): Table {
  return {
    name: 'forward-auth',
    title: 'a request for a file of two bytes, with a limit for each client',
    columns: COLUMNS,
    rows: rows.map(rowOf),
    rank: { column: 'cpu', best: 'least' },
    notes: [
      'nginx has one worker. The service has one process, with the store in its memory. The column `cpu a request` is user and system time of nginx and the service together.',
      'For the column `requests a second`, a client process sends over 8 keep-alive connections with 4 requests in flight on each. The client and the servers share the machine.',
      'For `p50` and `p99`, requests arrive at random instants, at 30 % of what the slowest way can answer. Each latency counts from the instant at which the request was due.',
      'limit_req has a burst with `nodelay`, answers 429 to refused requests, and sends no rate limit fields.',
      'Under `allowed`, 1,000 clients take turns. Under `refused` there is one client with one token a minute, which is the slowest rate of limit_req. Over-grant is what passed beyond burst + rate * time in a flood of 64 connections.',
    ],
  }
}

function rowOf({ name, kind, load, timed, first, latency, tolerated, grant }: ProxyRow): Row {
  const { cpuMicros, wallMicros, wrong, failed, disturbed } = timed
  const { perSecond, p50, p99 } = latency
  // Absent where the system does not report the time of other processes.
  const known = first.cpuMicros.every((micros) => micros > 0)
  const row = {
    name,
    load,
    cells: {
      rate: spreadOf(wallMicros.map((micros) => 1e6 / micros)),
      cpu: known ? spreadOf(cpuMicros) : undefined,
      ratio: known ? ratiosOf(cpuMicros, first.cpuMicros) : undefined,
      perSecond,
      p50,
      p99,
    },
    ...(disturbed === undefined ? {} : { disturbed }),
  }
  // nginx without a limit is no limiter to lose against.
  if (kind === 'floor') return { ...row, kind }
  return { ...row, kind, overGrant: grant ?? { notAudited: 'it limits nothing' }, wrongAnswers: Math.max(0, wrong + failed - tolerated) }
}
