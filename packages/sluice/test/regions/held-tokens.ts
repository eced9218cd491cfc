import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { HoldReport } from '../../src/algorithms/settle-hold.ts'
import type { StateId, Store } from '../../src/stores/store.ts'
import { heldGroup, recordOf, settlementOf } from '../../src/testing/store-suite/held.ts'
import type { CellAudit } from './audit.ts'

/** Reserves tokens of keys (holds), and settles these holds later, perhaps under another limit. */
export interface HeldTokens {
  /** Reserves tokens of a key for so many microseconds. Returns the number of the hold; undefined if it was denied. */
  reserve(region: number, cost: number, cell: number, policy: number, micros: number): Promise<number | undefined>
  /**
   * Settles a hold. `part` of what it held was used, which may be above 1. Returns what the region can grant more after it, in
   * micro-tokens.
   */
  settleHold(region: number, hold: number, part: number, policy: number): Promise<{ readonly back: number; readonly report: HoldReport }>
  extend(region: number, hold: number, policy: number, micros: number): Promise<void>
}

interface Held {
  readonly id: string
  readonly cell: number
  readonly cost: number
}

/** @param leftIn what one call could take in a region, in micro-tokens */
export function heldTokens(
  storeOf: (region: number) => Store,
  optionsOf: (region: number) => { readonly now?: number },
  keyOf: (cell: number, policy: number) => { readonly id: StateId; readonly limit: AnyLimit },
  auditOf: (cell: number) => { readonly audit: CellAudit | undefined; readonly now: number },
  leftIn: (region: number, cell: number, policy: number) => number | Promise<number>,
): HeldTokens {
  const holds: Held[] = []
  return {
    async reserve(region, cost, cell, policy, micros) {
      const id = `h${holds.length}`
      const group = heldGroup([{ ...keyOf(cell, policy), cost, phase: 0 }], id, micros)
      const [verdict] = await storeOf(region).decide([group], optionsOf(region))
      if (verdict?.failure !== undefined) throw verdict.failure
      if (verdict?.outcome !== 'allowed') return undefined
      const { audit, now } = auditOf(cell)
      audit?.admit(now, cost)
      return holds.push({ id, cell, cost }) - 1
    },
    async settleHold(region, hold, part, policy) {
      const { id, cell, cost } = holds[hold] as Held
      const change = settlementOf([{ ...keyOf(cell, policy), cost, phase: 0 }], id, Math.floor(cost * part))
      const before = await leftIn(region, cell, policy)
      const [result] = await storeOf(region).change([change], optionsOf(region))
      if (result?.failure !== undefined) throw result.failure
      // What goes back may be less than the report says: the bucket may have no room for it, or the region no units.
      const back = Math.max(0, (await leftIn(region, cell, policy)) - before)
      const { audit, now } = auditOf(cell)
      if (back > 0) audit?.admit(now, -back)
      return { back, report: result?.hold as HoldReport }
    },
    async extend(region, hold, policy, micros) {
      const { id, cell, cost } = holds[hold] as Held
      const calls = [{ ...keyOf(cell, policy), cost, phase: 0 }]
      const change = { kind: 'extend', id: recordOf(keyOf(cell, policy).id.key, id), calls, holder: id, micros } as const
      const [result] = await storeOf(region).change([change], optionsOf(region))
      if (result?.failure !== undefined) throw result.failure
    },
  }
}
