/** A call for a key that the caller already knows, without a request. */
export interface KeyRequest {
  /** The value of the first source from which a rule takes its key, such as a header: a non-empty text. */
  readonly key: string
  /** Name of one rule. Default: every rule that has no condition on path, method or host. */
  readonly limit?: string
  /** Default: the cost that the rule has for a request of which nothing is known. */
  readonly cost?: number
}
