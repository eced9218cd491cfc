import { type BucketPlan, planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { equalRoster } from '../../src/regions/rights/roster.ts'
import { seeded } from '../../src/testing/random.ts'
import { DRIFT_PARTS } from './audit.ts'
import { type CountersNetwork, type CountersNetworkOptions, type CountersPrograms, createCountersNetwork } from './counters-network.ts'

/**
 * One thing that happens. An action whose numbers name nothing that exists does nothing, so any action can be left out when a history is
 * shortened.
 */
type Action = readonly [
  kind: 'wait' | 'call' | 'pull' | 'deliver' | 'drop' | 'cut' | 'heal' | 'lose' | 'step' | 'sweep',
  ...numbers: number[],
]

export interface CountersHistory {
  readonly seed: number
  readonly network: Omit<CountersNetworkOptions, 'programs'>
  readonly actions: readonly Action[]
}

/** What occurred, and how it ended. */
export interface CountersOutcome {
  /** The most tokens above the bound by audits (a) and (b), in bursts. Above 0 if the bound was exceeded. */
  readonly a: number
  readonly b: number
  /** Audit (c): how many microseconds longer than its cutoff a region did not know a call of a peer, although it was not cut off. */
  readonly stale: number
  /** `agreed`: after one round of reads all regions know all calls. `full`: all buckets are full in the end. */
  readonly agreed: boolean
  readonly full: boolean
  readonly coverage: ReturnType<typeof newCoverage>
}

export function newCoverage() {
  return { partitions: 0, oneWay: 0, losses: 0, steps: 0, repeats: 0, cutOff: 0, charged: 0, rollouts: 0, reached: 0 }
}

/** A random history. Equal seeds give equal histories. */
export function countersHistoryOf(seed: number): CountersHistory {
  const random = seeded(seed)
  const below = (bound: number): number => Math.floor(random() * bound)
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const chance = (part: number): boolean => random() < part
  const regions = oneOf([2, 2, 3, 3, 4])
  const clocks = chance(0.4)
  const rates = (draw: typeof oneOf): BucketPlan => planOf(draw([1, 2, 3, 10]), draw([1, 1, 1, 3]), draw([10, 30, 40, 60, 100]) * MICRO)
  const plan = rates(oneOf)
  // Drawn by random numbers of its own, so that the rest of a history does not depend on whether it has a rollout.
  const rollout = seeded(seed + 0x5eed)
  const limits = rollout() < 0.3 ? [plan, rates((values) => values[Math.floor(rollout() * values.length)] as never)] : [plan]
  /** While a limit is rolled out, both take turns. */
  const policy = (): number => Math.floor(rollout() * limits.length)
  const fill = plan.emptyBefore.micros
  const grid = (micros: number): number => Math.max(1, Math.round(micros / DRIFT_PARTS)) * DRIFT_PARTS
  const region = (): number => below(regions)
  const other = (not: number): number => (not + 1 + below(regions - 1)) % regions
  const [crashes, parts] = [chance(0.3) ? 1 : 0, chance(0.5) ? 1 : 0]
  const offset = (): number => (clocks ? (below(2001) - 1000) * DRIFT_PARTS : 0)
  const cells = oneOf([1, 1, 1, 2])
  const withOther = (draw: (from: number, to: number) => Action): Action => {
    const from = region()
    return draw(from, other(from))
  }
  const drawn: readonly (readonly [weight: number, draw: () => Action])[] = [
    [12, () => ['wait', grid(oneOf([0, 0.001, 0.02, 0.1, 0.3, 0.6, 1.1]) * fill * random())]],
    [8, () => ['call', region(), oneOf([0.1, 0.5, 1, 1, 2, 5]) * MICRO, below(cells), policy()]],
    [10, () => ['call', region(), 0, below(cells), policy()]],
    [16, () => withOther((from, to) => ['pull', from, to])],
    [28, () => ['deliver', random(), chance(0.15) ? 1 : 0]],
    [2, () => ['drop', random()]],
    [3 * parts, () => withOther((from, to) => ['cut', from, to, chance(0.6) ? 1 : 0])],
    [3 * parts, () => withOther((from, to) => ['heal', from, to])],
    [1.2 * crashes, () => ['lose', region(), offset()]],
    [clocks ? 1.5 : 0, () => ['step', region(), grid(random() * fill) * (chance(0.4) ? -1 : 1)]],
    [2, () => ['sweep', region()]],
  ]
  const total = drawn.reduce((sum, [weight]) => sum + weight, 0)
  const actions = Array.from({ length: 20 + below(70) }, (): Action => {
    let at = random() * total
    for (const [weight, draw] of drawn) {
      at -= weight
      if (at < 0) return draw()
    }
    return ['wait', DRIFT_PARTS]
  })
  const network = {
    weights: [...equalRoster(Array.from({ length: regions }, (_, index) => `${index}`)).weights.values()],
    limits,
    cells,
    cutoffMs: chance(0.5) ? (oneOf([0.1, 0.5, 2]) * fill) / 1_000 : undefined,
    drifts: Array.from({ length: regions }, () => (clocks ? oneOf([500, 0, -500]) : 0)),
    offsets: Array.from({ length: regions }, offset),
  }
  return { seed, network, actions }
}

/** Runs a history with these programs, audits every step, and heals all links at the end. */
export function runCounters(programs: CountersPrograms, history: CountersHistory): CountersOutcome {
  const network = createCountersNetwork({ ...history.network, programs })
  const coverage = newCoverage()
  for (const action of history.actions) {
    apply(network, action, coverage)
    network.check()
  }
  const agreed = heal(network)
  coverage.reached = network.reached
  coverage.rollouts = network.limits - 1
  Object.assign(coverage, network.coverage)
  return { ...network.worst, stale: network.stale, agreed, full: isFull(network, history.network.limits), coverage }
}

/** Heals all links, and lets every region read every other one once. */
function heal(network: CountersNetwork): boolean {
  const { regions, queue } = network
  queue.length = 0
  for (let one = 0; one < regions; one += 1) for (let other = 0; other < regions; other += 1) network.heal(one, other)
  network.round()
  network.check()
  return network.agree()
}

/** Whether all buckets are full after a very long time. If not, a debt for what regions spent was never repaid. */
function isFull(network: CountersNetwork, limits: readonly BucketPlan[]): boolean {
  network.wait(1_000 * Math.max(...limits.map((plan) => plan.emptyBefore.micros)))
  network.round()
  for (let region = 0; region < network.regions; region += 1)
    for (let cell = 0; cell < network.cells; cell += 1)
      if (network.spendable(region, cell, 0) < (limits[0] as BucketPlan).burst) return false
  return true
}

function apply(
  network: CountersNetwork,
  [kind, one = 0, two = 0, three = 0, four = 0]: Action,
  coverage: ReturnType<typeof newCoverage>,
): void {
  const { queue } = network
  const place = Math.floor(one * queue.length)
  switch (kind) {
    case 'wait':
      return network.wait(one)
    case 'call':
      return void network.call(one, two === 0 ? undefined : two, three, four)
    case 'pull':
      return network.pull(one, two)
    case 'deliver':
      if (two === 1 && queue.length > 0) coverage.repeats += 1
      return network.deliver(place, two === 1)
    case 'drop':
      return void queue.splice(place, 1)
    case 'cut':
      network.cut(one, two)
      if (three === 1) network.cut(two, one)
      coverage[three === 1 ? 'partitions' : 'oneWay'] += 1
      return
    case 'heal':
      network.heal(one, two)
      network.heal(two, one)
      return
    case 'lose':
      coverage.losses += 1
      return network.lose(one, two)
    case 'step':
      coverage.steps += 1
      return network.step(one, two)
    case 'sweep':
      return network.sweep(one)
  }
}
