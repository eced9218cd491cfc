import { seeded } from '../../src/testing/random.ts'

type Death = readonly [kind: 'die' | 'adopt' | 'lose', ...numbers: number[]]

/**
 * Adds to some histories servers that end for good, and orders in other regions that say so. Some orders name a region that has a new
 * server by then.
 */
export function withDeaths<A>(
  seed: number,
  alive: readonly A[],
  regions: number,
  offset: () => number,
): { readonly actions: readonly (A | Death)[]; readonly returns: boolean } {
  const random = seeded(seed + 0.5)
  const actions: (A | Death)[] = [...alive]
  const below = (bound: number): number => Math.floor(random() * bound)
  if (random() >= 0.2) return { actions, returns: false }
  for (let death = 0; death <= below(2); death += 1) {
    const gone = below(regions)
    const at = below(actions.length)
    const later = (action: Death): unknown => actions.splice(at + 1 + below(actions.length - at), 0, action)
    actions.splice(at, 0, ['die', gone])
    for (let order = 0; order <= below(3); order += 1) later(['adopt', below(regions), gone])
    if (random() < 0.3) later(['lose', gone, offset()])
  }
  return { actions, returns: random() < 0.3 }
}
