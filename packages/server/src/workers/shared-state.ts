import type { HeldPolicy } from '../policy/held-policy.ts'
import type { Candidate } from '../policy/read-policy.ts'
import type { RelayedOverride, RelayedPolicy, ToWorker } from './messages.ts'

/**
 * Keeps one worker's policy equal to that of the others. The primary process puts the policies that workers have accepted in one order.
 * Each worker must end with the last policy of this order. A policy of this worker is pending from the moment it begins to load until the
 * primary has ordered it. A policy that arrives meanwhile from another worker is earlier in the order. So it is dropped when the pending
 * one is ordered, and used if the pending one is refused. Of two policies that were fetched from the URL, the later one is the one that was
 * requested later: a slow answer may be an older text.
 * @param send sends a policy to the primary, in the order of the calls
 * @param keeps called with the reason why this worker keeps its present policy
 * @param firstRequestedAt milliseconds since 1970 when this worker requested the policy that it began with, if from a URL
 */
export function relayPolicies(
  held: HeldPolicy,
  send: (own: RelayedPolicy) => void,
  keeps: (error: unknown) => void,
  firstRequestedAt?: number,
) {
  /** Pending policies of this worker: they are being loaded, or the primary has not ordered them yet. */
  let own = 0
  let next: RelayedPolicy | undefined
  let [taking, current] = [false, '']
  /**
   * The times when the policy in use, and those that the primary has not ordered yet, were requested; undefined for a policy that was not
   * fetched from a URL.
   */
  let requestedAt = firstRequestedAt
  const unordered: (number | undefined)[] = []
  const takeNext = async (): Promise<void> => {
    const policy = next
    if (taking || policy === undefined || own > 0) return
    next = undefined
    if (isLater(requestedAt, policy.requestedAt)) return
    taking = true
    try {
      if (policy.text !== current) await held.replace(policy)
      current = policy.text
      requestedAt = policy.requestedAt
    } catch (error) {
      keeps(error)
    }
    taking = false
    await takeNext()
  }
  const replace = async (candidate: Candidate, more: Pick<RelayedPolicy, 'fromPlace' | 'requestedAt'>) => {
    own += 1
    try {
      const policy = await held.replace(candidate)
      const { text } = candidate
      current = typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
      requestedAt = more.requestedAt
      unordered.push(requestedAt)
      send({ ...candidate, text: current, ...more })
      return policy
    } catch (error) {
      own -= 1
      void takeNext()
      throw error
    }
  }
  return {
    /** Replaces the policy by one that an administrator sent to this worker, and sends it to the other workers. */
    put: (candidate: Candidate) => replace(candidate, {}),
    /** Loads the policy file, which every worker reads by itself. It also replaces a policy that an administrator sent. */
    file: (candidate: Candidate) => replace(candidate, { fromPlace: true }),
    /**
     * Loads a policy that this process fetched; every worker fetches by itself. A text that another worker has sent already is not loaded
     * again, unless `always` is set: the files that it names may have changed.
     * @param at milliseconds since 1970 when the request began
     */
    fetched: (candidate: Candidate, always: boolean, at: number) =>
      candidate.text === current && !always ? Promise.resolve(held.current) : replace(candidate, { fromPlace: true, requestedAt: at }),
    /** Another worker accepted this policy. */
    relayed(policy: RelayedPolicy) {
      if (!isLater(next?.requestedAt, policy.requestedAt)) next = policy
      void takeNext()
    },
    /** The primary has put the oldest pending policy of this worker in the order. */
    ordered() {
      own -= 1
      if (!isLater(next?.requestedAt, unordered.shift())) next = undefined
      void takeNext()
    },
  }
}

/** Whether both are times of requests, and the first is later. */
function isLater(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one > other
}

/**
 * The order of the policies that workers accept: the primary's side of `relayPolicies`.
 * @param workers the workers to which policies are sent
 * @param send sends a message to a worker, in the order of the calls
 */
export function createPolicyOrder<W>(workers: Iterable<W>, send: (worker: W, message: ToWorker) => void) {
  let latest: RelayedPolicy | undefined
  return {
    /** The policy that a new worker uses instead of the one that it read from the file or URL. */
    get toBegin() {
      return latest?.fromPlace === true ? undefined : latest
    },
    /** Adds a policy that a worker accepted, and sends it to the other workers. */
    add(worker: W, policy: RelayedPolicy) {
      send(worker, { kind: 'ordered' })
      // All workers read the same file or URL, so its policy is relayed once.
      const { text, filename, format } = policy
      if (text === latest?.text && filename === latest.filename && format === latest.format) return
      latest = policy
      for (const other of workers) if (other !== worker) send(other, { kind: 'policy', policy })
    },
  }
}

/**
 * The most overrides that are kept. When there are this many, those that have expired are removed. Each worker refuses more (400), so there
 * are more only if several workers accept overrides at the same time.
 */
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
