import { codes, type ErrorCode } from './codes.ts'

/**
 * A misuse of the library: an invalid limit, cost, key or policy. Thrown during construction, or before a store is called. Never thrown for
 * a denial, and never because a store failed.
 */
export class LimiterError extends Error {
  override readonly name = 'LimiterError'
  /** Stable, machine-readable name of the mistake. */
  readonly code: ErrorCode
  /** Page of the documentation that explains the code. */
  readonly help: string

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.help = `docs/errors.md#${codes[code].toLowerCase()}`
  }
}
