import type { MicroTokens } from '../../algorithms/algorithm.ts'
import { createDeadlines } from '../../time/deadlines.ts'
import type { Cancel, MonotonicInstant, Random } from '../../time/time.ts'
import type { Call, CallGroup, CallOptions, Decided, GroupVerdict, Scope, StateId, Verdict } from '../store.ts'
import { StoreFailure } from '../store.ts'
import { CHECKS, HeldLease, type LeaseContext } from './held-lease.ts'
import { settled } from './settled.ts'
import { watchLoop, watchSleep } from './watch.ts'

export interface LeaseCacheOptions extends Omit<LeaseContext, 'sleeps'> {
  readonly random: Random
}

type Ask = (groups: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>
type Timed = CallOptions & { readonly deadline: MonotonicInstant }

/** If wall clock and monotonic clock come apart by this part of a life, the machine was asleep. */
const ASLEEP = 0.1
/** A group all of whose calls are admitted from leases. */
const HERE: Decided = { outcome: 'allowed', at: 0, calls: [], source: 'lease' }

/**
 * Admits calls of busy token buckets from tokens that the store leased to this process. Strict: held tokens and the bucket together are
 * never more than the burst, so bound G is the store's. Tokens lost with a process or a reply are missing until their lease ends. Idle
 * tokens go back within half a life; none is spent after the machine has slept. A block or a penalty by another process applies at the next
 * request.
 */
export type LeaseCache = ReturnType<typeof createLeaseCache>

export function createLeaseCache(options: LeaseCacheOptions) {
  const { clock, name, random, lifeMs } = options
  const loop = watchLoop(clock)
  const slept = watchSleep(clock, lifeMs * ASLEEP)
  const deadlines = createDeadlines(clock)
  const scopes = new WeakMap<Scope, Map<string, HeldLease>>()
  const leases = new Set<HeldLease>()
  let holders = Math.floor(random() * 2 ** 26) * 2 ** 26 + Math.floor(random() * 2 ** 26)
  let sleeps = 0
  let stopChecks: Cancel | undefined
  const context: LeaseContext = {
    ...options,
    lease: (...request) => loop.during(options.lease(...request)),
    sleeps: (now) => (slept(now) ? (sleeps += 1) : sleeps),
  }

  const at = ({ scope, key }: StateId): HeldLease | undefined => scopes.get(scope)?.get(key)
  const add = (call: Call): HeldLease => {
    const { scope, key } = call.id
    const lease = new HeldLease(call, (holders += 1), context)
    scopes.set(scope, (scopes.get(scope) ?? new Map<string, HeldLease>()).set(key, lease))
    leases.add(lease)
    stopChecks ??= clock.after(lifeMs / CHECKS, check)
    return lease
  }
  /** The lease of a call's key, if it has one. Counts the call. */
  const find = (call: Call, now: MonotonicInstant): HeldLease | undefined => {
    const canLease = call.limit.algorithm.tag === 'tb' && leases.size < options.maxKeys
    const lease = at(call.id) ?? (canLease ? add(call) : undefined)
    return lease?.count(call, now) === true ? lease : undefined
  }
  const drop = (lease: HeldLease, deadline: MonotonicInstant = 0): Promise<unknown> =>
    lease.giveBack(deadline).finally(() => {
      if (leases.delete(lease)) scopes.get(lease.id.scope)?.delete(lease.id.key)
    })
  const check = (): void => {
    const now = clock.monotonic()
    for (const lease of leases) if (!lease.check(now)) drop(lease).catch(() => {})
    stopChecks = leases.size === 0 ? undefined : clock.after(lifeMs / CHECKS, check)
  }

  /** Calls, and settles by the deadline and when the caller aborts. */
  const within = <T>(callOptions: CallOptions, call: () => Promise<T>): Promise<T> => {
    const left = (kind: 'aborted' | 'timeout'): StoreFailure =>
      new StoreFailure(kind, 'no', `${name}: ${kind} before the store answered about leased tokens`)
    const { deadline } = callOptions
    if (deadline !== undefined && deadline <= clock.monotonic()) return Promise.reject(left('timeout'))
    return settled(deadlines, callOptions, left, call)
  }
  const giveBack = async (ids: readonly StateId[] | undefined, callOptions: CallOptions): Promise<void> => {
    const some = ids === undefined ? [...leases] : ids.flatMap((id) => at(id) ?? [])
    if (some.length > 0) await within(callOptions, () => Promise.all(some.map((lease) => drop(lease, callOptions.deadline))))
  }

  /** Decides a call of a leased key, waiting for tokens. Undefined: the store must decide. */
  const decideHere = async (lease: HeldLease, cost: MicroTokens, callOptions: Timed): Promise<Decided | undefined> => {
    let now = clock.monotonic()
    if (lease.waiting === 0 && lease.spend(cost, now)) return lease.admit(now)
    lease.waiting += 1
    try {
      while (lease.givingBack === undefined && cost <= lease.max) {
        const refusal = await within(callOptions, () => lease.request(cost, callOptions.deadline, clock.monotonic()))
        now = clock.monotonic()
        if (lease.spend(cost, now)) return lease.admit(now)
        if (refusal?.cost !== cost || refusal.verdict.outcome === 'allowed') continue
        const { outcome, retryAfter } = refusal.verdict
        return {
          outcome,
          at: refusal.at,
          retryAfter: outcome === 'denied' ? retryAfter : undefined,
          calls: [refusal.verdict],
          source: 'lease',
        }
      }
    } finally {
      lease.waiting -= 1
    }
    // A call that needs nearly all tokens there are must not lack those held here.
    if (lease.max > 0 && cost > lease.max) await giveBack([lease.id], callOptions)
    return undefined
  }
  const take = (call: Call, now: MonotonicInstant) => {
    const lease = find(call, now)
    if (lease === undefined || lease.waiting > 0) return undefined
    const taken = { lease, cost: call.cost, sequence: lease.sequence }
    if (lease.spend(call.cost, now)) return taken
    lease.refill(call.cost, now)
    return undefined
  }
  /** Takes what is held, and calls the store for the rest of each group. If it refuses, the tokens are taken back. */
  const decideEach = async (groups: readonly CallGroup[], ask: Ask): Promise<readonly GroupVerdict[]> => {
    const takenAt = clock.monotonic()
    const parts = groups.map(({ calls }) => ({ calls, taken: calls.map((call) => take(call, takenAt)) }))
    const open = parts.filter(({ calls, taken }) => calls.length === 0 || taken.includes(undefined))
    const rest = open.map(({ calls, taken }) => ({ calls: calls.filter((_, index) => taken[index] === undefined) }))
    const answers = rest.length === 0 ? [] : await ask(rest).catch((error: unknown) => failedBy(rest, error))
    const now = clock.monotonic()
    let next = 0
    return parts.map((part): GroupVerdict => {
      const { taken } = part
      const missing = (): GroupVerdict => ({ failure: new StoreFailure('protocol', 'unknown', `${name}: a group without a verdict`) })
      const verdict = part === open[next] ? (answers[next++] ?? missing()) : HERE
      const isUncharged = verdict.failure === undefined ? verdict.outcome !== 'allowed' : verdict.failure.executed === 'no'
      if (isUncharged) for (const one of taken) one?.lease.unspend(one.cost, one.sequence, now)
      if (verdict.failure !== undefined) return verdict
      const admitted = taken.map((one) => one?.lease.admit(now))
      const decided = verdict.calls.values()
      const calls = admitted.map((one) => one?.calls[0] ?? (decided.next().value as Verdict))
      return { ...verdict, at: verdict === HERE ? Math.max(...admitted.map((one) => one?.at ?? 0)) : verdict.at, calls }
    })
  }
  return {
    /** Micro-tokens leased to this process now, over all keys. */
    get leasedTokens(): MicroTokens {
      const now = clock.monotonic()
      return [...leases].reduce((sum, lease) => sum + lease.held(now), 0)
    },
    /** Admits from held tokens, without calling the store. Undefined: nothing was charged. Keeps no reference to the group. */
    decideNow({ calls }: CallGroup, now: MonotonicInstant): Decided | undefined {
      const [call] = calls
      if (call === undefined || calls.length > 1 || loop.starved(now)) return undefined
      const lease = at(call.id)
      if (lease?.limit !== call.limit || lease.waiting > 0 || !lease.spend(call.cost, now)) return undefined
      lease.used = true
      return lease.admit(now)
    },
    /**
     * Admits from held tokens what it can, and decides the rest by `ask`. A single call of a leased key waits for tokens. Failures are per
     * group. The deadline is hard.
     */
    async decide(groups: readonly CallGroup[], callOptions: Timed, ask: Ask): Promise<readonly GroupVerdict[]> {
      if (loop.starved(clock.monotonic())) await loop.turned()
      const [call, ...others] = groups.length === 1 ? (groups[0] as CallGroup).calls : []
      if (call === undefined || others.length > 0) return decideEach(groups, ask)
      try {
        const lease = call.cost > call.limit.plan.burst ? undefined : find(call, clock.monotonic())
        const verdict = lease === undefined ? undefined : await decideHere(lease, call.cost, callOptions)
        return verdict === undefined ? await ask(groups) : [verdict]
      } catch (error) {
        return failedBy(groups, error)
      }
    },
    /** Returns held tokens of these states to the store. Rejects with a StoreFailure if it did not take them by the deadline. */
    giveBack: (ids: readonly StateId[], callOptions: CallOptions = {}): Promise<void> => giveBack(ids, callOptions),
    /** Gives back everything that the store takes by the deadline. */
    async close(callOptions: CallOptions): Promise<void> {
      await giveBack(undefined, callOptions).catch(() => {})
      stopChecks?.()
      stopChecks = undefined
    },
  }
}

function failedBy(groups: readonly CallGroup[], error: unknown): readonly GroupVerdict[] {
  if (!(error instanceof StoreFailure)) throw error
  return groups.map(() => ({ failure: error }))
}
