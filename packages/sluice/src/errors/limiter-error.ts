/** The codes of misuse. docs/errors.md has a heading for each: the code in lower case. */
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
 * A misuse of the library: an invalid limit, cost, key or policy. It is thrown when something is built, or before a store is called. It is
 * never thrown for a denial, or because a store failed.
 */
export class LimiterError extends Error {
  /** Always `LimiterError`. Compare it where `instanceof` may fail: across realms and bundles. */
  override readonly name = 'LimiterError'
  /** The stable name of the mistake, for programs. */
  readonly code: ErrorCode
  /**
   * Where the code is explained: a file of the installed package `sluice`, and a heading in it, such as
   * `sluice/docs/errors.md#invalid_rate`.
   */
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
