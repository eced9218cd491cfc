import type { Decision, Reason } from '../decision/decision.ts'
import { DECISION, requireForm, TEXTS } from '../errors/options.ts'

/** A problem body (RFC 9457) with the draft's problem types. It names limits, never keys. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** Why a limit refused; absent if the store could not answer. */
  readonly reason?: Reason
  readonly 'violated-policies'?: readonly string[]
}

export const PROBLEM_TYPE = 'application/problem+json'
const TYPES = 'https://iana.org/assignments/http-problem-types#'

/** A decision that refuses the request. */
export type Refusal = Exclude<Decision, { allowed: true }>

/**
 * Builds the problem body of a refusal. Status: 400 for a request that cannot be read; 429 for a used-up quota, a block, or a cost that can
 * never pass; 503 if the limiter itself could not answer, which is not the client's fault.
 * @throws LimiterError INVALID_OPTIONS
 * @param violated names of the limits that refused; default the one that the decision names
 */
export function problemOf(decision: Refusal, violated?: readonly string[]): Problem {
  requireForm('problemOf', 'decision', decision, DECISION)
  if (violated !== undefined) requireForm('problemOf', 'violated', violated, TEXTS)
  if (decision.outcome === 'undecided') {
    return {
      type: `${TYPES}temporary-reduced-capacity`,
      title: 'Temporary Reduced Capacity',
      status: 503,
      detail: 'The limiter could not decide about this request.',
    }
  }
  const { reason, detail } = decision
  if (detail !== undefined) return { type: 'about:blank', title: 'Bad Request', status: 400, detail, reason }
  const kind = ABNORMAL.has(reason)
    ? { type: `${TYPES}abnormal-usage-detected`, title: 'Abnormal Usage Detected' }
    : { type: `${TYPES}quota-exceeded`, title: 'Quota Exceeded' }
  return { ...kind, status: 429, detail: detailOf(decision), reason, 'violated-policies': violated ?? violatedBy(decision) }
}

const ABNORMAL: ReadonlySet<Reason> = new Set<Reason>(['blocked', 'loop'])

function detailOf({ outcome, reason, limitName, retryAfterMs }: Exclude<Refusal, { outcome: 'undecided' }>): string {
  if (outcome === 'impossible') return `The cost of this request is above the capacity of the limit ${limitName}: waiting does not help.`
  const when = retryAfterMs === undefined ? '' : '; try again after the time in Retry-After'
  if (reason === 'blocked') return `Requests to the limit ${limitName} are blocked${when}.`
  return `The limit ${limitName} is used up${when}.`
}

function violatedBy({ limitName }: Decision): readonly string[] {
  return limitName === undefined ? [] : [limitName]
}

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
