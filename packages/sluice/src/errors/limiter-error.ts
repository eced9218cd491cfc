/** The codes of misuse. docs/errors.md explains each. */
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

/** Thrown for misuse of the library, such as an invalid limit or key. Never thrown for a denial or because a store failed. */
export class LimiterError extends Error {
  /** For checks where `instanceof` may fail: across realms and bundles. */
  override readonly name = 'LimiterError'
  /** The stable name of the mistake, for programs. */
  readonly code: ErrorCode
  /** Where the installed package explains the code, such as `sluice/docs/errors.md#invalid_rate`. */
  readonly help: string

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.help = `sluice/docs/errors.md#${code.toLowerCase()}`
  }
}

/** Returns the LimiterError that `make` throws. Other errors are thrown again. */
export function attempt<T>(make: () => T): T | LimiterError {
  try {
    return make()
  } catch (error) {
    if (error instanceof LimiterError) return error
    throw error
  }
}
