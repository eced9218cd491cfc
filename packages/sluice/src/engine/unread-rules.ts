import type { Request } from '../identity/request.ts'
import { exemptionOf } from '../policy/exemption.ts'
import { mismatch, mismatchBesidePath } from '../policy/match.ts'
import { keyOf, type Rule, type Truth, tierOf, truthOf } from '../policy/rule.ts'

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
  const during = watch(request)
  return (rule) => {
    const { match } = rule
    let looked = match.path !== undefined && request.unreadable?.path === true
    const why = looked ? mismatchBesidePath : mismatch
    if (why({ ...match, when: [] }, request) !== undefined) return undefined
    for (const condition of match.when) {
      let truth: Truth
      const watched = during((seen) => void (truth = truthOf(condition, seen)))
      if (!watched && truth === false) return undefined
      looked ||= watched
    }
    if (exemptionOf(rule.exempt, request) !== undefined) return undefined
    return looked || during((seen) => chargeAt(rule, seen, hasCost))
  }
}

/** What is read of a request to charge it. */
function chargeAt(rule: Rule, request: Request, hasCost: boolean): void {
  if (tierOf(rule, request) === undefined) return
  keyOf(rule, request)
  if (!hasCost) rule.cost.of(request)
}

/**
 * Says whether work looks at what of a request cannot be read. Watching is surer than a list of the sources that look: one that is forgotten in
 * such a list would be a way around its rules.
 */
function watch(request: Request): (work: (seen: Request) => void) => boolean {
  const { path, query } = request.unreadable ?? {}
  const names = [...(path === true ? (['path', 'exactPath', 'readings'] as const) : []), ...(query === true ? (['query'] as const) : [])]
  const seen = { ...request }
  let looked = false
  for (const name of names)
    Object.defineProperty(seen, name, {
      get() {
        looked = true
        return request[name]
      },
    })
  return (work) => {
    looked = false
    work(seen)
    return looked
  }
}
