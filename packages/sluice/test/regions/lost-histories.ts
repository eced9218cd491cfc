import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { seeded } from '../../src/testing/random.ts'
import type { Action, History } from './history.ts'

const UNIT = 1000

/**
 * A random history in which regions die while eras end, and orders say that their runs are gone. Statuses, rows and answers of the dead
 * arrive late. `historyOf` has all other trouble too, so that few of its histories get here.
 */
export function lostHistoryOf(seed: number): History {
  const random = seeded(seed + 0.25)
  const below = (bound: number): number => Math.floor(random() * bound)
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const regions = oneOf([2, 3, 3, 4, 4])
  const weights = (): number[] => {
    const parts = Array.from({ length: regions }, () => below(10))
    const sum = parts.reduce((total, part) => total + part, 0) || 1
    return parts.map((part) => Math.floor((part * UNIT) / sum))
  }
  const rosters = Array.from({ length: 4 }, (_, index) => ({ version: 2 + Math.floor(index / 2), weights: weights() }))
  const pair = (): [number, number] => {
    const from = below(regions)
    return [from, (from + 1 + below(regions - 1)) % regions]
  }
  // One that dies, and one that gets a new server. If most regions are new, nobody may know which runs there were.
  const [dead, replaced] = [below(regions), below(regions)]
  const drawn: readonly (readonly [weight: number, draw: () => Action])[] = [
    [1, () => ['wait', 2000 * (1 + below(5_000))]],
    [8, () => ['give', random() < 0.5 ? dead : below(regions), below(regions), oneOf([1, 0.5, random()]), 1, 0, 0]],
    [24, () => ['pull', ...pair()]],
    [30, () => ['deliver', random() < 0.3 ? 0 : random(), 0, 0]],
    [5, () => ['close', below(regions), below(rosters.length + 1)]],
    [16, () => ['open', below(regions)]],
    [1.5, () => ['die', dead]],
    [8, () => ['adopt', below(regions), dead]],
    [1, () => ['lose', replaced, 0]],
  ]
  const total = drawn.reduce((sum, [weight]) => sum + weight, 0)
  const actions = Array.from({ length: 30 + below(70) }, (): Action => {
    let at = random() * total
    for (const [weight, draw] of drawn) {
      at -= weight
      if (at < 0) return draw()
    }
    return ['wait', 2000]
  })
  // Only the run of a region that is dead is said to be gone.
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
