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

/** Reports decisions and what they charged to observers. Undefined if no observer listens to that. @param hash hashes a key that the policy keeps in clear */
export function createReport(store: string, observers: readonly Observer[], hash: Pseudonym): Report | undefined {
  const [listening, counting] = [listeningTo(observers, 'onDecision'), listeningTo(observers, 'onCharge')]
  if (listening.length + counting.length === 0) return undefined
  return ({ pseudonym }, request, { decision, from }, durationMs) => {
    const results = resultsOf(from)
    const route = request.route ?? routeOf(request)
    const refusedBy = decision.allowed ? undefined : (decision.limitName ?? strictestOf(from.enforced))
    notifyOfDecision(listening, { limiter: RULE_SET, route, decision, store, results, refusedBy, durationMs })
    if (counting.length === 0) return
    // The results begin with those of the charges, in this order.
    for (const [index, { rule, call }] of [...from.enforced, ...from.shadows].entries()) {
      if (rule.key.length === 0) continue
      const key = pseudonym === undefined ? hash(call.id.key) : encodeKey(call.id.key)
      const result = results[index]?.result
      notifyOfCharge(counting, { rule: rule.name, key, allowed: result === 'allowed' || result === 'withheld' })
    }
  }
}

/** The results of the enforcing rules, then of those in shadow, then of one that could not read the request. */
function resultsOf({ charges: { unread }, enforced, shadows, result, shadowResults }: DecidedRequest): RuleResult[] {
  const results: RuleResult[] = []
  // Loops without closures and iterators: this is on the way of every decision that is observed.
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

/** A shadow rule refuses nothing. A store failure is reported as `undecided`, because it is not a denial. */
function inShadow(result: RuleResult): RuleResult {
  const refuses = result.result !== 'allowed' && result.result !== 'undecided'
  return { ...result, result: refuses ? 'shadow_denied' : result.result, shadow: true }
}

/** The path pattern of the matching rules that matches the fewest other paths. Of several, the first in the policy. */
function routeOf({ matched }: ChargedRequest): string | undefined {
  let most: Glob | undefined
  for (const { match } of matched) if (match.path !== undefined && (most === undefined || match.path.rank > most.rank)) most = match.path
  return most?.text
}

/** The rule because of which a request is refused that no store decided. */
function strictestOf(charges: readonly RuleCharge[]): string | undefined {
  const policy = policyOf(charges)
  return charges.find(({ rule }) => rule.onStoreFailure === policy)?.rule.name
}
