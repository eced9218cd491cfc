import { poissonArrivals } from '../open/arrivals.ts'
import { openLoop, type OpenRound } from '../open/open-loop.ts'
import { median, type Spread, spreadOf } from '../result/statistics.ts'
import type { Column } from '../result/table.ts'
import { openClient } from './open-client.ts'
import type { ServerTimed } from './server-rounds.ts'

/** A server under arrivals that do not depend on its answers. */
export interface LatencyLane {
  readonly port: number
  readonly requests: readonly Buffer[]
  readonly status: number
  /** Arrivals a second. */
  readonly perSecond: number
}

export interface Latency {
  readonly perSecond: number
  /** Microseconds from the instant at which a request was due until its answer. */
  readonly p50: Spread
  readonly p99: Spread
}

export const LATENCY_COLUMNS: readonly Column[] = [
  { key: 'perSecond', title: 'arrivals a second' },
  { key: 'p50', title: 'p50', unit: 'us', decimals: 0 },
  { key: 'p99', title: 'p99', unit: 'us', decimals: 0 },
]

const CONNECTIONS = 32
const ROUNDS = 3
/** Milliseconds of a round for each second of the comparison, and the most milliseconds of a round. */
const [ROUND_MS, MAX_ROUND_MS] = [250, 1_000] as const
/** The arrivals, as a share of the capacity of the slowest of the servers that are compared. */
const SHARE = 0.3

/** Arrivals a second that all of these servers can answer. */
export function arrivalsFor(compared: readonly ServerTimed[]): number {
  return Math.max(1, Math.floor((SHARE * 1e6) / Math.max(...compared.map(({ wallMicros }) => median(wallMicros)))))
}

/** Sends requests at random instants to one server after the other, in alternating order, with the same instants in a round. */
export async function latenciesOf(lanes: readonly LatencyLane[], seconds: number): Promise<Latency[]> {
  const ms = Math.min(MAX_ROUND_MS, seconds * ROUND_MS)
  const clients = await Promise.all(lanes.map((lane) => openClient({ ...lane, connections: CONNECTIONS })))
  const rounds = lanes.map((): OpenRound[] => [])
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (let place = 0; place < lanes.length; place += 1) {
      const index = round % 2 === 0 ? place : lanes.length - 1 - place
      const [lane, client] = [lanes[index] as LatencyLane, clients[index] as (typeof clients)[number]]
      const measured = await openLoop(client, poissonArrivals(lane.perSecond, ms, round + 1))
      // The first round warms up.
      if (round > 0 && measured.total > 0) (rounds[index] as OpenRound[]).push(measured)
    }
  }
  for (const client of clients) client.close()
  return lanes.map(({ perSecond }, index) => latencyOf(perSecond, rounds[index] as OpenRound[]))
}

function latencyOf(perSecond: number, rounds: readonly OpenRound[]): Latency {
  return {
    perSecond,
    p50: spreadOf(rounds.map(({ latency }) => latency.p50)),
    p99: spreadOf(rounds.map(({ latency }) => latency.p99)),
  }
}
