import type { KeyTarget } from 'sluice/policy'
import type { HeldPolicy } from '../policy/held-policy.ts'
import type { Candidate } from '../policy/read-policy.ts'
import {
  type Beginning,
  hasEnded,
  overrideName,
  type RelayedOverride,
  type RelayedPolicy,
  type Removed,
  type ToWorker,
} from './messages.ts'

/**
 * The primary puts the policies of all workers in one order, and every worker must end with the last. A policy of this worker is pending
 * until it is ordered. Policies that arrive meanwhile are earlier in the order, so they count only if this worker cannot load its own. But
 * of two policies from a URL, the one requested later wins in any order, because a slow answer may be an older text.
 * @param send must keep the order of the calls
 * @param keeps called with the reason why this worker keeps its present policy
 * @param firstRequestedAt milliseconds since 1970; undefined if the first policy is not from a URL
 * @param idle called when no policy is loading or pending any more
 */
export function relayPolicies(
  held: HeldPolicy,
  send: (own: RelayedPolicy) => void,
  keeps: (error: unknown) => void,
  firstRequestedAt?: number,
  idle: () => void = () => {},
) {
  /** Pending policies of this worker: loading, or not yet ordered by the primary. */
  let own = 0
  let next: RelayedPolicy | undefined
  let [taking, current] = [false, '']
  /** When the policy in use, and those that the primary has not put in order, were requested; undefined if not from a URL. */
  let requestedAt = firstRequestedAt
  const unordered: (number | undefined)[] = []
  const takeNext = async (): Promise<void> => {
    if (taking || own > 0) return
    const policy = next
    next = undefined
    if (policy === undefined || isLater(requestedAt, policy.requestedAt)) return idle()
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
  const replace = async (candidate: Candidate, more: Pick<RelayedPolicy, 'fromPlace' | 'requestedAt'>, acceptedAt = Date.now()) => {
    own += 1
    try {
      const policy = await held.replace(candidate)
      current = textOf(candidate)
      requestedAt = more.requestedAt
      unordered.push(requestedAt)
      send({ ...candidate, text: current, acceptedAt, ...more })
      return policy
    } catch (error) {
      own -= 1
      void takeNext()
      throw error
    }
  }
  return {
    isIdle: () => !taking && own === 0,
    /** A policy that an administrator sent to this worker. */
    put: (candidate: Candidate) => replace(candidate, {}),
    /** Every worker reads the file by itself. */
    file: (candidate: Candidate) => replace(candidate, { fromPlace: true }),
    /**
     * A text in use, such as a relayed one, is loaded again only if `always` is set.
     * @param at milliseconds since 1970 when the request began
     */
    fetched: (candidate: Candidate, always: boolean, at: number) =>
      candidate.text === current && !always ? Promise.resolve(held.current) : replace(candidate, { fromPlace: true, requestedAt: at }),
    relayed(policy: RelayedPolicy) {
      if (!isLater(next?.requestedAt, policy.requestedAt)) next = policy
      void takeNext()
    },
    /** The primary has ordered this worker's oldest pending policy. */
    ordered() {
      own -= 1
      if (!isLater(next?.requestedAt, unordered.shift())) next = undefined
      void takeNext()
    },
  }
}

function textOf({ text }: Candidate): string {
  return typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
}

/** Whether both are times of requests, and the first is later. */
function isLater(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one > other
}

/**
 * The primary's side of `relayPolicies`.
 * @param send must keep the order of the calls
 */
export function createPolicyOrder<W>(workers: Iterable<W>, send: (worker: W, message: ToWorker) => void) {
  let latest: RelayedPolicy | undefined
  let fromPlace: RelayedPolicy | undefined
  /** False if new workers, those in `reading`, read the file or URL themselves. */
  let resumes = true
  const reading = new Set<W>()
  return {
    /** The policies for a new worker. `policy` is that of an administrator, unless a later one is from the file or URL. */
    toBegin(worker: W): Pick<Beginning, 'fromPlace' | 'policy'> {
      if (!resumes) reading.add(worker)
      return { fromPlace: resumes ? fromPlace : undefined, policy: latest?.fromPlace === true ? undefined : latest }
    },
    /** @param read the policy that a worker, which begins to serve, read from the file or URL itself */
    serves(read: RelayedPolicy | undefined) {
      resumes = true
      if (!isLater(fromPlace?.requestedAt, read?.requestedAt)) fromPlace = read ?? fromPlace
    },
    /**
     * If no worker is left to take a better policy, new ones try the policy in use and the file or URL in turns: a file that the policy in
     * use names may be gone.
     * @param isStuck whether this worker never served, and no other does
     */
    ended(worker: W, isStuck: boolean) {
      const hadRead = reading.delete(worker)
      resumes = !isStuck || hadRead
    },
    add(worker: W, policy: RelayedPolicy) {
      send(worker, { kind: 'ordered' })
      if (policy.fromPlace === true && !isLater(fromPlace?.requestedAt, policy.requestedAt)) fromPlace = policy
      // All workers read the same file or URL, so its policy is relayed once.
      const { text, filename, format } = policy
      if (text === latest?.text && filename === latest.filename && format === latest.format) return
      latest = policy
      for (const other of workers) if (other !== worker) send(other, { kind: 'policy', policy })
    },
  }
}

/** Two workers may each accept another one at once, so the primary refuses more too. */
export const MAX_OVERRIDES = 10_000

/**
 * The primary puts the overrides of all workers in one order. Every worker applies all changes in this order, also its own, so all end with
 * the same.
 * @param send must keep the order of the calls
 */
export function createOverrideOrder<W>(workers: Iterable<W>, send: (worker: W, message: ToWorker) => void, now: () => number) {
  const held = new Map<string, RelayedOverride>()
  const forgetEnded = (): void => {
    const at = now()
    for (const [name, change] of held) if (hasEnded(change, at)) held.delete(name)
  }
  /** Returns how many overrides were removed. */
  const take = (change: RelayedOverride): number => {
    const name = overrideName(change)
    const found = held.delete(name)
    if (change.fields === undefined) return found ? 1 : 0
    held.set(name, change)
    return 0
  }
  const isTooMany = (change: RelayedOverride): boolean => {
    if (change.fields === undefined || held.has(overrideName(change)) || held.size < MAX_OVERRIDES) return false
    forgetEnded()
    return held.size >= MAX_OVERRIDES
  }
  const removals = (target: KeyTarget | undefined): RelayedOverride[] => {
    if (target === undefined) return []
    forgetEnded()
    const { key: value, limit } = target
    const isAbout = ({ rule, key }: RelayedOverride): boolean => key.includes(value) && (limit === undefined || rule === limit)
    return [...held.values()].filter(isAbout).map(({ rule, key }) => ({ rule, key }))
  }
  return {
    /**
     * Returns how many overrides were removed. `isShared`: all workers get a change.
     * @param target the overrides with exactly this key are also removed
     */
    add(worker: W, named: readonly RelayedOverride[], target?: KeyTarget): { readonly removed: Removed; readonly isShared: boolean } {
      const changes = [...named, ...removals(target)]
      if (changes.length === 0) return { removed: 0, isShared: false }
      if (changes.some(isTooMany)) {
        // The worker has already applied the change.
        send(worker, { kind: 'overrides', changes: changes.map(({ rule, key }) => ({ rule, key })) })
        return { removed: 'full', isShared: false }
      }
      for (const each of workers) send(each, { kind: 'overrides', changes })
      return { removed: changes.reduce((removed, change) => removed + take(change), 0), isShared: true }
    },
    /** For a worker that begins later. */
    list(): readonly RelayedOverride[] {
      forgetEnded()
      return [...held.values()]
    },
  }
}
