import type { OpenPlace } from '../open/lane-order.ts'
import { type OpenLane, startLanes } from '../open/rounds.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import type { Depth } from '../result/suite-result.ts'
import { median } from '../result/statistics.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { type LaneRounds, sameArrivals } from './arrivals.ts'
import { comparisonResult } from './comparison-tables.ts'
import { type Crowd, startCrowd } from './crowd.ts'
import { COMPARED, type Compared, TERMS } from './compared.ts'
import { overGrantOf } from './drifts.ts'
import { type Climb, climb } from './steps.ts'
import type { Bursts, Sent, Weight } from './worker-order.ts'

const CALLERS = 64
/**
 * Milliseconds for which the arrivals of one step come. In a full run, a pause of the machine of 2 ms delays less than a hundredth of the
 * requests. So it does not decide the p99.
 */
const STEP_MS: Readonly<Record<Depth, number>> = { quick: 100, full: 250 }
/** Ways whose bursts are sent at the same time. */
const WORKERS = 5

/** The comparison table of the article "Rate Limiting at Scale", measured. */
export const comparison: Part = {
  name: 'comparison',
  title: 'four algorithms in Redis: memory, latency, drift, bursts, and how far each scales',
  async run(options): Promise<PartResult> {
    const { url } = await options.engines.redis()
    const crowd = await startCrowd(WORKERS, options)
    // First, because it empties the server.
    const weights = await weighAll(url, crowd, options)
    const shapes = await burstsOf(url, crowd, options)
    const floods = await floodsOf(url, crowd, options)
    crowd.end()
    const { latencies, climbs } = await speedsOf(url, options)
    const found = COMPARED.map((compared, index): Compared => {
      const contestant = wayOf(compared.way)
      const flood = floods[index] as Sent[]
      const { light, heavier } = weights.get(compared.weighedAs ?? compared.way) as Weights
      return {
        ...compared,
        contestant,
        weight: light,
        ...(heavier === undefined ? {} : { heavier }),
        bursts: shapes[index] as Bursts,
        flood,
        overGrant: overGrantOf(contestant, flood),
        latency: latencies[index] as LaneRounds,
        climbs: climbs.map((round) => round[index] as Climb),
      }
    })
    return comparisonResult(found, { latency: latencies.at(-1) as LaneRounds, climbs: climbs.map((round) => round.at(-1) as Climb) })
  },
}

interface Weights {
  readonly light: Weight
  readonly heavier?: Weight
}

async function weighAll(url: string, crowd: Crowd, { say, depth }: PartOptions): Promise<Map<Way, Weights>> {
  const found = new Map<Way, Weights>()
  for (const { way, algorithm, weighedAs } of COMPARED) {
    if (weighedAs !== undefined) continue
    say(`memory of ${TERMS.KEYS} keys, ${way}`)
    const order = { what: 'weigh', url, way, quota: TERMS.LONG, key: 'user:', keys: TERMS.KEYS } as const
    const light = await crowd.weigh({ ...order, charges: TERMS.CHARGES })
    const heavy = algorithm === 'sliding-window-log' && depth === 'full'
    found.set(way, { light, ...(heavy ? { heavier: await crowd.weigh({ ...order, charges: TERMS.LOG_ENTRIES }) } : {}) })
  }
  return found
}

function burstsOf(url: string, crowd: Crowd, { say }: PartOptions): Promise<Bursts[]> {
  say('bursts, and the ends of windows')
  return crowd.bursts(COMPARED.map(({ way }, index) => ({ what: 'bursts', url, way, quota: TERMS.BURSTS, key: `bursts${index}` })))
}

async function floodsOf(url: string, crowd: Crowd, { say }: PartOptions): Promise<Sent[][]> {
  const found: Sent[][] = []
  for (const [index, { way }] of COMPARED.entries()) {
    say(`${TERMS.FLOOD.perSecond} a second from ${TERMS.FLOOD.processes} processes, ${way}`)
    const { perSecond, processes, ms } = TERMS.FLOOD
    found.push(await crowd.flood({ url, way, quota: TERMS.METERED, key: `flood${index}`, perSecond, ms }, processes))
  }
  return found
}

interface Speeds {
  readonly latencies: readonly LaneRounds[]
  readonly climbs: readonly (readonly Climb[])[]
}

/** The last lane is the floor. */
async function speedsOf(url: string, options: PartOptions): Promise<Speeds> {
  const { say, seconds, depth } = options
  const ways: readonly Way[] = [...COMPARED.map(({ way }) => way), 'ping']
  const places = ways.map((way, index): OpenPlace => ({
    url,
    redis: way,
    callers: CALLERS,
    keys: 'many',
    quota: TERMS.GENEROUS,
    space: `compared${index}`,
  }))
  const lanes = await startLanes(places, options)
  say('warming up')
  for (const lane of lanes) await lane.invoke({ what: 'warm-up', ms: seconds * 300 })
  const capacities = await capacitiesOf(lanes, Math.ceil(seconds * 50))
  say(`latency at ${TERMS.ARRIVALS} a second`)
  const latencies = await sameArrivals(lanes, { perSecond: TERMS.ARRIVALS, ms: seconds * 300, rounds: depth === 'quick' ? 3 : 5 })
  const climbs: Climb[][] = []
  for (let seed = 1; seed <= (depth === 'quick' ? 1 : 2); seed += 1) {
    say('more arrivals, step by step')
    climbs.push(await climb(lanes, capacities, { ms: STEP_MS[depth], boundMs: TERMS.BOUND_MS, seed }))
  }
  for (const lane of lanes) {
    await lane.invoke({ what: 'close' })
    lane.kill()
  }
  return { latencies, climbs }
}

async function capacitiesOf(lanes: readonly OpenLane[], ms: number): Promise<number[]> {
  const all = lanes.map((lane) => ({ lane, found: [] as number[] }))
  for (let round = 0; round < 3; round += 1)
    for (const { lane, found } of round % 2 === 0 ? all : all.toReversed())
      found.push((await lane.invoke({ what: 'capacity', ms })) as number)
  return all.map(({ found }) => median(found))
}
