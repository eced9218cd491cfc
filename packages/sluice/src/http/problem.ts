import type { Decision, Reason } from '../decision/decision.ts'
import { DECISION, requireForm, TEXTS } from '../errors/options.ts'

/** A problem body (RFC 9457) with the problem types of draft-ietf-httpapi-ratelimit-headers. */
export interface Problem {
  /** A URI that names the kind of problem. */
  readonly type: string
  /** The kind of problem in words. */
  readonly title: string
  /** The status of the response: 400, 429 or 503. */
  readonly status: number
  /** What happened to this request, in one sentence. */
  readonly detail: string
  /** Absent if the store could not answer. */
  readonly reason?: Reason
  /** Names of the limits that refused, never a key. */
  readonly 'violated-policies'?: readonly string[]
}

/** The media type of problem bodies. */
export const PROBLEM_TYPE = 'application/problem+json'
const TYPES = 'https://iana.org/assignments/http-problem-types#'

/** A decision that refuses the request. */
export type Refusal = Exclude<Decision, { allowed: true }>

/**
 * The status is 400 for a request that cannot be read, 503 if the limiter could not answer, and otherwise 429.
 * @param violated names of the limits that refused; default the one that the decision names
 * @throws LimiterError INVALID_OPTIONS
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
  const names = violated ?? violatedBy(decision)
  return { ...kind, status: 429, detail: detailOf(decision), reason, 'violated-policies': names }
}

const ABNORMAL: ReadonlySet<Reason> = new Set<Reason>(['blocked', 'loop'])

function detailOf({ outcome, reason, limitName, retryAfterMs }: Exclude<Refusal, { outcome: 'undecided' }>): string {
  if (outcome === 'impossible') return `The cost of this request is above the capacity of the limit ${limitName}: waiting does not help.`
  const when = retryAfterMs === undefined ? '' : '; try again after the time in Retry-After'
  if (reason === 'blocked') return `Requests to the limit ${limitName} are blocked${when}.`
  if (reason === 'concurrency') return `All slots of the limit ${limitName} are in use; try again when another request has ended.`
  if (reason === 'holds') return 'Too many reservations are open; try again when one of them has ended.'
  return `The limit ${limitName} is used up${when}.`
}

function violatedBy({ limitName }: Decision): readonly string[] {
  return limitName === undefined ? [] : [limitName]
}

/** The answer to a refused client. */
export interface Answer {
  /** The problem body, with the status. */
  readonly problem: Problem
  /** The problem body as JSON. */
  readonly body: string
}

const MAX_NAMES = 1_024

/** Caches answers by limit and reason, so that a flood of refused requests costs little. */
export function refusals(): (decision: Refusal) => Answer {
  const known = new Map<string, Map<string, Answer>>()
  return (decision) => {
    const { limitName = '', retryAfterMs } = decision
    // The text differs without `retryAfterMs`.
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

export function answerOf(decision: Refusal, violated?: readonly string[]): Answer {
  const problem = problemOf(decision, violated)
  return { problem, body: `${JSON.stringify(problem)}\n` }
}
