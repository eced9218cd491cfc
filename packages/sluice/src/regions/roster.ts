import { UNITS } from './limit.ts'

/** The name of a region. */
export type Region = string

/** The regions of one era and their weights. */
export interface Roster {
  readonly version: number
  /** Units of every cell that a region holds at first; together at most UNITS. A region of weight 0 takes part, and holds nothing. */
  readonly weights: ReadonlyMap<Region, number>
}

/** A roster of equal weights. The first region has the remainder. */
export function equalRoster(regions: readonly Region[], version = 1): Roster {
  const each = Math.floor(UNITS / regions.length)
  const first = UNITS - each * (regions.length - 1)
  return { version, weights: new Map(regions.map((region, index) => [region, index === 0 ? first : each])) }
}

export function weightOf(roster: Roster, region: Region): number {
  return roster.weights.get(region) ?? 0
}

/** The region in which an undivided cell begins; by weight, and by a hash of the key. Undefined if nobody has a weight. */
export function homeOf({ weights }: Roster, hash: number): Region | undefined {
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0)
  let point = hash % Math.max(sum, 1)
  for (const region of [...weights.keys()].sort()) {
    const weight = weights.get(region) ?? 0
    if (point < weight) return region
    point -= weight
  }
  return undefined
}

/** The other regions of a roster. */
export function peersOf(roster: Roster, region: Region): readonly Region[] {
  return [...roster.weights.keys()].filter((name) => name !== region)
}

/** Whether all regions would choose `one` over `other`. Rosters of one version that differ are in order of their text. */
export function isNewer(one: Roster, other: Roster): boolean {
  return one.version > other.version || (one.version === other.version && textOf(one) > textOf(other))
}

export function isSame(one: Roster, other: Roster): boolean {
  return one === other || (one.version === other.version && textOf(one) === textOf(other))
}

export function newest(rosters: readonly [Roster, ...Roster[]]): Roster {
  return rosters.reduce((best, roster) => (isNewer(roster, best) ? roster : best))
}

function textOf({ weights }: Roster): string {
  return JSON.stringify([...weights].sort(([a], [b]) => (a < b ? -1 : 1)))
}
