import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPipeline } from '../pipeline.ts'
import { amount } from '../reading-text.ts'
import type { Goal, Reading } from '../reading.ts'
import { figure } from '../report.ts'
import { median, ratiosOf } from '../statistics.ts'
import type { Part, PartOptions } from '../part.ts'
import { ALLOWED_KEYS, DENIED, type Profile } from './profiles.ts'
import { type ServerLane, serverRounds, type ServerTimed } from './server-rounds.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const SLUICE = fileURLToPath(new URL('../../../packages/server/dist/main.js', import.meta.url))
const BASELINE = fileURLToPath(new URL('json-server.js', import.meta.url))
const LOAD = { connections: 8, depth: 4 } as const
const ROUNDS = { warmUp: 2, least: 5 } as const
const CLIENTS = 1_000
const MANY = 100
/** Requests of one turn: one check each, or a hundred. */
const REQUESTS = { one: 2_000, many: 100 } as const
const HALF: Goal = { atLeast: 0.5 }
const FOURFOLD: Goal = { atLeast: 4 }
const ABSENT = 'the service does not answer POST /v1/checks yet'

/** The decision service against servers that only read and write the same bytes. */
export const service: Part = {
  name: 'service',
  title: 'the decision service, against node:http servers that read and answer the same bytes',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
    options.atEnd(async () => rmSync(folder, { recursive: true, force: true }))
    const readings: Reading[] = []
    for (const profile of [ALLOWED_KEYS, DENIED]) readings.push(...(await profileOf(profile, folder, options)))
    return {
      readings,
      notes: [
        `${LOAD.connections} kept connections, ${LOAD.depth} requests under way on each, sent by another process; ${figure(CLIENTS)} clients take turns; one rule; store memory.`,
        'Throughput: answers a second of wall time. Processor time: of the server’s process alone; it is steadier where others use the machine.',
        'The baseline of /v1/check collects the body and answers a constant; that of /v1/checks parses the body and prints the answer.',
      ],
    }
  },
}

/** A request to the service, and the answer to it. */
interface Question {
  readonly path: string
  readonly bodies: readonly string[]
  readonly answer: string
}

async function profileOf(profile: Profile, folder: string, options: PartOptions): Promise<Reading[]> {
  const policy = join(folder, `${profile.answer}.yaml`)
  const limit = `rate: ${profile.tokens}/d, burst: ${profile.burst}`
  writeFileSync(policy, `version: 1\nrules:\n  - { name: per-client, key: [header:x-api-key], ${limit} }\n`)
  const sluice = await startServer(SLUICE, ['serve', policy, '--listen', '127.0.0.1:0'], options)
  const one = await questionOf(sluice, '/v1/check', [clients().map((key) => JSON.stringify({ key }))])
  const many = await questionOf(sluice, '/v1/checks', manyBodies())
  const lanes: ServerLane[] = []
  for (const [request, kind] of [
    [one, 'constant'],
    [many, 'print'],
  ] as const) {
    if (request === undefined) continue
    const file = join(folder, `${profile.answer}-${kind}.json`)
    writeFileSync(file, request.answer)
    const baseline = await startServer(BASELINE, [kind, file], options)
    lanes.push(await laneOf(kind, baseline, request), await laneOf(request.path, sluice, request))
  }
  options.say(`${profile.name}: rounds of ${lanes.map(({ name }) => name).join(', ')}`)
  const timed = await serverRounds(lanes, { ...ROUNDS, seconds: options.seconds * 2 })
  const wrong = await wrongOf(sluice, profile)
  for (const { pipeline } of lanes) pipeline.close()
  for (const server of new Set(lanes.map((lane) => lane.server))) await server.stop()
  const [constant, check, print, checks] = timed
  return [
    ...(constant && check ? pair('/v1/check', profile, check, constant, wrong) : []),
    ...checksReadings(profile, check, print, checks, wrong),
  ]
}

