import { encodeKey } from '../keys/encode.ts'
import { notifyCharge, type Observer } from '../observe/events.ts'
import type { Charge } from './charges.ts'
import { type EngineDecision, resultsOf } from './engine-decision.ts'
import type { Loaded, Pseudonym } from './loaded.ts'

/** Reports the keys of decisions to observers. Undefined if no observer implements `onCharge`. */
export type TellCharges = (at: Loaded, charges: readonly Charge[], decision: EngineDecision) => void

/** @param names hashes a key that the policy keeps in clear */
export function tellCharges(observers: readonly Observer[], names: Pseudonym): TellCharges | undefined {
  const counting = observers.filter(({ onCharge }) => onCharge !== undefined)
  if (counting.length === 0) return undefined
  return ({ pseudonym }, charges, decision) => {
    // In the order of the charges.
    const results = resultsOf(decision)
    for (const [index, { rule, call }] of charges.entries()) {
      if (rule.key.length === 0) continue
      const key = pseudonym === undefined ? names(call.id.key) : encodeKey(call.id.key)
      notifyCharge(counting, { rule: rule.name, key, allowed: results[index]?.result === 'allowed' })
    }
  }
}
