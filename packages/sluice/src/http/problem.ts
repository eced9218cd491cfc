import type { Decision } from '../decision/decision.ts'

/** A problem body (RFC 9457) with the draft's problem types; it names limits, never keys. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly 'violated-policies'?: readonly string[]
}

export const PROBLEM_TYPE = 'application/problem+json'
const TYPES = 'https://iana.org/assignments/http-problem-types#'

/** 429 for a used-up quota or a cost that can never pass, 503 where the limiter itself could not answer. */
export function problemOf(decision: Exclude<Decision, { allowed: true }>, violated: readonly string[] = violatedBy(decision)): Problem {
  switch (decision.outcome) {
    case 'denied':
      return quota(`The limit ${decision.limitName} is used up; try again after the time in Retry-After.`, violated)
    case 'impossible':
      return quota(`The cost of this request is above the capacity of the limit ${decision.limitName}: waiting does not help.`, violated)
    case 'undecided':
      return {
        type: `${TYPES}temporary-reduced-capacity`,
        title: 'Temporary Reduced Capacity',
        status: 503,
        detail: 'The limiter could not decide about this request.',
      }
  }
}

function violatedBy(decision: Decision): readonly string[] {
  return decision.limitName === undefined ? [] : [decision.limitName]
}

function quota(detail: string, violated: readonly string[]): Problem {
  return { type: `${TYPES}quota-exceeded`, title: 'Quota Exceeded', status: 429, detail, 'violated-policies': violated }
}
