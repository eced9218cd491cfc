import type { RelayedPolicy, ToWorker } from './messages.ts'

/** The order of the policies that workers take in: the primary's part in what `relayPolicies` does in each worker. */
export interface PolicyOrder<W> {
  /** The last of them; undefined while every worker has the file as it was at the start. */
  readonly latest: RelayedPolicy | undefined
  /** What a worker that begins takes in instead of the file. */
  readonly toBegin: RelayedPolicy | undefined
  /** A worker took in a policy of its own: the others are given it. */
  add(worker: W, policy: RelayedPolicy): void
}

/** @param send hands a message to a worker, in the order of the calls */
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
      // All workers read the file: once is enough.
      if (isSame(policy, latest)) return
      latest = policy
      for (const other of serving) if (other !== worker) send(other, { kind: 'policy', policy })
    },
  }
}

function isSame(one: RelayedPolicy, other: RelayedPolicy | undefined): boolean {
  return other !== undefined && one.text === other.text && one.filename === other.filename && one.format === other.format
}
