/** A call for a key, without a request. */
export interface KeyRequest {
  /** The value of each rule's first source, such as a header. */
  readonly key: string
  /** A rule; default: all rules without conditions on path, method or host. */
  readonly limit?: string | undefined
  /** Default: the rule's cost for an unknown request. */
  readonly cost?: number | undefined
}
