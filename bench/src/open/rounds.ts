import { startOrdered } from '../orders.ts'
import type { PartOptions } from '../part.ts'
import { median } from '../statistics.ts'
import type { MeteredRound, OpenOrder, OpenPlace } from './lane-order.ts'
import type { OpenRound } from './open-loop.ts'

/** A way in a process of its own. */
export interface OpenLane {
  readonly name: string
  invoke(order: OpenOrder): Promise<unknown>
  kill(): void
}

/** Whose capacity a load is a part of. */
export type LoadOf = 'baseline' | 'own'

/** One way under one load: rounds, each with arrivals at the same instants as that of every other way under that load and round. */
export interface OpenTimed {
  readonly lane: number
  readonly of: LoadOf
  readonly share: number
  readonly perSecond: number
  readonly rounds: readonly OpenRound[]
}

export interface OpenMeasured {
  readonly names: readonly string[]
  /** Decisions a second of each way with 64 requests under way. */
  readonly capacities: readonly number[]
  readonly timed: readonly OpenTimed[]
  readonly metered: readonly MeteredRound[]
}

export interface OpenOptions extends Pick<PartOptions, 'seconds' | 'say' | 'atEnd'> {
  /** Also loads by each way's own capacity. */
  readonly own: boolean
}

const SHARES = [0.5, 0.9] as const
const ROUND_MS = 1_000
const MIN_ROUNDS = 3
const CAPACITY_ROUNDS = 3
/** Seconds that a lane warms up, and of one measurement of its capacity, for each second that it has under one load. */
const WARM_UP = 0.3
const CAPACITY = 0.08
/** Two windows of those who count in windows of a second, in milliseconds. */
const METERED_MS = 2_000

/** Starts a process for each place; the first one is the baseline. */
export async function startLanes(places: readonly OpenPlace[], { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<OpenLane[]> {
  const lanes: OpenLane[] = []
  for (const place of places) {
    const { hello, invoke, kill } = await startOrdered('lane-process.js', import.meta.url, place, { atEnd })
    lanes.push({ name: String(hello), invoke, kill })
  }
  return lanes
}

/**
 * Warms all lanes up, measures their capacity, then gives each load to one lane after the other, forth and back: whatever else the machine
 * does falls on all alike. At last each is held against a limit.
 */
export async function openRounds(lanes: readonly OpenLane[], { seconds, say, own }: OpenOptions): Promise<OpenMeasured> {
  const ms = (of: number): number => Math.ceil(seconds * 1_000 * of)
  const roundMs = Math.min(ROUND_MS, ms(1 / MIN_ROUNDS))
  say('warming up, and capacity')
  for (const lane of lanes) await lane.invoke({ what: 'warm-up', ms: ms(WARM_UP) })
  const seen: number[][] = lanes.map(() => [])
  for (let round = 0; round < CAPACITY_ROUNDS; round += 1)
    for (const place of inTurn(lanes.length, round))
      (seen[place] as number[]).push((await (lanes[place] as OpenLane).invoke({ what: 'capacity', ms: ms(CAPACITY) })) as number)
  const capacities = seen.map(median)
  const timed: OpenTimed[] = []
  for (const of of own ? (['baseline', 'own'] as const) : (['baseline'] as const))
    for (const share of SHARES) {
      say(`${Math.round(share * 100)} % of ${of === 'own' ? 'the own capacity' : 'the baseline’s capacity'}`)
      const rates = capacities.map((capacity) => (of === 'own' ? capacity : (capacities[0] as number)) * share)
      const rounds: OpenRound[][] = lanes.map(() => [])
      for (let round = 0; round < Math.max(MIN_ROUNDS, Math.round(ms(1) / roundMs)); round += 1)
        for (const place of inTurn(lanes.length, round)) {
          // The baseline's own capacity was had already.
          if (of === 'own' && place === 0) continue
          const order: OpenOrder = { what: 'open', perSecond: rates[place] as number, ms: roundMs, seed: round + 1 }
          ;(rounds[place] as OpenRound[]).push((await (lanes[place] as OpenLane).invoke(order)) as OpenRound)
        }
      timed.push(
        ...rounds.flatMap((of_, lane) => (of_.length === 0 ? [] : [{ lane, of, share, perSecond: rates[lane] as number, rounds: of_ }])),
      )
    }
  say('a limit that half of the arrivals keep to')
  const metered: MeteredRound[] = []
  for (const [place, lane] of lanes.entries()) {
    const order: OpenOrder = { what: 'metered', perSecond: (capacities[place] as number) * SHARES[0], ms: METERED_MS, seed: 1 }
    metered.push((await lane.invoke(order)) as MeteredRound)
  }
  for (const lane of lanes) {
    await lane.invoke({ what: 'close' })
    lane.kill()
  }
  return { names: lanes.map(({ name }) => name), capacities, timed, metered }
}

function inTurn(count: number, round: number): number[] {
  const places = Array.from({ length: count }, (_, place) => place)
  return round % 2 === 0 ? places : places.toReversed()
}
