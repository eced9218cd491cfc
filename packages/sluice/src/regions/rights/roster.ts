import { UNITS } from './limit.ts'

/** The name of a region. */
export type Region = string
/** One life of a store: the identity of its server process and replication history. A restored or promoted store has another run. */
export type Run = string
/** A run of a region of which a person said that it will never run again. */
export type Gone = readonly [region: Region, run: Run]

/** The regions of one era and their weights. */
export interface Roster {
  readonly version: number
  /** Units of every cell that a region holds at first; together at most UNITS. A region of weight 0 takes part, and holds nothing. */
  readonly weights: ReadonlyMap<Region, number>
  /** Nobody waits for these when the era of this roster begins. Absent: none. */
  readonly gone?: readonly Gone[]
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

/** The other regions of a roster. */
export function peersOf(roster: Roster, region: Region): readonly Region[] {
  return [...roster.weights.keys()].filter((name) => name !== region)
}

/** Whether a run is one of those that never run again. Another run of the region is not: it may hold units. */
export function isGone({ gone = [] }: Roster, region: Region, run: Run): boolean {
  return gone.some(([name, dead]) => name === region && dead === run)
}

/**
 * Whether an era with this roster begins without a peer: the run that is bound is gone. A new run of a store may not have bound any. Whether
 * another run of the peer than the one that is gone holds units, only those know that were there before: one of them must have begun the era.
 */
export function isPassedOver(roster: Roster, peer: Region, bound: Run | undefined, isBegun: boolean): boolean {
  return bound === undefined ? isBegun && (roster.gone ?? []).some(([name]) => name === peer) : isGone(roster, peer, bound)
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

function textOf({ weights, gone = [] }: Roster): string {
  return JSON.stringify([[...weights].sort(([a], [b]) => (a < b ? -1 : 1)), gone.map(([name, run]) => `${name} ${run}`).sort()])
}
