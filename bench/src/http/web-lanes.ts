import { fileURLToPath } from 'node:url'
import { byTwos } from '../by-twos.ts'
import { ALLOWED, DENIED, type Profile } from '../profiles.ts'
import type { PartOptions } from '../part.ts'
import { openPipeline } from '../pipeline.ts'
import { BITING, floodServer, type GrantCounted, grantOf } from './audit.ts'
import type { WebContestant, WebScenario } from './contestants.ts'
import { type Answered, answerOf, type Fields, lacking, TARGET } from './fields.ts'
import type { Databases } from './databases.ts'
import { arrivalsFor, type Latency, latenciesOf } from './latency.ts'
import type { Guard, ServerOrder } from './order.ts'
import { type ServerLane, serverRounds, type ServerTimed } from './server-rounds.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const SCRIPT = fileURLToPath(new URL('web-server.js', import.meta.url))
const REQUEST: Buffer = Buffer.from(`GET ${TARGET} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`)
/** Connections of the load, and requests in flight on each. */
export const LOAD = { connections: 8, depth: 8 } as const
const ROUNDS = { warmUp: 5, least: 5 } as const
/** Requests of a turn for each second of the comparison, and the least and the most requests of a turn. */
const [PER_SECOND, MIN_REQUESTS, MAX_REQUESTS] = [1_000, 200, 2_000] as const

/** The answer to all requests of a load: 200 or 429. */
export type WebLoad = 'answered with 200' | 'answered with 429'
const LOADS: readonly { readonly load: WebLoad; readonly profile: Profile; readonly status: 200 | 429 }[] = [
  { load: 'answered with 200', profile: ALLOWED, status: 200 },
  { load: 'answered with 429', profile: DENIED, status: 429 },
]

/** A contestant, the bare server, or constant fields, under one load. */
export interface WebLane {
  readonly guard: Guard
  readonly load: WebLoad
  readonly timed: ServerTimed
  readonly contestant?: WebContestant
  readonly answered: Answered
  /** What its fields do not report. */
  readonly lacks: readonly string[]
  /** The latency under random arrivals; absent if no store was measured. */
  readonly latency?: Latency
}

export interface WebMeasured {
  readonly scenario: WebScenario
  readonly lanes: readonly WebLane[]
  readonly grants: ReadonlyMap<Guard, GrantCounted>
}

/** `more`: further guards of the framework to measure, such as one without fields. Their requests are answered with 200. */
export interface WebMeasureOptions extends Pick<PartOptions, 'say' | 'atEnd' | 'seconds'> {
  readonly more?: readonly Guard[]
  /** A database for each limiter; default: the memory of its server. With databases, latency is measured, too. */
  readonly databases?: Databases
}

interface Opened {
  readonly known: Omit<WebLane, 'timed'>
  readonly lane: ServerLane
}

/** Measures the contestants of a framework in the same rounds, each in a server of its own. Then measures the over-grant of each. */
export async function measureWeb(scenario: WebScenario, options: WebMeasureOptions): Promise<WebMeasured> {
  const opened = await openLanes(scenario, options)
  const [{ lane: first }] = opened as [Opened]
  options.say(`${opened.length} servers of ${scenario.title}, ${first.requests} requests by turns`)
  const timed = await serverRounds(
    opened.map(({ lane }) => lane),
    { ...ROUNDS, seconds: options.seconds * 2 },
  )
  const latencies = options.databases === undefined ? [] : await latenciesUnder(opened, timed, options.seconds)
  for (const { lane } of opened) {
    lane.pipeline.close()
    await lane.server.stop()
  }
  const lanes = opened.map(({ known }, index): WebLane => {
    const latency = latencies[index]
    return { ...known, timed: timed[index] as ServerTimed, ...(latency === undefined ? {} : { latency }) }
  })
  return { scenario, lanes, grants: await auditsOf(scenario, options) }
}

/** All servers get the same arrivals, which the slowest of them can answer. */
function latenciesUnder(opened: readonly Opened[], timed: readonly ServerTimed[], seconds: number): Promise<Latency[]> {
  const perSecond = arrivalsFor(timed)
  const lanes = opened.map(({ lane: { server, status } }) => ({ port: server.port, status, requests: [REQUEST], perSecond }))
  return latenciesOf(lanes, seconds)
}

/**
 * Opens the bare server, and then, under both loads, a server with constant header fields and the contestants. The constant fields are
 * those of the first contestant, an adapter of Sluice.
 */
async function openLanes({ framework, contestants }: WebScenario, options: WebMeasureOptions): Promise<Opened[]> {
  const requests = Math.min(MAX_REQUESTS, Math.max(MIN_REQUESTS, Math.round(options.seconds * PER_SECOND)))
  const openOne = async (
    guard: Guard,
    { load, profile, status }: (typeof LOADS)[number],
    known: { readonly contestant?: WebContestant; readonly fields?: Fields } = {},
  ): Promise<Opened> => {
    const { contestant, fields = [] } = known
    const { tokens, per, burst } = profile
    const server = await startWeb({ framework, guard, quota: { tokens, per, burst }, fields, status }, options)
    // The first request may take the only token.
    if (status !== 200) await answerOf(server.port)
    const answered = await answerOf(server.port)
    const pipeline = await openPipeline({ port: server.port, ...LOAD, requests: [REQUEST] })
    const lane = { name: `${guard}, ${load}`, server, pipeline, requests, status }
    return { lane, known: { guard, load, answered, lacks: lacking(answered), ...(contestant === undefined ? {} : { contestant }) } }
  }
  const [passing] = LOADS
  const lanes = [await openOne('bare', passing as (typeof LOADS)[number])]
  for (const load of LOADS) {
    const guarded = await byTwos(contestants, (contestant) => openOne(contestant.guard, load, { contestant }))
    lanes.push(await openOne('constant', load, { fields: guarded[0]?.known.answered.fields ?? [] }), ...guarded)
  }
  for (const guard of options.more ?? []) {
    // Further constants are the default fields.
    const fields = guard === 'constant' ? lanes.find(({ known }) => known.guard === 'sluice-default')?.known.answered.fields : undefined
    lanes.push(await openOne(guard, passing as (typeof LOADS)[number], fields === undefined ? {} : { fields }))
  }
  return lanes
}

/**
 * Floods each contestant in a new server, under a limit that the flood exceeds. A flood mostly waits for the end of a window, so all
 * servers are flooded concurrently.
 */
async function auditsOf({ framework, contestants }: WebScenario, options: WebMeasureOptions): Promise<Map<Guard, GrantCounted>> {
  const servers = await byTwos(contestants, async (contestant): Promise<[WebContestant, ServerProcess]> => {
    return [contestant, await startWeb({ framework, guard: contestant.guard, quota: BITING }, options)]
  })
  const counted = servers.map(async ([{ guard, promise }, server]): Promise<[Guard, GrantCounted]> => {
    const grant = await floodServer(server.port, REQUEST)
    await server.stop()
    return [guard, grantOf(grant, promise)]
  })
  return new Map(await Promise.all(counted))
}

/** Starts a server of the suite. Each limiter has a database of its own, because the same keys have other limits in other servers. */
function startWeb(order: ServerOrder, { atEnd, databases }: Pick<WebMeasureOptions, 'atEnd' | 'databases'>): Promise<ServerProcess> {
  const stores = databases !== undefined && order.guard !== 'bare' && order.guard !== 'constant'
  return startServer(SCRIPT, [JSON.stringify(stores ? { ...order, redis: databases.next() } : order)], { atEnd })
}
