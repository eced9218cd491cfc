import type { Request } from '../identity/request.ts'
import { watchUnread } from '../identity/watch-unread.ts'
import { exemptionOf } from '../policy/model/exemption.ts'
import { unreadMatch } from '../policy/model/match.ts'
import { keyOf, type Rule, tierOf } from '../policy/model/rule.ts'

/** How the rules of a policy apply to a request whose path or query cannot be read. */
export interface UnreadRules {
  /** The first rule that reads the unreadable part. An enforcing rule takes precedence over a shadow rule. */
  readonly reader: Rule | undefined
  /** The rules that apply and do not read the unreadable part; empty if `reader` enforces. */
  readonly others: readonly Rule[]
}

/**
 * Finds the rules that read the unreadable part of a request. They are not charged: they would have to be charged for every meaning of that
 * part, so a request of a few bytes could charge every rule. Only one of these rules is returned (`reader`).
 * @param rules the rules that may match the request
 * @param hasCost whether the caller passed the request's cost
 */
export function unreadRules(rules: readonly Rule[], request: Request, hasCost: boolean): UnreadRules {
  const readsUnread = unreadReader(request, hasCost)
  const others: Rule[] = []
  let reader: Rule | undefined
  for (const rule of rules) {
    const reads = rule.mode === 'off' ? undefined : readsUnread(rule)
    if (reads === false) others.push(rule)
    if (reads !== true) continue
    if (rule.mode === 'enforce') return { reader: rule, others: [] }
    reader ??= rule
  }
  return { reader, others }
}

/** Tests whether a rule reads the unreadable part. Undefined if the rest of the request shows that the rule does not apply. */
export function unreadReader(request: Request, hasCost: boolean): (rule: Rule) => boolean | undefined {
  const during = watchUnread(request)
  return (rule) => {
    const reads = unreadMatch(rule.match, request, during)
    if (reads === undefined || exemptionOf(rule.exempt, request) !== undefined) return undefined
    return reads || during((seen) => chargeAt(rule, seen, hasCost))
  }
}

/** Reads all parts of the request that a charge by this rule would read, so that a watcher sees which parts these are. */
function chargeAt(rule: Rule, request: Request, hasCost: boolean): void {
  if (tierOf(rule, request) === undefined) return
  keyOf(rule, request)
  if (!hasCost) rule.cost.of(request)
}
