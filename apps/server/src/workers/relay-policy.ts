import type { Candidate, HeldPolicy } from '../held-policy.ts'
import type { RelayedPolicy } from './messages.ts'

/** The policy of one of several workers, which all end with the same one, whoever was given which and when. */
export interface RelayedPolicies {
  /** Takes in what somebody put here, and hands it to the other workers. */
  readonly put: HeldPolicy
  /** Takes in the policy file, which every worker reads by itself: what was put before counts no more. */
  readonly file: Pick<HeldPolicy, 'replace'>
  /** Another worker took this one in. */
  relayed(policy: RelayedPolicy): void
  /** The primary has put the earliest of this worker's own in the order of all. */
  ordered(): void
}

/**
 * The primary puts the policies of all workers in one order, and the last of them counts. One of another worker that arrives before this
 * worker's own was ordered is the earlier one, and is dropped; it is kept only until the own one is known to be good.
 * @param send hands a policy to the primary, in the order of the calls
 * @param keeps called with the reason why this worker keeps the policy it has
 */
export function relayPolicies(held: HeldPolicy, send: (policy: RelayedPolicy) => void, keeps: (error: unknown) => void): RelayedPolicies {
  /** Own policies that are being taken in, or were not ordered yet. */
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
