import type { Request } from '../identity/request.ts'
import { watchUnread } from '../identity/watch-unread.ts'
import { exemptionOf } from '../policy/model/exemption.ts'
import { unreadMatch } from '../policy/model/match.ts'
import { keyOf, type Rule, tierOf } from '../policy/model/rule.ts'

export interface UnreadRules {
  /** The first rule that reads the unreadable part, preferably an enforcing one. */
  readonly reader: Rule | undefined
  /** Rules that apply without reading it; empty if `reader` enforces. */
  readonly others: readonly Rule[]
}

/**
 * Rules that read the unreadable part are not charged. Otherwise a request of a few bytes could charge every rule, once for each meaning of
 * that part.
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

/** Returns whether a rule reads an unreadable part of the request; undefined if the readable parts exclude the rule. */
export function unreadReader(request: Request, hasCost: boolean): (rule: Rule) => boolean | undefined {
  const during = watchUnread(request)
  return (rule) => {
    const reads = unreadMatch(rule.match, request, during)
    if (reads === undefined || exemptionOf(rule.exempt, request) !== undefined) return undefined
    return reads || during((seen) => chargeAt(rule, seen, hasCost))
  }
}

/** Reads whatever a charge would read, so that a watcher records it. */
function chargeAt(rule: Rule, request: Request, hasCost: boolean): void {
  if (tierOf(rule, request) === undefined) return
  keyOf(rule, request)
  if (!hasCost) rule.cost.of(request)
}
