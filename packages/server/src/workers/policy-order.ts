import type { RelayedPolicy, ToWorker } from './messages.ts'

/** The order of the policies that workers accept: the primary's side of `relayPolicies`. */
export interface PolicyOrder<W> {
  /** The last policy in the order; undefined while every worker has the file as it was at the start. */
  readonly latest: RelayedPolicy | undefined
  /** The policy that a new worker uses instead of the file. */
  readonly toBegin: RelayedPolicy | undefined
  /** Adds a policy that a worker accepted, and sends it to the other workers. */
  add(worker: W, policy: RelayedPolicy): void
}

/** @param send sends a message to a worker, in the order of the calls */
export function createPolicyOrder<W>(serving: Iterable<W>, send: (worker: W, message: ToWorker) => void): PolicyOrder<W> {
  let latest: RelayedPolicy | undefined
  return {
    get latest() {
      return latest
    },
    get toBegin() {
      return latest?.fromFile === true ? undefined : latest
    },
    add(worker, policy) {
      send(worker, { kind: 'ordered' })
      // All workers read the same file, so its policy is relayed once.
      if (isSame(policy, latest)) return
      latest = policy
      for (const other of serving) if (other !== worker) send(other, { kind: 'policy', policy })
    },
  }
}

function isSame(one: RelayedPolicy, other: RelayedPolicy | undefined): boolean {
  return other !== undefined && one.text === other.text && one.filename === other.filename && one.format === other.format
}
