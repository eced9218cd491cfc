import { LimiterError } from '../../errors/limiter-error.ts'

/** One mistake in a policy, with its position. */
export interface PolicyIssue {
  readonly file: string
  /** Counted from 1, as in editors. */
  readonly line: number
  readonly column: number
  /** Such as `rules[0].rate`; empty for the whole text. */
  readonly path: string
  /** The value found, shortened; absent if there is nothing to show. */
  readonly value?: string
  /** The allowed values. */
  readonly allowed?: string
  readonly message: string
}

/** A policy that cannot be loaded; code INVALID_POLICY. The message has one line for each issue. */
export class PolicyError extends LimiterError {
  readonly issues: readonly PolicyIssue[]

  constructor(issues: readonly PolicyIssue[]) {
    super('INVALID_POLICY', issues.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`).join('\n'))
    this.issues = issues
  }
}
