import { byTwos } from '../by-twos.ts'
import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import { startOrdered } from '../orders.ts'
import type { PartOptions } from '../part.ts'
import { median } from '../result/statistics.ts'
import type { MeteredRound, OpenOrder, OpenPlace } from './lane-order.ts'
import type { OpenRound } from './open-loop.ts'

/** A way in a process of its own. */
export interface OpenLane {
  readonly name: string
  invoke(order: OpenOrder): Promise<unknown>
  kill(): void
}

/** Whether a load is a share of the baseline's capacity or of the limiter's own. */
export type LoadOf = 'baseline' | 'own'

/** One limiter under one load. In a round, all limiters under the same load have arrivals at the same instants. */
export interface OpenTimed {
  readonly lane: number
  readonly of: LoadOf
  readonly share: number
  readonly perSecond: number
  readonly rounds: readonly OpenRound[]
  /** What else used the machine during these rounds, in words. */
  readonly disturbed?: string
}

export interface OpenMeasured {
  readonly names: readonly string[]
  /** Decisions a second of each limiter with 64 requests in flight. */
  readonly capacities: readonly number[]
  readonly timed: readonly OpenTimed[]
  readonly metered: readonly MeteredRound[]
  /** What else used the machine while each limiter's capacity was measured, and while it was under a limit. */
  readonly limited: readonly { readonly disturbed?: string }[]
}

export interface OpenOptions extends Pick<PartOptions, 'seconds' | 'say' | 'atEnd'> {
  /** Whether to measure loads relative to each limiter's own capacity, too. */
  readonly own: boolean
}

const SHARES = [0.5, 0.9] as const
const ROUND_MS = 1_000
const MIN_ROUNDS = 3
const CAPACITY_ROUNDS = 3
/** Seconds of warm-up, and of one measurement of capacity, for each second of measurement under one load. */
const WARM_UP = 0.3
const CAPACITY = 0.08

/** Starts a process for each of `places`. The first one is the baseline. */
export function startLanes(places: readonly OpenPlace[], { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<OpenLane[]> {
  return byTwos(places, async (place): Promise<OpenLane> => {
    const { hello, invoke, kill } = await startOrdered('lane-process.js', import.meta.url, place, { atEnd })
    return { name: String(hello), invoke, kill }
  })
}

/**
 * Warms all lanes (measured limiters) up and measures their capacity. Then each load is given to one lane after the other, in alternating
 * order, so that other load on the machine affects all lanes alike. At the end each lane is measured under a limit.
 */
export async function openRounds(lanes: readonly OpenLane[], { seconds, say, own }: OpenOptions): Promise<OpenMeasured> {
  const ms = (of: number): number => Math.ceil(seconds * 1_000 * of)
  say('warming up, and capacity')
  for (const lane of lanes) await lane.invoke({ what: 'warm-up', ms: ms(WARM_UP) })
  const capacity = observed(lanes)
  const seen: number[][] = lanes.map(() => [])
  for (let round = 0; round < CAPACITY_ROUNDS; round += 1)
    for (const place of inTurn(lanes.length, round))
      (seen[place] as number[]).push((await capacity.invoke(place, { what: 'capacity', ms: ms(CAPACITY) })) as number)
  const capacities = seen.map(median)
  const timed: OpenTimed[] = []
  for (const of of own ? (['baseline', 'own'] as const) : (['baseline'] as const))
    for (const share of SHARES) {
      say(`${Math.round(share * 100)} % of ${of === 'own' ? 'the own capacity' : 'the baseline’s capacity'}`)
      timed.push(...(await roundsUnder(lanes, { of, share, capacities, ms: ms(1) })))
    }
  say('a limit of an eighth of the arrivals')
  const metered: MeteredRound[] = []
  for (const place of lanes.keys()) {
    const order: OpenOrder = { what: 'metered', perSecond: (capacities[place] as number) * SHARES[0], seed: 1 }
    metered.push((await capacity.invoke(place, order)) as MeteredRound)
  }
  for (const lane of lanes) {
    await lane.invoke({ what: 'close' })
    lane.kill()
  }
  const limited = lanes.map((_, place) => capacity.disturbed(place))
  return { names: lanes.map(({ name }) => name), capacities, timed, metered, limited }
}

interface OpenLoad extends Pick<OpenTimed, 'of' | 'share'> {
  readonly capacities: readonly number[]
  /** Milliseconds of all rounds together. */
  readonly ms: number
}

async function roundsUnder(lanes: readonly OpenLane[], { of, share, capacities, ms }: OpenLoad): Promise<OpenTimed[]> {
  const roundMs = Math.min(ROUND_MS, Math.ceil(ms / MIN_ROUNDS))
  const rates = capacities.map((capacity) => (of === 'own' ? capacity : (capacities[0] as number)) * share)
  const rounds: OpenRound[][] = lanes.map(() => [])
  const { invoke, disturbed } = observed(lanes)
  for (let round = 0; round < Math.max(MIN_ROUNDS, Math.round(ms / roundMs)); round += 1)
    for (const place of inTurn(lanes.length, round)) {
      // For the baseline this load was already measured.
      if (of === 'own' && place === 0) continue
      const order: OpenOrder = { what: 'open', perSecond: rates[place] as number, ms: roundMs, seed: round + 1 }
      ;(rounds[place] as OpenRound[]).push((await invoke(place, order)) as OpenRound)
    }
  return rounds.flatMap((own, lane) =>
    own.length === 0 ? [] : [{ lane, of, share, perSecond: rates[lane] as number, rounds: own, ...disturbed(lane) }],
  )
}

/** The lanes (measured limiters), each with a meter of what else uses the machine while it carries out an order. */
function observed(lanes: readonly OpenLane[]): {
  invoke(place: number, order: OpenOrder): Promise<unknown>
  disturbed(place: number): { readonly disturbed?: string }
} {
  const all = lanes.map((lane) => ({ lane, meter: disturbanceMeter() }))
  return {
    async invoke(place, order) {
      const { lane, meter } = all[place] as (typeof all)[number]
      meter.begin()
      const answer = await lane.invoke(order)
      meter.end()
      return answer
    },
    disturbed: (place) => disturbedBy((all[place] as (typeof all)[number]).meter),
  }
}

function inTurn(count: number, round: number): number[] {
  const places = Array.from({ length: count }, (_, place) => place)
  return round % 2 === 0 ? places : places.toReversed()
}
