import type { Pipeline } from '../pipeline.ts'
import type { ServerProcess } from './server-process.ts'

/** A server under load: so many requests in each of its turns. */
export interface ServerLane {
  readonly name: string
  readonly server: ServerProcess
  readonly pipeline: Pipeline
  readonly requests: number
  /** The status that every answer must have. */
  readonly status: number
}

export interface ServerTimed {
  readonly name: string
  /** Per request, round by round: processor time of the server's process alone, and wall time. */
  readonly cpuMicros: readonly number[]
  readonly wallMicros: readonly number[]
  /** Answers with another status. */
  readonly wrong: number
}

export interface RoundsOptions {
  readonly warmUp: number
  /** Rounds are made for so long, and at least `least` of them. */
  readonly seconds: number
  readonly least: number
}

/** Loads the servers in turns, forth and back; the others wait meanwhile. */
export async function serverRounds(lanes: readonly ServerLane[], { warmUp, seconds, least }: RoundsOptions): Promise<ServerTimed[]> {
  for (let round = 0; round < warmUp; round += 1) {
    for (const { pipeline, requests } of lanes) {
      await pipeline.revive()
      await pipeline.round(requests)
    }
  }
  const found = lanes.map(({ name }) => ({ name, cpuMicros: [] as number[], wallMicros: [] as number[], wrong: 0 }))
  const until = performance.now() + seconds * 1_000
  for (let round = 0; round < least || performance.now() < until; round += 1) {
    for (let place = 0; place < lanes.length; place += 1) {
      const index = round % 2 === 0 ? place : lanes.length - 1 - place
      const [{ server, pipeline, requests, status }, timed] = [lanes[index] as ServerLane, found[index] as (typeof found)[number]]
      // On a busy machine a lane waits longer for its turn than a server keeps an idle connection.
      await pipeline.revive()
      const before = await server.cpuMicros()
      const started = performance.now()
      const statuses = await pipeline.round(requests)
      const wall = performance.now() - started
      timed.cpuMicros.push(((await server.cpuMicros()) - before) / requests)
      timed.wallMicros.push((wall * 1_000) / requests)
      timed.wrong += requests - (statuses.get(status) ?? 0)
    }
  }
  return found
}
