/**
 * - `timeout`: no answer by the deadline
 * - `connection`: lost, refused or never made
 * - `unavailable`: the server cannot serve (it loads or shuts down, the cluster is down, the data moved), or the breaker is open
 * - `readonly`: the server accepts no writes
 * - `memory`: the server is full, or a bound on the store's states is reached
 * - `contention`: other calls kept the states locked or kept changing them
 * - `overload`: too many calls are in flight or queued in this process
 * - `setup`: wrong credentials, permission, schema or version
 * - `aborted`: by the caller's signal
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

/** The only error that a store rejects with. */
export class StoreFailure extends Error {
  /** Compare this name where `instanceof` may fail, because two copies of the library or two realms each have such a class. */
  override readonly name = 'StoreFailure'
  /** Programs react to `kind` and `executed`, never to the message. */
  readonly kind: StoreFailureKind
  /** `no`: nothing was charged, so the call may be sent again. `unknown`: it may have been charged. */
  readonly executed: 'no' | 'unknown'

  constructor(kind: StoreFailureKind, executed: 'no' | 'unknown', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
    this.executed = executed
  }
}
