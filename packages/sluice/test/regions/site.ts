import { type BucketPlan, planOf, reduced } from '../../src/algorithms/bucket-plan.ts'
import { type RegionalLimit, UNITS } from '../../src/regions/rights/limit.ts'
import type * as rules from '../../src/regions/rights/programs.ts'
import { equalRoster, type Gone, isGone, type Region, type Roster, weightOf } from '../../src/regions/rights/roster.ts'
import { isUndivided, isWhole } from '../../src/regions/rights/undivided.ts'
import type { Answer, Cell, Hello, Invitation, RegionStore, Row, Status } from '../../src/regions/rights/state.ts'

/** The programs of src/regions, or a wrong variant of them. */
export type Programs = typeof rules

/** A region's store: its present server, what is stored there, and what its replicator knows. */
export interface Site {
  readonly name: Region
  server: number
  store: RegionStore | undefined
  cells: Map<string, Cell>
  readonly statuses: Map<Region, Status>
  snapshot: { readonly store: RegionStore | undefined; readonly cells: Map<string, Cell> } | undefined
  offset: number
  readonly drift: number
  /** Whether the server has ended, and no other one has taken its place. */
  dead: boolean
}

/** A message on its way between two regions. */
export type Message = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'row'; readonly cell: string; readonly row: Row }
  | { readonly kind: 'status'; readonly status: Status }
  | { readonly kind: 'ask' }
  | { readonly kind: 'invitation'; readonly invitation: Invitation }
  | { readonly kind: 'hello'; readonly hello: Hello }
  | { readonly kind: 'answer'; readonly answer: Answer }
)

/** Cached by programs and limit, because making a limit checks all its shares, which takes longer than a history. */
const limitsOf = new WeakMap<Programs, Map<string, RegionalLimit>>()

export function limitOf(programs: Programs, plan: BucketPlan): RegionalLimit {
  const known = limitsOf.get(programs) ?? new Map<string, RegionalLimit>()
  limitsOf.set(programs, known)
  const name = `${plan.n}/${plan.m}/${plan.burst}`
  const limit = known.get(name) ?? programs.regionalLimit(plan)
  known.set(name, limit)
  return limit
}

/** Whether a peer has received all units and tokens that a region sent of a key in this era. */
function isReceived(site: Site, peer: Site, key: string, era: number): boolean {
  const [rows, others] = [site, peer].map(({ cells }) => cells.get(key)?.rows).map((found) => (found?.era === era ? found : undefined))
  const sent = rows?.sent.get(peer.name)
  const received = others?.received.get(site.name)
  return (sent?.units ?? 0) === (received?.units ?? 0) && (sent?.tokens ?? 0) === (received?.tokens ?? 0)
}

/** Whether for some number of regions, from `least` to `most`, one of the limits is divided among them and another is not. */
export function isMixed(limits: readonly BucketPlan[], most: number, least = 1): boolean {
  const counts = Array.from({ length: most - least + 1 }, (_, index) => least + index)
  return counts.some((count) => {
    const roster = equalRoster(Array.from({ length: count }, (_, name) => `${name}`))
    return new Set(limits.map(({ burst }) => isUndivided(roster, burst))).size > 1
  })
}

/** The sum of limits: what they allow together while both may be in use. */
export function sumOf(limits: readonly BucketPlan[]): BucketPlan {
  return limits.reduce((one, other) => planOf(...reduced(one.n * other.m + other.n * one.m, one.m * other.m), one.burst + other.burst))
}

/**
 * Whether all living regions agree. They do if they have one era and one roster without dead regions, have received all rows, and together
 * hold all units.
 * @param limit undefined: not all units need be held
 */
export function doAgree(
  sites: readonly Site[],
  storeOf: (site: Site) => RegionStore,
  keys: readonly string[],
  limit: RegionalLimit | undefined,
  units: (site: Site, key: string) => number,
): boolean {
  const living = sites.filter(({ dead }) => !dead)
  const stores = living.map(storeOf)
  const [first] = stores
  if (first === undefined) return true
  const { era, roster } = first
  if (sites.some(({ dead, name }) => dead && roster.weights.has(name))) return false
  if (!stores.every((store) => store.phase === 'open' && store.era === era && store.roster.version === roster.version)) return false
  const total = [...roster.weights.values()].reduce((sum, weight) => sum + weight, 0)
  // Whether the limit is divided may have changed in this era. Then the regions may hold fewer units until the era ends.
  if (limit === undefined) return true
  const whole = total > 0 && isWhole(roster, limit) ? UNITS : total
  return keys.every((key) => {
    const held = living.reduce((sum, site) => sum + units(site, key), 0)
    return held === whole && living.every((site) => living.every((peer) => isReceived(site, peer, key, era)))
  })
}

/**
 * A run (life of a server) of a region that never runs again: that which a store has bound of a dead region, or an earlier one of a living
 * region. Undefined if no store needs to know.
 */
export function goneOf({ phase, roster, next, bound }: RegionStore, { name, server, dead }: Site): Gone | undefined {
  const run = dead ? bound.get(name) : `${name}.${server - 1}`
  const latest = next ?? roster
  const isOfUse = latest.weights.has(name) || (phase === 'closed' && !isGone(latest, name, run ?? ''))
  return run === undefined || server === 0 || !isOfUse ? undefined : [name, run]
}

/** Weights without the lost region. The region of the store gets the weight of the lost one. */
export function withWeightOf({ region, roster }: RegionStore, lost: Region): Roster['weights'] {
  const weights = new Map(roster.weights).set(region, weightOf(roster, region) + weightOf(roster, lost))
  weights.delete(lost)
  return weights
}
