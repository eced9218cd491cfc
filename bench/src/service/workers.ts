import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BITING, floodServer, grantOf } from '../http/audit.ts'
import { arrivalsFor, type Latency, LATENCY_COLUMNS, latenciesOf } from '../http/latency.ts'
import { databasesOf } from '../http/databases.ts'
import type { ServerProcess } from '../http/server-process.ts'
import { type ServerLane, serverRounds, type ServerTimed } from '../http/server-rounds.ts'
import type { Part, PartOptions } from '../part.ts'
import { openPipeline } from '../pipeline.ts'
import { ALLOWED, type Profile } from '../profiles.ts'
import { ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import { keysOf, posting, startService } from './service-process.ts'

const LOAD = { connections: 16, depth: 4 } as const
const ROUNDS = { warmUp: 3, least: 5 } as const
const MAX_REQUESTS = 2_000
const CLIENTS = keysOf(1_000)
const WAYS = [
  { name: '1 process, memory', workers: 1, shared: false },
  { name: '1 process, Redis', workers: 1, shared: true },
  { name: '2 processes, Redis', workers: 2, shared: true },
] as const
type Way = (typeof WAYS)[number]

const COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'decisions a second' },
  { key: 'ratio', title: 'against the first', unit: 'x' },
  { key: 'cpu', title: 'cpu a decision', unit: 'us', decimals: 1 },
  ...LATENCY_COLUMNS,
  { key: 'undecided', title: 'undecided', unit: '%' },
]

/** Compares one process of the service with two that share a port and a store. */
export const workers: Part = {
  name: 'workers',
  title: 'POST /v1/check of the service with one process and with two that share a Redis',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
    options.atEnd(async () => rmSync(folder, { recursive: true, force: true }))
    const { url } = await options.engines.redis()
    const databases = await databasesOf(url)
    const start = (way: Way, { tokens, per, burst }: Pick<Profile, 'burst'> & typeof BITING): Promise<ServerProcess> =>
      startService(
        { tokens, per, burst },
        { folder, atEnd: options.atEnd, workers: way.workers, ...(way.shared ? { store: databases.next() } : {}) },
      )
    const servers: ServerProcess[] = []
    for (const way of WAYS) servers.push(await start(way, { tokens: ALLOWED.tokens, per: ALLOWED.per, burst: ALLOWED.burst }))
    const { timed, latencies } = await measure(servers, options)
    const grants: number[] = []
    for (const way of WAYS) {
      const server = await start(way, BITING)
      const grant = await floodServer(server.port, checkOf(CLIENTS[0] as string))
      grants.push(grantOf(grant, 'bucket').overGrantPercent)
      await server.stop()
    }
    await databases.clear()
    return { tables: [workersTable(timed, latencies, grants)] }
  },
}

/** A check whose answer has the status of the decision, so that refusals and undecided requests can be counted. */
function checkOf(key: string): Buffer {
  return posting('/v1/check?status=http', JSON.stringify({ key }))
}

async function measure(servers: readonly ServerProcess[], options: PartOptions): Promise<{ timed: ServerTimed[]; latencies: Latency[] }> {
  const requests = Math.min(MAX_REQUESTS, Math.max(200, Math.round(options.seconds * MAX_REQUESTS)))
  const bytes = CLIENTS.map(checkOf)
  const lanes: ServerLane[] = []
  for (const [index, server] of servers.entries()) {
    const pipeline = await openPipeline({ port: server.port, ...LOAD, requests: bytes })
    lanes.push({ name: (WAYS[index] as Way).name, server, pipeline, requests, status: 200 })
  }
  options.say(`${requests} requests by turns to ${lanes.map(({ name }) => name).join('; ')}`)
  const timed = await serverRounds(lanes, { ...ROUNDS, seconds: options.seconds * 2 })
  const perSecond = arrivalsFor(timed)
  const latencies = await latenciesOf(
    servers.map(({ port }) => ({ port, requests: bytes, status: 200, perSecond })),
    options.seconds,
  )
  for (const { pipeline, server } of lanes) {
    pipeline.close()
    await server.stop()
  }
  return { timed, latencies }
}

/** Each limiter with its times, latencies and over-grant, in the order of the limiters. The first is the one with memory. */
export function workersTable(timed: readonly ServerTimed[], latencies: readonly Latency[], grants: readonly number[]): Table {
  const [first] = timed as [ServerTimed]
  return {
    name: 'workers',
    title: 'decisions of the service, one in each request, 1,000 clients, all allowed',
    columns: COLUMNS,
    rows: timed.map((own, index): Row => {
      const { perSecond, p50, p99 } = latencies[index] as Latency
      const { cpuMicros, wallMicros, wrong, failed, total, disturbed } = own
      return {
        name: own.name,
        kind: 'ours',
        cells: {
          rate: spreadOf(wallMicros.map((micros) => 1e6 / micros)),
          ratio: ratiosOf(first.wallMicros, wallMicros),
          cpu: cpuMicros.every((micros) => micros > 0) ? spreadOf(cpuMicros) : undefined,
          perSecond,
          p50,
          p99,
          undecided: (failed / total) * 100,
        },
        overGrant: grants[index] as number,
        wrongAnswers: wrong,
        ...(disturbed === undefined ? {} : { disturbed }),
      }
    }),
    rank: { column: 'rate', best: 'most' },
    notes: [
      'The column `cpu a decision` is user and system time of all processes of the service, without Redis. The client, Redis and the service share the machine, so on two cores a second process has no core for itself.',
      'For `p50` and `p99`, requests arrive at random instants, at 30 % of what the slowest way can answer. Undecided requests were answered with 503 at the store’s deadline.',
    ],
  }
}
