import { UNITS } from './limit.ts'

export type Region = string
/** One life of a store. A store that was restarted, restored or promoted has another run. */
export type Run = string
/** A run that an operator has declared gone for good. */
export type Gone = readonly [region: Region, run: Run]

/** The regions of one era and their weights. */
export interface Roster {
  readonly version: number
  /**
   * The units of every divided key that each region holds when the era (a time of constant weights) begins; together at most UNITS. The
   * next era begins only once all these regions are ready, also those of weight 0.
   */
  readonly weights: ReadonlyMap<Region, number>
  /** No region waits for these runs (lives of stores) when the era of this roster begins. Absent: none. */
  readonly gone?: readonly Gone[]
}

/** Equal weights; the first region also gets the remainder. */
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

/** Whether the roster declares this run (life of a store) gone. A later run of the region may hold units, so it is not gone. */
export function isGone({ gone = [] }: Roster, region: Region, run: Run): boolean {
  return gone.some(([name, dead]) => name === region && dead === run)
}

/**
 * Adds to a roster the runs (lives of stores) that an earlier roster declares gone, because peers may have begun an era (time of constant
 * weights) without them.
 */
export function keepingGone(roster: Roster, { gone = [] }: Roster): Roster {
  const more = gone.filter(([region, run]) => !isGone(roster, region, run))
  return more.length === 0 ? roster : { ...roster, version: roster.version + 1, gone: [...(roster.gone ?? []), ...more] }
}

/** Whether all regions choose `one` over `other`: it has the higher version, or the same version and the greater text. */
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
