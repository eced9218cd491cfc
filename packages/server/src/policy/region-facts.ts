import { memoryStore } from 'sluice'
import type { Policy, RegionChoice } from 'sluice/policy'
import { regionalStore } from 'sluice/regions'

/** The right to every limit has so many units, which the regions divide. */
export const UNITS = 1_000

/** What no bound of a policy with regions contains; docs/regions.md explains each. */
const NOT_BOUNDED: readonly string[] = [
  'a primary that still answers after another one was promoted: its part of burst + rate * the time that it does',
  'steps of the clock of a store, forward: rate * step',
]

export type RegionFacts = ReturnType<typeof regionFacts>

/** What a policy says about regions, as `sluice check --json`, `explain --json` and the service report it. Absent fields are undefined. */
export function regionFacts({ self, mode, peers, weights }: RegionChoice) {
  const addresses = new Map(peers.map(({ name, url }) => [name, url]))
  const names = [...new Set([...(self === undefined ? [] : [self]), ...addresses.keys(), ...Object.keys(weights ?? {})])].sort()
  const known = weights ?? equalWeights(names)
  return {
    self,
    mode,
    /** All regions, by name. */
    regions: names.map((name) => ({ name, weight: known[name] ?? 0, address: addresses.get(name) })),
    notBounded: NOT_BOUNDED,
  }
}

/** Whether two policies name the same regions, with the same addresses, weights and mode. */
export function sameRegions(one: RegionChoice | undefined, other: RegionChoice | undefined): boolean {
  const textOf = (choice: RegionChoice | undefined): string => (choice === undefined ? '' : JSON.stringify(regionFacts(choice)))
  return textOf(one) === textOf(other)
}

/** The weights of regions of which none is given. The first in the order of names has the remainder. */
function equalWeights(names: readonly string[]): Readonly<Record<string, number>> {
  const each = Math.floor(UNITS / names.length)
  const first = UNITS - each * (names.length - 1)
  return Object.fromEntries(names.map((name, index) => [name, index === 0 ? first : each]))
}

/** The regions in one line: `eu 600, us 400 of 1000 units`. */
export function regionsText({ regions, mode }: RegionFacts): string {
  return `${regions.map(({ name, weight }) => `${name} ${weight}`).join(', ')} of ${UNITS} units, mode ${mode}`
}

/** Why the regions of a policy cannot divide its limits, by rule: a service with such a rule does not start. */
export function regionProblems({ regions: choice, rules }: Policy): string[] {
  if (choice === undefined) return []
  const { mode, regions } = regionFacts(choice)
  const weights = Object.fromEntries(regions.map(({ name, weight }) => [name, weight]))
  // Regions of one weight have the same parts.
  const first = regions.filter(({ weight }, index) => weight > 0 && regions.findIndex((other) => other.weight === weight) === index)
  const stores = first.map(({ name }) => regionalStore({ store: memoryStore(), self: name, weights, mode }))
  return rules.flatMap(({ name, tiers, mode: ruleMode }) => {
    const limits = ruleMode === 'off' ? [] : tiers.map(({ limit }) => limit)
    const found = limits.flatMap((limit) => stores.flatMap(({ capabilities }) => capabilities.problemOf?.(limit) ?? []))
    return found.length === 0 ? [] : [`rule ${name}: ${found[0]}; serve would not start`]
  })
}
