import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import type { Pipeline } from '../pipeline.ts'
import type { MeasuredServer } from './server-process.ts'

/** A server under load, and the number of requests in each of its turns. */
export interface ServerLane {
  readonly name: string
  readonly server: MeasuredServer
  readonly pipeline: Pipeline
  readonly requests: number
  /** The status that every answer must have. */
  readonly status: number
}

export interface ServerTimed {
  readonly name: string
  /** For each round, the microseconds per request: processor time of the server's process only, and wall time. */
  readonly cpuMicros: readonly number[]
  readonly wallMicros: readonly number[]
  /** Answers with another status below 500. */
  readonly wrong: number
  /** Answers with a status from 500 on, as of a server whose store did not answer in time. */
  readonly failed: number
  readonly total: number
  /** What else used the machine during the lane's turns, in words. */
  readonly disturbed?: string
}

export interface RoundsOptions {
  readonly warmUp: number
  /** Rounds are made for this many seconds, but at least `least` rounds. */
  readonly seconds: number
  readonly least: number
}

/** Loads one server after the other, in alternating order. The other servers are idle meanwhile. */
export async function serverRounds(lanes: readonly ServerLane[], { warmUp, seconds, least }: RoundsOptions): Promise<ServerTimed[]> {
  for (let round = 0; round < warmUp; round += 1) {
    for (const { pipeline, requests } of lanes) {
      await pipeline.revive()
      await pipeline.round(requests)
    }
  }
  const found = lanes.map(({ name }) => ({
    name,
    cpuMicros: [] as number[],
    wallMicros: [] as number[],
    wrong: 0,
    failed: 0,
    total: 0,
    meter: disturbanceMeter(),
  }))
  const until = performance.now() + seconds * 1_000
  for (let round = 0; round < least || performance.now() < until; round += 1) {
    for (let place = 0; place < lanes.length; place += 1) {
      const index = round % 2 === 0 ? place : lanes.length - 1 - place
      const [{ server, pipeline, requests, status }, timed] = [lanes[index] as ServerLane, found[index] as (typeof found)[number]]
      // On a busy machine a server may wait so long for its turn that it has closed the idle connections.
      await pipeline.revive()
      timed.meter.begin()
      const before = await server.cpuMicros()
      await pipeline.revive()
      const started = performance.now()
      const statuses = await pipeline.round(requests)
      const wall = performance.now() - started
      timed.cpuMicros.push(((await server.cpuMicros()) - before) / requests)
      timed.meter.end()
      timed.wallMicros.push((wall * 1_000) / requests)
      const failed = [...statuses].reduce((sum, [code, count]) => (code >= 500 && code !== status ? sum + count : sum), 0)
      timed.total += requests
      timed.failed += failed
      timed.wrong += requests - failed - (statuses.get(status) ?? 0)
    }
  }
  return found.map(({ meter, ...timed }) => ({ ...timed, ...disturbedBy(meter) }))
}
