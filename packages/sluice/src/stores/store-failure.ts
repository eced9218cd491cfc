/**
 * - `timeout`: there was no answer by the deadline
 * - `connection`: the connection was lost, refused or never made
 * - `unavailable`: the server cannot serve (it is loading or shutting down, the cluster is down, the data moved), or the breaker is open
 * - `readonly`: the server does not accept writes
 * - `memory`: the server is full, or a bound on the store's states is reached
 * - `contention`: other calls kept the states locked or kept changing them
 * - `overload`: too many calls are in flight or queued in this process
 * - `setup`: wrong credentials, permission, schema or version
 * - `aborted`: the caller's signal ended the call
 * - `protocol`: the answer does not have the expected form
 */
export type StoreFailureKind =
  | 'timeout'
  | 'connection'
  | 'unavailable'
  | 'readonly'
  | 'memory'
  | 'contention'
  | 'overload'
  | 'setup'
  | 'aborted'
  | 'protocol'

/**
 * The only error that a store rejects with. `executed: 'no'`: nothing was charged. `executed: 'unknown'`: the call may have been charged,
 * so it is not sent again. Only a change of a hold is, because a repeated one has no further effect.
 */
export class StoreFailure extends Error {
  /**
   * Always `StoreFailure`. Compare this name where `instanceof` may fail: if two copies of the library, or two realms, each have such a
   * class.
   */
  override readonly name = 'StoreFailure'
  /** What went wrong. Programs react to `kind` and `executed`, never to the message. */
  readonly kind: StoreFailureKind
  /** `no`: nothing was charged, so the call may be sent again. `unknown`: it may have been charged. */
  readonly executed: 'no' | 'unknown'

  constructor(kind: StoreFailureKind, executed: 'no' | 'unknown', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
    this.executed = executed
  }
}
