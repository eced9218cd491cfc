import { UNITS } from './limit.ts'

/** The name of a region. */
export type Region = string
/** One life of a store, identified by its server process and replication history. A store that was restored or promoted has another run. */
export type Run = string
/** A life of a region's store (a run) of which an operator has said that it will never run again. */
export type Gone = readonly [region: Region, run: Run]

/** The regions of one era and their weights. */
export interface Roster {
  readonly version: number
  /**
   * The units of every key that each region holds at the start of the era; together at most UNITS. A region of weight 0 holds nothing, but
   * the others wait for it when the era ends.
   */
  readonly weights: ReadonlyMap<Region, number>
  /** Lives of stores (runs) for which no region waits when the era of this roster begins. Absent: none. */
  readonly gone?: readonly Gone[]
}

/** Makes a roster (regions and weights) with equal weights. The first region also gets the remainder of the division. */
export function equalRoster(regions: readonly Region[], version = 1): Roster {
  const each = Math.floor(UNITS / regions.length)
  const first = UNITS - each * (regions.length - 1)
  return { version, weights: new Map(regions.map((region, index) => [region, index === 0 ? first : each])) }
}

export function weightOf(roster: Roster, region: Region): number {
  return roster.weights.get(region) ?? 0
}

/** The other regions of a roster. */
export function peersOf(roster: Roster, region: Region): readonly Region[] {
  return [...roster.weights.keys()].filter((name) => name !== region)
}

/**
 * Whether the roster says that a run (life of a store) will never run again. Another run of the same region is not gone, because it may
 * hold units.
 */
export function isGone({ gone = [] }: Roster, region: Region, run: Run): boolean {
  return gone.some(([name, dead]) => name === region && dead === run)
}

/**
 * Returns a roster that replaces another one, with the runs (lives of stores) that are gone for good by the other one. The reason is that
 * peers may have begun an era by the other roster. If the new roster lacked some of these runs, they are added, and it gets the next
 * version.
 */
export function keepingGone(roster: Roster, { gone = [] }: Roster): Roster {
  const more = gone.filter(([region, run]) => !isGone(roster, region, run))
  return more.length === 0 ? roster : { ...roster, version: roster.version + 1, gone: [...(roster.gone ?? []), ...more] }
}

/**
 * Whether all regions choose the roster `one` over `other`. Of two different rosters of one version, the one with the greater text is
 * chosen.
 */
export function isNewer(one: Roster, other: Roster): boolean {
  return one.version > other.version || (one.version === other.version && textOf(one) > textOf(other))
}

export function isSame(one: Roster, other: Roster): boolean {
  return one === other || (one.version === other.version && textOf(one) === textOf(other))
}

export function newest(rosters: readonly [Roster, ...Roster[]]): Roster {
  return rosters.reduce((best, roster) => (isNewer(roster, best) ? roster : best))
}

function textOf({ weights, gone = [] }: Roster): string {
  return JSON.stringify([[...weights].sort(([a], [b]) => (a < b ? -1 : 1)), gone.map(([name, run]) => `${name} ${run}`).sort()])
}
