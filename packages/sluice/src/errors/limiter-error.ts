/** The codes of misuse. The lower-case form of a code is its heading in docs/errors.md. */
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
  | 'ID_REUSED'

/**
 * A misuse of the library: an invalid limit, cost, key or policy. It is thrown at construction, or before a store is called. Never thrown
 * for a denial, and never because a store failed.
 */
export class LimiterError extends Error {
  /** Always `LimiterError`, also across realms and bundles, where `instanceof` may fail. */
  override readonly name = 'LimiterError'
  /** Stable, machine-readable name of the mistake. */
  readonly code: ErrorCode
  /** The page and heading that explain the code: a file of the installed package `sluice`, such as `sluice/docs/errors.md#invalid_rate`. */
  readonly help: string

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.help = `sluice/docs/errors.md#${code.toLowerCase()}`
  }
}

/** Returns the result of `make`, or the LimiterError that `make` throws. Other errors are thrown again. */
export function attempt<T>(make: () => T): T | LimiterError {
  try {
    return make()
  } catch (error) {
    if (error instanceof LimiterError) return error
    throw error
  }
}
