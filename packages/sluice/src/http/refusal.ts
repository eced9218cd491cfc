import type { Decision } from '../decision/decision.ts'
import type { RefusalHeaders } from '../policy/model/header-choice.ts'

/** The decision as these dialects report it: limits that refused have nothing left. */
export function asRefused(decision: Decision, options: RefusalHeaders | undefined): Decision {
  if (options === undefined || decision.allowed) return decision
  const { violated = [] } = decision as Decision & { readonly violated?: readonly string[] }
  const limits = decision.limits.map((view) =>
    view.name === decision.limitName || violated.includes(view.name) ? { ...view, remaining: options.remaining } : view,
  )
  return { ...decision, limits }
}

/** The field that reports the reason, if the dialect has a word for it. */
export function refusalFields(decision: Decision, options: RefusalHeaders | undefined): [string, string][] {
  const reason = options === undefined || decision.reason === undefined ? undefined : options.reasons[decision.reason]
  return options === undefined || reason === undefined ? [] : [[options.field, reason]]
}
