import { type Latency, LATENCY_COLUMNS } from '../http/latency.ts'
import type { ServerTimed } from '../http/server-rounds.ts'
import { ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'

/** One way under one load, and the first way in the same rounds. */
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

/** Requests a second, processor time and latency of the ways to limit before a site. */
export function proxyTable(rows: readonly ProxyRow[]): Table {
  return {
    name: 'forward-auth',
    title: 'a request for a file of two bytes, with a limit for each client',
    columns: COLUMNS,
    rows: rows.map(rowOf),
    rank: { column: 'cpu', best: 'least' },
    notes: [
      'nginx with one worker; the service with one process and its memory as the store. cpu: user and system time of nginx and the service together.',
      'Requests a second: 8 keep-alive connections, 4 requests in flight on each; a client process and the servers share the machine. p50, p99: arrivals at random instants,',
      'at 30 % of what the slowest way answers, from the instant at which a request was due. limit_req: burst, nodelay, 429, and no header fields. allowed: 1,000 clients;',
      'refused: one client and a token a minute, the slowest rate of limit_req. Over-grant: beyond burst + rate * time in a flood of 64 connections.',
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
