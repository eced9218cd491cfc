import type { Request } from '../identity/request.ts'
import { watchUnread } from '../identity/watch-unread.ts'
import { exemptionOf } from '../policy/exemption.ts'
import { unreadMatch } from '../policy/match.ts'
import { keyOf, type Rule, tierOf } from '../policy/rule.ts'

/** What the rules of a policy have to do with a request whose path or query cannot be read. */
export interface UnreadRules {
  /** The first that looks at what cannot be read; one that enforces goes before one in shadow. */
  readonly looking: Rule | undefined
  /** Those that apply and look at nothing of it; empty where one that enforces does. */
  readonly others: readonly Rule[]
}

/**
 * Rules that look at what cannot be read are not charged: they would have to be charged for everything that it may mean, and a request of a few
 * bytes would be a call of every rule. Only one of them is named, for the same reason.
 * @param rules those that may match
 * @param hasCost whether the caller said what the request costs
 */
export function unreadRules(rules: readonly Rule[], request: Request, hasCost: boolean): UnreadRules {
  const looks = lookingAt(request, hasCost)
  const others: Rule[] = []
  let looking: Rule | undefined
  for (const rule of rules) {
    const looked = rule.mode === 'off' ? undefined : looks(rule)
    if (looked === false) others.push(rule)
    if (looked !== true) continue
    if (rule.mode === 'enforce') return { looking: rule, others: [] }
    looking ??= rule
  }
  return { looking, others }
}

/** Whether a rule looks at what cannot be read; undefined where the rest of the request says that it does not apply. */
export function lookingAt(request: Request, hasCost: boolean): (rule: Rule) => boolean | undefined {
  const during = watchUnread(request)
  return (rule) => {
    const looked = unreadMatch(rule.match, request, during)
    if (looked === undefined || exemptionOf(rule.exempt, request) !== undefined) return undefined
    return looked || during((seen) => chargeAt(rule, seen, hasCost))
  }
}

/** What is read of a request to charge it. */
function chargeAt(rule: Rule, request: Request, hasCost: boolean): void {
  if (tierOf(rule, request) === undefined) return
  keyOf(rule, request)
  if (!hasCost) rule.cost.of(request)
}
