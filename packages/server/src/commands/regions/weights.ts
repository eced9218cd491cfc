import { usage, wrongValue } from '../../cli/failure.ts'

type Weights = Readonly<Record<string, number>>

/**
 * The drained region gets weight 0; the others share its weight in proportion to theirs.
 * @throws CommandFailure exit 3 for a region that is not known, or for the only region
 */
export function drained(weights: Weights, name: string): Weights {
  requireKnown(weights, name)
  return inOrder({ ...scaled(without(weights, name), sumOf(weights)), [name]: 0 })
}

/** @throws CommandFailure exit 3 for a region that is not known, or for the only region */
export function removed(weights: Weights, name: string): Weights {
  requireKnown(weights, name)
  return scaled(without(weights, name), sumOf(weights))
}

/**
 * The other regions give up weight in proportion to theirs.
 * @throws CommandFailure exit 3 for a weight that is not from 1 to the sum of all weights
 */
export function added(weights: Weights, name: string, weight: number | undefined): Weights {
  const others = without(weights, name)
  const [sum, count] = [sumOf(weights), Object.values(others).filter((other) => other > 0).length + 1]
  const own = weight ?? Math.floor(sum / count)
  if (own < 1 || own > sum) throw wrongValue('--weight', String(own), `a whole number from 1 to ${sum}`)
  return inOrder({ ...scaled(others, sum - own), [name]: own })
}

function requireKnown(weights: Weights, name: string): void {
  const names = Object.keys(weights)
  if (!names.includes(name)) throw wrongValue('regions: NAME', name, `one of ${names.join(', ')}`)
  if (names.length === 1) throw usage(`regions: ${name} is the only region`)
}

function without(weights: Weights, name: string): Weights {
  return Object.fromEntries(Object.entries(weights).filter(([other]) => other !== name))
}

/** Keeps the proportions; equal weights if all are 0. The first region with a weight gets what rounding down leaves over. */
function scaled(weights: Weights, sum: number): Weights {
  const total = sumOf(weights)
  const names = Object.keys(weights)
  const parts = names.map((name) => Math.floor(total === 0 ? sum / names.length : ((weights[name] ?? 0) * sum) / total))
  const first = Math.max(
    0,
    names.findIndex((name) => total === 0 || (weights[name] ?? 0) > 0),
  )
  const rest = sum - parts.reduce((all, part) => all + part, 0)
  return Object.fromEntries(names.map((name, index) => [name, (parts[index] ?? 0) + (index === first ? rest : 0)]))
}

function sumOf(weights: Weights): number {
  return Object.values(weights).reduce((total, weight) => total + weight, 0)
}

function inOrder(weights: Weights): Weights {
  return Object.fromEntries(Object.entries(weights).sort(([one], [other]) => (one < other ? -1 : 1)))
}
