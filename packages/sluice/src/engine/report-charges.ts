import { encodeKey } from '../keys/encode.ts'
import { notify, type Observer } from '../observe/events.ts'
import { type EngineDecision, resultsOf } from './engine-decision.ts'
import type { Loaded, Pseudonym } from './loaded.ts'
import type { RuleCharge } from './rule-charge.ts'

export type ReportCharges = (at: Loaded, charges: readonly RuleCharge[], decision: EngineDecision) => void

/** Returns undefined if no observer implements `onCharge`. @param hash hashes a key that the policy keeps in clear */
export function chargeReporter(observers: readonly Observer[], hash: Pseudonym): ReportCharges | undefined {
  const counting = observers.filter(({ onCharge }) => onCharge !== undefined)
  if (counting.length === 0) return undefined
  return ({ pseudonym }, charges, decision) => {
    // In the order of the charges.
    const results = resultsOf(decision)
    for (const [index, { rule, call }] of charges.entries()) {
      if (rule.key.length === 0) continue
      const key = pseudonym === undefined ? hash(call.id.key) : encodeKey(call.id.key)
      notify(counting, 'onCharge', { rule: rule.name, key, allowed: results[index]?.result === 'allowed' })
    }
  }
}
