import { type AnyLimit, concurrency, memoryStore, type Store } from 'sluice'
import type { Policy, RegionChoice } from 'sluice/policy'
import { regionalStore } from 'sluice/regions'
import { withoutPassword } from '../stores/store-name.ts'

/** Every limit is divided among the regions in this many units. */
export const UNITS = 1_000

/** Cases that a policy's bounds do not include; docs/regions.md explains them. */
const NOT_BOUNDED: readonly string[] = [
  'a primary that still answers after another one was promoted: its part of burst + rate * the time that it does',
  'steps of the clock of a store, forward: rate * step',
]

/** With `mode: counters` no store has a replica, so no primary is promoted. */
const NOT_BOUNDED_COUNTERS: readonly string[] = [
  'a service that is restarted: its states are full, so the bound holds before and after it, once burst and bound more together',
  'a region that did not read for ten minutes, as if it were restarted',
  'steps of the clock of a store, forward: rate * step',
]

export type RegionFacts = ReturnType<typeof regionFacts>

/** Part of the JSON of `check`, `explain` and the service. */
export function regionFacts({ self, mode, cutoffMs, peers, weights }: RegionChoice) {
  const addresses = new Map(peers.map(({ name, url }) => [name, url]))
  const names = [...new Set([...(self === undefined ? [] : [self]), ...addresses.keys(), ...Object.keys(weights ?? {})])].sort()
  const known = weights ?? equalWeights(names)
  return {
    self,
    mode,
    /** Milliseconds; undefined without `cutoff`. */
    cutoffMs,
    regions: names.map((name) => ({ name, weight: known[name] ?? 0, address: addresses.get(name) })),
    notBounded: mode === 'counters' ? NOT_BOUNDED_COUNTERS : NOT_BOUNDED,
  }
}

/**
 * Stores that can send units (parts of a limit) to other regions. In PostgreSQL, functions check what is sent; compare-and-swap works
 * without functions.
 */
const SENDING = /^(?:memory|rediss?|redis\+sentinel|postgres(?:ql)?):(?!.*[?&]concurrency=compare-and-swap)/
const SENDING_STORES =
  'memory:, redis://, rediss:// or redis+sentinel:// with one primary, and postgres:// without concurrency=compare-and-swap,'

/** Undefined if the mode runs over the store. */
export function regionStoreProblem(mode: RegionFacts['mode'], url: string): string | undefined {
  const but = `in this version, and the store is ${withoutPassword(url)}; or use mode fixed`
  if (mode === 'escrow' && !SENDING.test(url)) return `--region runs over ${SENDING_STORES} ${but}`
  if (mode === 'counters' && !url.startsWith('memory:')) return `regions with mode counters run over memory: ${but}`
  return undefined
}

export function sameRegions(one: RegionChoice | undefined, other: RegionChoice | undefined): boolean {
  const textOf = (choice: RegionChoice | undefined): string => (choice === undefined ? '' : JSON.stringify(regionFacts(choice)))
  return textOf(one) === textOf(other)
}

/** The first region in the order of names gets the remainder. */
function equalWeights(names: readonly string[]): Readonly<Record<string, number>> {
  const each = Math.floor(UNITS / names.length)
  const first = UNITS - each * (names.length - 1)
  return Object.fromEntries(names.map((name, index) => [name, index === 0 ? first : each]))
}

/** The regions in one line: `eu 600, us 400 of 1000 units`. */
export function regionsText({ regions, mode, cutoffMs }: RegionFacts): string {
  const cutoff = cutoffMs === undefined ? '' : `, cutoff ${cutoffMs} ms`
  return `${regions.map(({ name, weight }) => `${name} ${weight}`).join(', ')} of ${UNITS} units, mode ${mode}${cutoff}`
}

/**
 * Why `serve` would not start: a limit cannot be divided, or the mode does not run over the store.
 * @param url of the store
 */
export function regionProblems({ regions: choice, reservations, rules, overrides = [] }: Policy, url: string): string[] {
  if (choice === undefined) return []
  const { mode, cutoffMs, regions } = regionFacts(choice)
  const ofStore = regionStoreProblem(mode, url)
  const weights = Object.fromEntries(regions.map(({ name, weight }) => [name, weight]))
  // Regions of equal weight have equal parts, so one region of each weight is tried.
  const first = regions.filter(({ weight }, index) => weight > 0 && regions.findIndex((other) => other.weight === weight) === index)
  const stores = first.map(({ name }) =>
    regionalStore({ store: memoryStore(), self: name, weights, mode, ...(cutoffMs === undefined ? {} : { cutoffMs }) }),
  )
  const limitsOf = ({ mode: ruleMode, tiers }: Policy['rules'][number]) => (ruleMode === 'off' ? [] : tiers.map(({ limit }) => limit))
  const named = rules.map((rule) => [`rule ${rule.name}`, limitsOf(rule)] as const)
  const off = new Set(rules.flatMap(({ name, mode: ruleMode }) => (ruleMode === 'off' ? name : [])))
  const overridden = overrides.map(
    ({ rule, limit }, index) => [`overrides[${index}] of rule ${rule}`, off.has(rule) ? [] : [limit]] as const,
  )
  const { maxHolds } = reservations ?? {}
  const bound = maxHolds === undefined ? [] : [['reservations.maxHolds', [concurrency({ limit: maxHolds, holdMs: 60_000 })]] as const]
  const ofLimits = [...named, ...overridden, ...bound].flatMap(([name, limits]) => {
    const found = limits.flatMap((limit) => stores.flatMap((store) => problemOf(store, limit) ?? []))
    return found.length === 0 ? [] : [`${name}: ${found[0]}; serve would not start`]
  })
  return ofStore === undefined ? ofLimits : [`${ofStore}; serve would not start`, ...ofLimits]
}

function problemOf({ capabilities }: Store, limit: AnyLimit): string | undefined {
  const { groupOptions = [], lacks = '', problemOf: ofLimit } = capabilities
  if (limit.algorithm.tag === 'cc' && !groupOptions.includes('hold')) return `concurrency limits are not offered ${lacks}`
  return ofLimit?.(limit)
}
