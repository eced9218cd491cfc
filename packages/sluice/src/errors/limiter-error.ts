/** The code of every misuse. Its lower-case form is the anchor of its paragraph in docs/errors.md. */
export type ErrorCode =
  | 'INVALID_RATE'
  | 'INVALID_BURST'
  | 'INVALID_LIMIT'
  | 'INVALID_DURATION'
  | 'INVALID_COST'
  | 'INVALID_KEY'
  | 'INVALID_OPTIONS'
  | 'INVALID_POLICY'
  | 'UNKNOWN_RULE'
  | 'INVALID_ADDRESS'
  | 'LIMIT_NOT_EXACT'
  | 'NOT_SYNCHRONOUS'
  | 'NOT_SUPPORTED'
  | 'CLOSED'
  | 'OVERLOAD'

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
    this.help = `docs/errors.md#${code.toLowerCase()}`
  }
}

/** The result of `make`, or the LimiterError that it throws; it passes other errors on. */
export function attempt<T>(make: () => T): T | LimiterError {
  try {
    return make()
  } catch (error) {
    if (error instanceof LimiterError) return error
    throw error
  }
}
