import { type BucketPlan, planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { equalRoster } from '../../src/regions/rights/roster.ts'
import { seeded } from '../../src/testing/random.ts'
import { DRIFT_PARTS } from './audit.ts'
import { type Coverage, newCoverage } from './coverage.ts'
import { withDeaths } from './deaths.ts'
import { createNetwork, type Network, type NetworkOptions } from './network.ts'
import type { Programs } from './site.ts'

/**
 * One thing that happens. An action whose numbers name nothing that exists does nothing, so any action can be left out when a history is
 * shortened.
 */
export type Action = readonly [
  kind:
    | 'wait'
    | 'call'
    | 'give'
    | 'pull'
    | 'deliver'
    | 'drop'
    | 'cut'
    | 'heal'
    | 'close'
    | 'open'
    | 'snapshot'
    | 'lose'
    | 'restore'
    | 'die'
    | 'adopt'
    | 'step'
    | 'sweep'
    | 'settle',
  ...numbers: number[],
]

export interface History {
  readonly seed: number
  readonly network: Omit<NetworkOptions, 'programs'>
  /** Rosters that regions want; some have the same version. */
  readonly rosters: readonly { readonly version: number; readonly weights: readonly number[] }[]
  readonly actions: readonly Action[]
  /** Whether messages that were sent before all links are healed are delivered again in each round after it. */
  readonly late: boolean
  /**
   * Whether regions whose server has ended get new servers at the end. If not, an order in another region says that they are gone for good.
   */
  readonly returns: boolean
}

export interface Outcome {
  /** The most tokens above the limit by audits (a) and (b), in bursts. Above 0 if the limit was exceeded. */
  readonly a: number
  readonly b: number
  /** The most units held together (c). */
  readonly units: number
  /**
   * Audit (d): after how many rounds, in which each region reads every other one, all regions agreed once all links were healed. Undefined
   * if they never did.
   */
  readonly rounds: number | undefined
  /** As in the history. */
  readonly late: boolean
  readonly coverage: Coverage
}

/** What changes no store. */
const UNSEEN = new Set<Action[0]>(['pull', 'drop', 'cut', 'heal', 'snapshot'])
const MAX_ROUNDS = 12
const UNIT = 1000

/** A random history. Equal seeds give equal histories. */
export function historyOf(seed: number): History {
  const random = seeded(seed)
  const below = (bound: number): number => Math.floor(random() * bound)
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const chance = (part: number): boolean => random() < part
  const regions = oneOf([2, 2, 3, 3, 4])
  const clocks = chance(0.4)
  const rollout = chance(0.35)
  const limitOf = () => planOf(oneOf([1, 2, 3, 10]), oneOf([1, 1, 1, 3]), oneOf([1, 3, 10, 30, 40, 60, 100]) * MICRO)
  const drawnLimits = rollout ? [limitOf(), limitOf()] : [limitOf()]
  const grid = (micros: number): number => Math.max(1, Math.round(micros / DRIFT_PARTS)) * DRIFT_PARTS
  const weights = (): number[] => {
    if (chance(0.4)) return [...equalRoster(Array.from({ length: regions }, (_, index) => `${index}`)).weights.values()]
    const parts = Array.from({ length: regions }, () => (chance(0.25) ? 0 : below(10)))
    const sum = parts.reduce((total, part) => total + part, 0) || 1
    return parts.map((part) => Math.floor((part * UNIT) / sum))
  }
  const region = (): number => below(regions)
  const other = (not: number): number => (not + 1 + below(regions - 1)) % regions
  const crashes = chance(0.45) ? 1 : 0
  const eras = chance(0.6) ? 1 : 0
  const parts = chance(0.5) ? 1 : 0
  const rosters = Array.from({ length: 3 }, (_, index) => ({ version: index < 2 ? 2 : 3, weights: weights() }))
  const offset = (): number => (clocks ? (below(2001) - 1000) * DRIFT_PARTS : 0)
  const policy = (): number => below(drawnLimits.length)
  const cells = oneOf([1, 1, 1, 2])
  // `smallOf` computes their bursts from the seed. Another random number would change what all other histories do.
  const undivided = chance(0.15)
  const limits = undivided ? drawnLimits.map((plan, index) => smallOf(plan, index, seed, regions)) : drawnLimits
  const fill = Math.max(...limits.map((plan) => plan.emptyBefore.micros))
  const drawn: readonly (readonly [weight: number, draw: () => Action])[] = [
    [12, () => ['wait', grid(oneOf([0, 0.001, 0.02, 0.1, 0.3, 0.6, 1.1]) * fill * random())]],
    [8, () => ['call', region(), oneOf([0.1, 0.5, 1, 1, 2, 5]) * MICRO, below(cells), policy()]],
    [10, () => ['call', region(), 0, below(cells), policy()]],
    [12, () => withOther((from, to) => ['give', from, to, oneOf([1, 0.5, 0.25, random()]), oneOf([1, 1, 0.5]), below(cells), policy()])],
    [16, () => withOther((from, to) => ['pull', from, to])],
    [28, () => ['deliver', random(), chance(0.15) ? 1 : 0, policy()]],
    [1, () => ['drop', random()]],
    [3 * parts, () => withOther((from, to) => ['cut', from, to, chance(0.6) ? 1 : 0])],
    [3 * parts, () => withOther((from, to) => ['heal', from, to])],
    [3 * eras, () => ['close', region(), below(rosters.length + 1)]],
    [4 * Math.max(eras, crashes), () => ['open', region()]],
    [1.2 * crashes, () => ['lose', region(), offset()]],
    [1.5 * crashes, () => ['snapshot', region()]],
    [1.2 * crashes, () => ['restore', region(), offset()]],
    [clocks ? 1.5 : 0, () => ['step', region(), grid(random() * fill) * (chance(0.4) && !rollout ? -1 : 1)]],
    [2, () => ['sweep', region()]],
  ]
  const withOther = (draw: (from: number, to: number) => Action): Action => {
    const from = region()
    return draw(from, other(from))
  }
  const total = drawn.reduce((sum, [weight]) => sum + weight, 0)
  const actions = Array.from({ length: 20 + below(70) }, (): Action => {
    let at = random() * total
    for (const [weight, draw] of drawn) {
      at -= weight
      if (at < 0) return draw()
    }
    return ['wait', DRIFT_PARTS]
  })
  if (rollout && chance(0.6)) actions.splice(below(actions.length), 0, ['settle', policy()])
  const network = {
    weights: weights(),
    limits,
    cells,
    undivided,
    drifts: Array.from({ length: regions }, () => (clocks ? oneOf([500, 0, -500]) : 0)),
    offsets: Array.from({ length: regions }, offset),
  }
  const late = chance(0.5)
  return { seed, network, rosters, late, ...withDeaths(seed, actions, regions, offset) }
}

/**
 * A limit with too few tokens to be divided: fewer than one token for each region. For some seeds, only the first of two limits is such a
 * limit.
 */
function smallOf(plan: BucketPlan, index: number, seed: number, regions: number): BucketPlan {
  return index > 0 && seed % 3 === 0 ? plan : planOf(plan.n, plan.m, (1 + ((seed + index) % (regions - 1))) * MICRO)
}

/** Runs a history with these programs, audits every step, then heals all links and counts the rounds until all regions agree. */
export function run(programs: Programs, history: History): Outcome {
  const network = createNetwork({ ...history.network, programs })
  const coverage = newCoverage()
  const gave = new Set<number>()
  for (const action of history.actions) {
    apply(network, history, action, coverage, gave)
    if (UNSEEN.has(action[0])) continue
    network.check()
    if (network.failed) return { ...network.worst, units: network.mostUnits, rounds: undefined, late: history.late, coverage }
  }
  if (gave.size > 1) coverage.rollouts = 1
  if (gave.size > 0 && network.mixed) coverage.mixed = 1
  const rounds = heal(network, history, coverage)
  coverage.reached = network.reached
  return { ...network.worst, units: network.mostUnits, rounds, late: history.late, coverage }
}

/** Heals all links, pulls until all regions agree, and takes everything that is left. */
function heal(network: Network, { late, returns }: History, coverage: Coverage): number | undefined {
  const { regions, queue } = network
  const old = late ? queue.splice(0) : []
  queue.length = 0
  for (let one = 0; one < regions; one += 1) for (let other = 0; other < regions; other += 1) network.heal(one, other)
  let rounds = 0
  for (let all = 0; !network.agree() && !network.failed && all < MAX_ROUNDS; all += 1) {
    // After an operator did something, the rounds are counted from 1 again.
    rounds = bury(network, returns, coverage) ? 1 : rounds + 1
    queue.push(...old)
    coverage.eras += network.round()
  }
  const agreed = network.agree()
  for (let region = 0; region < regions; region += 1)
    for (let cell = 0; cell < network.cells; cell += 1) network.call(region, undefined, cell)
  network.check()
  return agreed ? rounds : undefined
}

/**
 * Each region whose server has ended gets a new server, or an order in another region says that it is gone. The order needs a region that
 * knows the latest run of the dead one.
 */
function bury(network: Network, returns: boolean, coverage: Coverage): boolean {
  let changed = false
  const all = Array.from({ length: network.regions }, (_, region) => region)
  const dead = all.filter((region) => network.site(region).dead)
  for (const gone of dead) {
    const wasAdopted = !returns && all.some((region) => network.adopt(region, gone))
    if (wasAdopted) coverage.adopted += 1
    const { name } = network.site(gone)
    const isKnown = all.some((region) => {
      const { dead: isDead, store, name: own } = network.site(region)
      return !isDead && store !== undefined && store.phase !== 'learning' && store.roster.weights.has(own) && store.bound.has(name)
    })
    if (returns || !isKnown) network.replace(gone, false)
    changed ||= wasAdopted || returns || !isKnown
  }
  return changed
}

function apply(network: Network, { rosters }: History, [kind, ...numbers]: Action, coverage: Coverage, gave: Set<number>): void {
  const [one = 0, two = 0, three = 0, four = 0, five = 0, six = 0] = numbers
  const { queue } = network
  const index = Math.floor(one * queue.length)
  switch (kind) {
    case 'wait':
      return network.wait(one)
    case 'call':
      return void network.call(one, two === 0 ? undefined : two, three, four)
    case 'give': {
      const most = four === 1 ? undefined : Math.floor(network.spendable(one, five, six) * four)
      if (!network.give(one, two, Math.ceil(network.unitsOf(one, five) * (network.isWhole(six) ? 1 : three)), most, five, six)) return
      coverage.transfers += 1
      gave.add(six)
      if (queue.some((message) => message.kind === 'row')) coverage.overlapping += 1
      if (network.isWhole(six)) coverage.whole += 1
      return
    }
    case 'pull':
      return network.pull(one, two)
    case 'deliver':
      return void network.deliver(index, two === 1, three)
    case 'drop':
      return void queue.splice(index, 1)
    case 'cut':
      network.cut(one, two)
      if (three === 1) network.cut(two, one)
      coverage[three === 1 ? 'partitions' : 'oneWay'] += 1
      return
    case 'heal':
      network.heal(one, two)
      network.heal(two, one)
      return
    case 'close': {
      const roster = rosters[two]
      return network.close(one, roster === undefined ? undefined : network.rosterOf(roster.version, roster.weights))
    }
    case 'open':
      if (network.open(one)) coverage.eras += 1
      return
    case 'snapshot':
      return network.snapshot(one)
    case 'lose':
      coverage.losses += 1
      return network.replace(one, false, two)
    case 'restore':
      coverage.restores += 1
      return network.replace(one, true, two)
    case 'die':
      coverage.deaths += 1
      return network.die(one)
    case 'adopt':
      if (network.adopt(one, two)) coverage.adopted += 1
      return
    case 'step':
      coverage.steps += 1
      return network.step(one, two)
    case 'sweep':
      return network.sweep(one)
    case 'settle':
      return network.settle(one)
  }
}