function checksReadings(profile: Profile, check?: ServerTimed, print?: ServerTimed, checks?: ServerTimed, wrong: number = 0): Reading[] {
  const name = `/v1/checks of ${MANY}`
  const faster = { name: `${name} against /v1/check, decisions/s`, profile: profile.name, goal: FOURFOLD }
  if (check === undefined || print === undefined || checks === undefined)
    return [
      { name: `${name}, throughput`, profile: profile.name, goal: HALF, absent: ABSENT },
      { ...faster, absent: ABSENT },
    ]
  const spread = ratiosOf(
    check.wallMicros,
    checks.wallMicros.map((micros) => micros / MANY),
  )
  const ours = rate(median(checks.wallMicros) / MANY)
  const baseline = rate(median(check.wallMicros))
  return [
    ...pair(name, profile, checks, print, wrong),
    { ...faster, unit: 'x', value: spread.median, spread, ours, baseline, wrongAnswers: wrong },
  ]
}

/** Throughput and processor time of a server as a share of its baseline's: in both, more is better. */
function pair(name: string, { name: profile }: Profile, ours: ServerTimed, baseline: ServerTimed, wrong: number): Reading[] {
  const [wall, cpu] = [ratiosOf(baseline.wallMicros, ours.wallMicros), ratiosOf(baseline.cpuMicros, ours.cpuMicros)]
  const judged = { profile, unit: 'x', goal: HALF, wrongAnswers: ours.wrong + baseline.wrong + wrong } as const
  const micros = (timed: ServerTimed): string => amount(median(timed.cpuMicros), 'us')
  return [
    {
      ...judged,
      name: `${name}, throughput`,
      value: wall.median,
      spread: wall,
      ours: rate(median(ours.wallMicros)),
      baseline: `${baseline.name} ${rate(median(baseline.wallMicros))}`,
    },
    {
      ...judged,
      name: `${name}, processor time`,
      value: cpu.median,
      spread: cpu,
      ours: micros(ours),
      baseline: `${baseline.name} ${micros(baseline)}`,
    },
  ]
}

async function laneOf(name: string, server: ServerProcess, { path, bodies }: Question): Promise<ServerLane> {
  const requests = bodies.map((body) =>
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  )
  const pipeline = await openPipeline({ port: server.port, ...LOAD, requests })
  return { name, server, pipeline, requests: path === '/v1/check' ? REQUESTS.one : REQUESTS.many, status: 200 }
}

/** Asks every body of a form once; the first form that is answered with 200 is the one. The last answer is kept: it is the steady one. */
async function questionOf(server: ServerProcess, path: string, forms: readonly (readonly string[])[]): Promise<Question | undefined> {
  for (const bodies of forms) {
    let answer: string | undefined
    for (let round = 0; round < 2; round += 1) {
      for (const body of bodies) {
        const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', body })
        const text = await response.text()
        answer = response.status === 200 ? text : undefined
        if (answer === undefined) break
      }
    }
    if (answer !== undefined) return { path, bodies, answer }
  }
  return undefined
}

/** Whether a client that has been checked for the whole run is still answered as the profile says. */
async function wrongOf(server: ServerProcess, { answer }: Profile): Promise<number> {
  const body = JSON.stringify({ key: clients()[0] })
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/check`, { method: 'POST', body })
  const { outcome } = (await response.json()) as { outcome?: string }
  return outcome === answer ? 0 : 1
}

function clients(): string[] {
  return Array.from({ length: CLIENTS }, (_, index) => `client-${1_000 + index}`)
}

/** A list, or an object that holds one. */
function manyBodies(): string[][] {
  const lists = Array.from({ length: CLIENTS / MANY }, (_, list) =>
    clients()
      .slice(list * MANY, (list + 1) * MANY)
      .map((key) => ({ key })),
  )
  return [lists.map((list) => JSON.stringify(list)), lists.map((checks) => JSON.stringify({ checks }))]
}

function rate(micros: number): string {
  return `${figure(1_000_000 / micros)}/s`
}
