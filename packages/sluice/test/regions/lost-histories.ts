import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { seeded } from '../../src/testing/random.ts'
import type { Action, History } from './history.ts'

const UNIT = 1000
/** The place of the message that was sent last. */
const LAST = 0.9999

/**
 * A random history in which servers of regions end for good while eras end, and orders say that these runs are gone. Messages of such
 * regions arrive late. `historyOf` has all other kinds of trouble too, so few of its histories have this one.
 */
export function lostHistoryOf(seed: number): History {
  const random = seeded(seed + 0.25)
  const below = (bound: number): number => Math.floor(random() * bound)
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const regions = oneOf([2, 3, 3, 4])
  const weights = (count = regions): number[] => {
    const parts = Array.from({ length: count }, () => below(10))
    const sum = parts.reduce((total, part) => total + part, 0) || 1
    return parts.map((part) => Math.floor((part * UNIT) / sum))
  }
  // Some rosters lack the last region. Not with four regions, because these may then need a fourth round to agree.
  const rosters = Array.from({ length: 5 }, (_, index) => {
    return { version: 2 + Math.floor(index / 2), weights: weights(regions < 4 && random() < 0.2 ? regions - 1 : regions) }
  })
  // One region that dies, and one that gets a new server. If most regions got new servers, nobody might know which runs there were.
  const [dead, replaced] = [below(regions), below(regions)]
  const pair = (): [number, number] => {
    const from = below(regions)
    return [from, (from + 1 + below(regions - 1)) % regions]
  }
  /** A region reads a peer. The two messages that were sent last arrive, and earlier ones stay on their way. */
  const read = (to: number, from: number): Action[] => [
    ['pull', to, from],
    ['deliver', LAST, 0, 0],
    ['deliver', LAST, 0, 0],
  ]
  /** All regions read each other, or all but the one that dies. */
  const meet = (withDead: boolean): Action[] => {
    const all = Array.from({ length: regions }, (_, region) => region).filter((region) => withDead || region !== dead)
    return all.flatMap((to) => all.filter((from) => from !== to && random() < 0.9).flatMap((from) => read(to, from)))
  }
  const some = (most: number, draw: () => Action[]): Action[] => Array.from({ length: below(most + 1) }, draw).flat()
  const give = (): Action[] => [['give', random() < 0.5 ? dead : below(regions), below(regions), oneOf([1, 0.5, random()]), 1, 0, 0]]
  const close = (): Action[] => [['close', below(regions), below(rosters.length + 1)]]
  const open = (): Action[] => [['open', below(regions)]]
  const order = (): Action[] => [['adopt', below(regions), dead]]
  const late = (): Action[] => [['deliver', random(), 0, 0]]
  const lose = (): Action[] => [['lose', replaced, 0]]
  const wait = (): Action[] => [['wait', 2000 * (1 + below(5_000))]]
  const send = (): Action[] => [['pull', ...pair()]]
  const die = (): Action[] => [['die', dead]]
  const trouble = (): Action[] => oneOf([give, close, open, order, late, () => read(...pair()), lose, wait])()
  /** An era ends, a region dies meanwhile, an operator gives an order, and old messages arrive. Any step may be missing. */
  const era = (): Action[] =>
    [
      () => some(2, give),
      close,
      () => meet(true),
      () => some(2, open),
      () => some(2, give),
      () => some(3, send),
      die,
      () => some(2, order),
      () => some(1, close),
      () => meet(false),
      () => some(2, open),
      () => some(1, close),
      () => some(4, late),
      () => some(3, open),
      () => some(2, give),
      () => some(1, lose),
    ].flatMap((step) => [...(random() < 0.85 ? step() : []), ...(random() < 0.15 ? trouble() : [])])
  const actions = [era, era, era].slice(below(3)).flatMap((step) => step())
  // An order may say only of a region that is dead that it is gone.
  let isDead = false
  const possible = actions.filter(([kind, one]) => {
    if (kind === 'die') isDead = true
    if (kind === 'lose' && one === dead) isDead = false
    return kind !== 'adopt' || isDead
  })
  const limits = [planOf(1, 1, 1000 * MICRO)]
  const network = { weights: weights(), limits, cells: 1, undivided: false, drifts: [], offsets: [] }
  return { seed, network, rosters, actions: possible, late: random() < 0.5, returns: random() < 0.3 }
}
