import { LimiterError } from '../../errors/limiter-error.ts'

/** One mistake in a policy, with its position in the text. */
export interface PolicyIssue {
  /** Name of the file, as passed in `filename`. */
  readonly file: string
  /** The line, counted from 1, as in editors. */
  readonly line: number
  /** The column, counted from 1 in UTF-16 units. */
  readonly column: number
  /** Path of the field, such as `rules[0].rate`; empty for the whole text. */
  readonly path: string
  /** The value found, shortened; absent without a value to show. */
  readonly value?: string
  /** The allowed values. */
  readonly allowed?: string
  /** One line that describes the mistake, without the position. */
  readonly message: string
}

/** The policy cannot be loaded: code INVALID_POLICY. The message has one line for each issue. */
export class PolicyError extends LimiterError {
  /** Every mistake, in the order of the text. */
  readonly issues: readonly PolicyIssue[]

  constructor(issues: readonly PolicyIssue[]) {
    const lines = issues.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`)
    super('INVALID_POLICY', lines.join('\n'))
    this.issues = issues
  }
}
