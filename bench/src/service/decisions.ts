import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BITING, floodServer, grantOf } from '../http/audit.ts'
import { arrivalsFor, latenciesOf } from '../http/latency.ts'
import type { ServerProcess } from '../http/server-process.ts'
import { startServer } from '../http/server-process.ts'
import { type ServerLane, serverRounds } from '../http/server-rounds.ts'
import type { Part, PartOptions } from '../part.ts'
import { openPipeline } from '../pipeline.ts'
import { ALLOWED_KEYS, DENIED, type Profile } from '../profiles.ts'
import { figure } from '../render/columns.ts'
import { floodLists } from './audit-lists.ts'
import { decisionReadings, decisionTable, type Measured, type Pair } from './decision-table.ts'
import { keysOf, posting, startService } from './service-process.ts'

const BASELINE = fileURLToPath(new URL('json-server.js', import.meta.url))
const LOAD = { connections: 8, depth: 4 } as const
const ROUNDS = { warmUp: 2, least: 5 } as const
const CLIENTS = keysOf(1_000)
const MANY = 100
/** Requests of one turn at most: with one check in each request, and with a hundred. */
const REQUESTS = { one: 2_000, many: 100 } as const

/** Compares the decision service with servers that only read and write the same bytes. */
export const decisions: Part = {
  name: 'decisions',
  title: 'the decision service, against node:http servers that read and answer the same bytes',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
    options.atEnd(async () => rmSync(folder, { recursive: true, force: true }))
    const measured: Measured[] = []
    for (const profile of [ALLOWED_KEYS, DENIED]) measured.push(await profileOf(profile, folder, options))
    const grants = await auditsOf(folder, options)
    return {
      readings: measured.flatMap(decisionReadings),
      tables: [decisionTable(measured, grants)],
      notes: [
        `Another process sends the requests for ${figure(CLIENTS.length)} clients in turn, over ${LOAD.connections} keep-alive connections with ${LOAD.depth} requests in flight on each. The policy has one rule, and the store is in memory.`,
        'Throughput is answers a second of wall time. Processor time is that of the server’s process alone. It varies less than wall time if other processes use the machine.',
        'The baseline of /v1/check reads the body and answers a constant. The baseline of /v1/checks parses the body and serializes an answer.',
      ],
    }
  },
}

/** A path, and the bodies that are sent to it in turn. */
interface PathLoad {
  readonly path: '/v1/check' | '/v1/checks'
  readonly bodies: readonly string[]
  readonly requests: number
}

function pathLoadsOf(seconds: number): readonly [PathLoad, PathLoad] {
  const scale = Math.min(1, Math.max(0.1, seconds))
  const checks = CLIENTS.map((key) => ({ key }))
  const lists = Array.from({ length: checks.length / MANY }, (_, list) => checks.slice(list * MANY, (list + 1) * MANY))
  return [
    { path: '/v1/check', bodies: checks.map((check) => JSON.stringify(check)), requests: REQUESTS.one * scale },
    { path: '/v1/checks', bodies: lists.map((list) => JSON.stringify(list)), requests: REQUESTS.many * scale },
  ]
}

async function profileOf(profile: Profile, folder: string, options: PartOptions): Promise<Measured> {
  const { tokens, per, burst } = profile
  const sluice = await startService({ tokens, per, burst }, { folder, atEnd: options.atEnd })
  const lanes: ServerLane[] = []
  const loads = pathLoadsOf(options.seconds)
  for (const [index, load] of loads.entries()) {
    const kind = index === 0 ? 'constant' : 'print'
    const file = join(folder, `${profile.answer}-${kind}.json`)
    writeFileSync(file, await lastAnswer(sluice, load))
    const baseline = await startServer(BASELINE, [kind, file], options)
    lanes.push(await laneOf(kind, baseline, load), await laneOf(load.path, sluice, load))
  }
  options.say(`${profile.name}: rounds of ${lanes.map(({ name }) => name).join(', ')}`)
  const timed = await serverRounds(lanes, { ...ROUNDS, seconds: options.seconds * 2 })
  const latencies = await latenciesOf(
    lanes.map(({ server: { port }, status }, index) => {
      const pair = timed.slice(index - (index % 2), index - (index % 2) + 2)
      return { port, status, requests: bytesOf(loads[index < 2 ? 0 : 1]), perSecond: arrivalsFor(pair) }
    }),
    options.seconds,
  )
  const wrong = await wrongOf(sluice, profile)
  for (const { pipeline } of lanes) pipeline.close()
  for (const server of new Set(lanes.map((lane) => lane.server))) await server.stop()
  const pairOf = (at: number): Pair => ({
    baseline: { timed: timed[at] as (typeof timed)[number], latency: latencies[at] as (typeof latencies)[number] },
    ours: { timed: timed[at + 1] as (typeof timed)[number], latency: latencies[at + 1] as (typeof latencies)[number] },
  })
  return { profile, wrong, many: MANY, check: pairOf(0), checks: pairOf(2) }
}

async function laneOf(name: string, server: ServerProcess, load: PathLoad): Promise<ServerLane> {
  const pipeline = await openPipeline({ port: server.port, ...LOAD, requests: bytesOf(load) })
  return { name, server, pipeline, requests: Math.ceil(load.requests), status: 200 }
}

function bytesOf({ path, bodies }: PathLoad): Buffer[] {
  return bodies.map((body) => posting(path, body))
}

/** Sends every body twice, because the first answers may differ, and returns the last answer. */
async function lastAnswer(server: ServerProcess, { path, bodies }: PathLoad): Promise<string> {
  let answer = ''
  for (let round = 0; round < 2; round += 1) {
    for (const body of bodies) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', body })
      answer = await response.text()
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${answer}`)
    }
  }
  return answer
}

/** 1 if the answer for a client that was checked during the whole run is not that of the profile, otherwise 0. */
async function wrongOf(server: ServerProcess, { answer }: Profile): Promise<number> {
  const body = JSON.stringify({ key: CLIENTS[0] })
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/check`, { method: 'POST', body })
  const { outcome } = (await response.json()) as { outcome?: string }
  return outcome === answer ? 0 : 1
}

/** Measures the over-grant of single checks and of lists in a flood that exceeds its limit, each in a service of its own. */
async function auditsOf(folder: string, { atEnd }: PartOptions): Promise<{ readonly check: number; readonly checks: number }> {
  const [one, lists] = [await startService(BITING, { folder, atEnd }), await startService(BITING, { folder, atEnd })]
  const key = CLIENTS[0] as string
  const request = posting('/v1/check?status=http', JSON.stringify({ key }))
  const grants = await Promise.all([floodServer(one.port, request), floodLists(lists.port, key, MANY)])
  await one.stop()
  await lists.stop()
  const [check, checks] = grants.map((grant) => grantOf(grant, 'bucket').overGrantPercent) as [number, number]
  return { check, checks }
}
