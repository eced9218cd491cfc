import type { Candidate, HeldPolicy } from '../policy/held-policy.ts'
import type { RelayedPolicy } from './messages.ts'

/** The policy of one of several workers. All of them end with the same policy, whichever worker got which policy and when. */
export interface RelayedPolicies {
  /** Replaces the policy by one that was put to this worker, and sends it to the other workers. */
  readonly put: HeldPolicy
  /** Loads the policy file, which every worker reads by itself. It replaces an earlier put. */
  readonly file: Pick<HeldPolicy, 'replace'>
  /** Another worker accepted this policy. */
  relayed(policy: RelayedPolicy): void
  /** The primary has ordered the earliest unordered policy of this worker. */
  ordered(): void
}

/**
 * Gives one worker the last policy in the order. The primary puts the policies of all workers in one order. A policy of another worker
 * that arrives before this worker's own is ordered comes earlier in that order, so it is dropped. It is kept only until the own one is
 * accepted.
 * @param send sends a policy to the primary, in the order of the calls
 * @param keeps called with the reason why this worker keeps its present policy
 */
export function relayPolicies(held: HeldPolicy, send: (policy: RelayedPolicy) => void, keeps: (error: unknown) => void): RelayedPolicies {
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
    put: {
      get current() {
        return held.current
      },
      get rejected() {
        return held.rejected
      },
      get loaded() {
        return held.loaded
      },
      replace: (candidate) => replace(candidate, {}),
    },
    file: { replace: (candidate) => replace(candidate, { fromFile: true }) },
    relayed(policy) {
      next = policy
      void takeNext()
    },
    ordered() {
      own -= 1
      next = undefined
    },
  }
}
