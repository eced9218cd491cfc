import { type Problem, problemOf, type Refusal } from './problem.ts'

/** What a refused client reads. */
export interface Answer {
  readonly problem: Problem
  /** The problem as text. */
  readonly body: string
}

/** Limits have few names; nothing may grow without a bound. */
const MAX_NAMES = 1_024

/** Denials of one limit for one reason are told alike, so each is written once: a flood is refused without writing JSON. */
export function refusals(): (decision: Refusal) => Answer {
  const known = new Map<string, Map<string, Answer>>()
  return (decision) => {
    const { limitName = '', retryAfterMs } = decision
    // A denial without a wait reads otherwise.
    const reason = retryAfterMs === undefined ? `${decision.reason ?? ''}, no wait` : decision.reason
    let ofLimit = known.get(limitName)
    if (ofLimit === undefined) {
      if (known.size >= MAX_NAMES) known.clear()
      known.set(limitName, (ofLimit = new Map<string, Answer>()))
    }
    let answer = ofLimit.get(reason)
    if (answer === undefined) ofLimit.set(reason, (answer = answerOf(decision)))
    return answer
  }
}

/** @param violated names of the limits that refused; default the one the decision names */
export function answerOf(decision: Refusal, violated?: readonly string[]): Answer {
  const problem = problemOf(decision, violated)
  return { problem, body: `${JSON.stringify(problem)}\n` }
}
