import type { HeldPolicy } from '../policy/held-policy.ts'
import type { Candidate } from '../policy/read-policy.ts'
import type { RelayedOverride, RelayedPolicy, ToWorker } from './messages.ts'

/**
 * Gives one worker the last policy in the order, so that all end with the same. The primary puts the policies of all workers in one
 * order. A policy of another worker that arrives before this worker's own is ordered comes earlier in that order, so it is dropped. It is
 * kept only until the own one is accepted.
 * @param send sends a policy to the primary, in the order of the calls
 * @param keeps called with the reason why this worker keeps its present policy
 */
export function relayPolicies(held: HeldPolicy, send: (policy: RelayedPolicy) => void, keeps: (error: unknown) => void) {
  /** Own policies that are being loaded or are not ordered yet. */
  let own = 0
  let next: RelayedPolicy | undefined
  let [taking, current] = [false, '']
  const takeNext = async (): Promise<void> => {
    const policy = next
    if (taking || policy === undefined || own > 0) return
    next = undefined
    taking = true
    try {
      if (policy.text !== current) await held.replace(policy)
      current = policy.text
    } catch (error) {
      keeps(error)
    }
    taking = false
    await takeNext()
  }
  const replace = async (candidate: Candidate, more: Pick<RelayedPolicy, 'fromFile'>) => {
    own += 1
    try {
      const policy = await held.replace(candidate)
      const { text } = candidate
      current = typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
      send({ ...candidate, text: current, ...more })
      return policy
    } catch (error) {
      own -= 1
      void takeNext()
      throw error
    }
  }
  return {
    /** Replaces the policy by one that was put to this worker, and sends it to the other workers. */
    put: (candidate: Candidate) => replace(candidate, {}),
    /** Loads the policy file, which every worker reads by itself. It replaces an earlier put. */
    file: (candidate: Candidate) => replace(candidate, { fromFile: true }),
    /** Another worker accepted this policy. */
    relayed(policy: RelayedPolicy) {
      next = policy
      void takeNext()
    },
    /** The primary has ordered the earliest unordered policy of this worker. */
    ordered() {
      own -= 1
      next = undefined
    },
  }
}

/**
 * The order of the policies that workers accept: the primary's side of `relayPolicies`.
 * @param workers those that get policies
 * @param send sends a message to a worker, in the order of the calls
 */
export function createPolicyOrder<W>(workers: Iterable<W>, send: (worker: W, message: ToWorker) => void) {
  let latest: RelayedPolicy | undefined
  return {
    /** The policy that a new worker uses instead of the file. */
    get toBegin() {
      return latest?.fromFile === true ? undefined : latest
    },
    /** Adds a policy that a worker accepted, and sends it to the other workers. */
    add(worker: W, policy: RelayedPolicy) {
      send(worker, { kind: 'ordered' })
      // All workers read the same file, so its policy is relayed once.
      if (isSame(policy, latest)) return
      latest = policy
      for (const other of workers) if (other !== worker) send(other, { kind: 'policy', policy })
    },
  }
}

function isSame(one: RelayedPolicy, other: RelayedPolicy | undefined): boolean {
  return other !== undefined && one.text === other.text && one.filename === other.filename && one.format === other.format
}

/** The engines of the workers refuse more (400). Only overrides that several workers accept at the same instant can exceed it. */
const MAX_OVERRIDES = 10_000

/** The overrides that workers have set and not removed, for workers that begin later. */
export function relayedOverrides(now: () => number) {
  const held = new Map<string, RelayedOverride>()
  const forgetEnded = (): void => {
    const at = now()
    for (const [name, { fields }] of held) if (fields?.until !== undefined && Date.parse(fields.until) <= at) held.delete(name)
  }
  return {
    change(change: RelayedOverride) {
      const name = JSON.stringify([change.rule, change.key])
      held.delete(name)
      if (change.fields === undefined) return
      if (held.size >= MAX_OVERRIDES) forgetEnded()
      held.set(name, change)
    },
    list(): readonly RelayedOverride[] {
      forgetEnded()
      return [...held.values()]
    },
  }
}
