import { LimiterError } from '../errors/limiter-error.ts'

/** One thing wrong with a policy, and where. */
export interface PolicyIssue {
  readonly file: string
  /** Counted from 1, as editors do. */
  readonly line: number
  readonly column: number
  /** Such as `rules[0].rate`; empty where it is the whole text. */
  readonly path: string
  /** What was found, shortened, where there is something to show. */
  readonly value?: string
  /** What may stand there. */
  readonly allowed?: string
  readonly message: string
}

/** A policy that cannot be loaded: every issue that was found, one line each in the message. Its code is INVALID_POLICY. */
export class PolicyError extends LimiterError {
  readonly issues: readonly PolicyIssue[]

  constructor(issues: readonly PolicyIssue[]) {
    super('INVALID_POLICY', issues.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`).join('\n'))
    this.issues = issues
  }
}
