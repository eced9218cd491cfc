import { type Problem, problemOf, type Refusal } from './problem.ts'

/** The answer to a refused client. */
export interface Answer {
  readonly problem: Problem
  /** The problem as text. */
  readonly body: string
}

/** The most limits to cache. Limits have few names, but every cache is bounded. */
const MAX_NAMES = 1_024

/** Caches answers: denials of one limit for one reason are identical. A flood is refused without serializing JSON. */
export function refusals(): (decision: Refusal) => Answer {
  const known = new Map<string, Map<string, Answer>>()
  return (decision) => {
    const { limitName = '', retryAfterMs } = decision
    // A denial without a wait has another text.
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

/** @param violated names of the limits that refused; default the one that the decision names */
export function answerOf(decision: Refusal, violated?: readonly string[]): Answer {
  const problem = problemOf(decision, violated)
  return { problem, body: `${JSON.stringify(problem)}\n` }
}
