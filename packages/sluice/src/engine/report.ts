import { encodeKey } from '../keys/encode.ts'
import { resultOf } from '../limiter/decision-of.ts'
import type { Resolved } from '../limiter/on-failure.ts'
import { listeningTo, notifyOfCharge, notifyOfDecision, type Observer, type RuleResult } from '../observe/events.ts'
import type { Glob } from '../policy/model/glob.ts'
import type { ChargedRequest, Made } from './decide-requests.ts'
import type { DecidedRequest } from './engine-decision.ts'
import type { Loaded, Pseudonym } from './loaded.ts'
import { policyOf, RULE_SET, type RuleCharge } from './rule-charge.ts'

export type Report = (at: Loaded, request: ChargedRequest, made: Made, durationMs: number) => void

/**
 * Undefined if no observer listens to decisions or charges.
 * @param hash hashes keys for observers, if the policy does not
 */
export function createReport(store: string, observers: readonly Observer[], hash: Pseudonym): Report | undefined {
  const [listening, counting] = [listeningTo(observers, 'onDecision'), listeningTo(observers, 'onCharge')]
  if (listening.length + counting.length === 0) return undefined
  return ({ pseudonym }, request, { decision, from }, durationMs) => {
    const results = resultsOf(from)
    const route = request.route ?? routeOf(request)
    const refusedBy = decision.allowed ? undefined : (decision.limitName ?? strictestOf(from.enforced))
    notifyOfDecision(listening, { limiter: RULE_SET, route, decision, store, results, refusedBy, durationMs })
    if (counting.length === 0) return
    // `results` begins with one result for each charge, in this order.
    for (const [index, { rule, call }] of [...from.enforced, ...from.shadows].entries()) {
      if (rule.key.length === 0) continue
      const key = pseudonym === undefined ? hash(call.id.key) : encodeKey(call.id.key)
      notifyOfCharge(counting, { rule: rule.name, key, allowed: letsPass(results[index], decision.allowed) })
    }
  }
}

/** If the store failed, an enforcing rule did what the failure policy said, and a shadow rule denied nothing. */
function letsPass(reported: RuleResult | undefined, passed: boolean): boolean {
  if (reported?.result === 'undecided') return passed || reported.shadow === true
  return reported?.result === 'allowed' || reported?.result === 'withheld'
}

function resultsOf({ charges: { unread }, enforced, shadows, result, shadowResults }: DecidedRequest): RuleResult[] {
  const results: RuleResult[] = []
  // No closures or iterators, because this runs for every observed decision.
  if (result !== undefined)
    for (let index = 0; index < enforced.length; index += 1) {
      const { rule, call } = enforced[index] as RuleCharge
      results.push(resultOf(rule.name, call, result, index))
    }
  for (let index = 0; index < shadows.length; index += 1) {
    const { rule, call } = shadows[index] as RuleCharge
    results.push(inShadow(resultOf(rule.name, call, shadowResults[index] as Resolved, 0)))
  }
  if (unread === undefined) return results
  const unreadable = { rule: unread.rule.name, result: 'impossible' } as const
  return [...results, unread.rule.mode === 'shadow' ? inShadow(unreadable) : unreadable]
}

/** A store failure stays `undecided`, because it is not a denial. */
function inShadow(result: RuleResult): RuleResult {
  const refuses = result.result !== 'allowed' && result.result !== 'undecided'
  return { ...result, result: refuses ? 'shadow_denied' : result.result, shadow: true }
}

/** The most specific path pattern; the first of equals. */
function routeOf({ matched }: ChargedRequest): string | undefined {
  let most: Glob | undefined
  for (const { match } of matched) if (match.path !== undefined && (most === undefined || match.path.rank > most.rank)) most = match.path
  return most?.text
}

/** If no store decided, the refusal is counted for this rule. */
function strictestOf(charges: readonly RuleCharge[]): string | undefined {
  const policy = policyOf(charges)
  return charges.find(({ rule }) => rule.onStoreFailure === policy)?.rule.name
}
