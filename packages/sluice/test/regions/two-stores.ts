import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { RegionalLimit } from '../../src/regions/rights/limit.ts'
import * as programs from '../../src/regions/rights/programs.ts'
import type { Roster } from '../../src/regions/rights/roster.ts'
import { type Cell, EMPTY_CELL, type RegionStore } from '../../src/regions/rights/state.ts'

export const SECOND = 1_000_000
export const NOW = 1_763_692_800_000_000
export const HALVES: Roster = {
  version: 1,
  weights: new Map([
    ['eu', 500],
    ['us', 500],
  ]),
}

export const limitOf = (burst: number, rate = '1/s'): RegionalLimit => programs.regionalLimit(tokenBucket({ rate, burst }).plan)

function storeOf(region: string, peer: string, roster = HALVES): RegionStore {
  const shifts = [{ era: 0, at: 0, units: roster.weights.get(region) ?? 0, rosters: [roster], cut: false }] as const
  const known = { bound: new Map([[peer, `${peer}.1`]]), joins: new Map<string, number>(), answers: new Map() }
  return { region, run: `${region}.1`, phase: 'open', era: 0, roster, next: undefined, shifts, ...known }
}
export const EU = storeOf('eu', 'us')
export const US = storeOf('us', 'eu')

/** The micro-tokens that are left, and the units. */
export const left = (store: RegionStore, cell: Cell, limit: RegionalLimit, now = NOW) => [
  programs.spendable(store, cell, limit, now),
  programs.unitsOf(store, cell, limit),
]

export function given(limit: RegionalLimit, units: number, cell: Cell = EMPTY_CELL, most?: number, now = NOW): Cell {
  const next = programs.give(EU, cell, limit, 'us', units, now, most)
  if (next === undefined) throw new Error('nothing was given')
  return next
}
