import type { MicroTokens } from '../../algorithms/algorithm.ts'
import { createDeadlines, type Deadlines } from '../../time/deadlines.ts'
import type { Cancel, MonotonicInstant, Random } from '../../time/time.ts'
import type { Call, CallGroup, CallOptions, Decided, GroupVerdict, Scope, StateId, Verdict } from '../store.ts'
import { failedBy, StoreFailure } from '../store.ts'
import { CHECKS, HeldLease, type LeaseContext } from './held-lease.ts'
import { watchLoop, watchSleep } from './watch.ts'

export interface LeaseCacheOptions extends Omit<LeaseContext, 'sleeps'> {
  readonly random: Random
}

type DecideRest = (groups: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>
type Timed = CallOptions & { readonly deadline: MonotonicInstant }

interface Taken {
  readonly lease: HeldLease
  readonly cost: MicroTokens
  readonly sequence: number
}

/** If wall clock and monotonic clock drift apart by more than this fraction of a lease's life, the machine was suspended. */
const ASLEEP = 0.1

/** Admits calls of busy token buckets from leased tokens. These and the bucket never exceed the burst, so nothing is over-granted. */
export class LeaseCache {
  readonly #options: LeaseCacheOptions
  readonly #context: LeaseContext
  readonly #loop: ReturnType<typeof watchLoop>
  readonly #deadlines: Deadlines
  readonly #scopes = new WeakMap<Scope, Map<string, HeldLease>>()
  readonly #leases = new Set<HeldLease>()
  #holders: number
  #sleeps = 0
  #stopChecks: Cancel | undefined

  constructor(options: LeaseCacheOptions) {
    const { clock, lease, lifeMs, random } = options
    this.#options = options
    this.#loop = watchLoop(clock)
    this.#deadlines = createDeadlines(clock)
    this.#holders = Math.floor(random() * 2 ** 26) * 2 ** 26 + Math.floor(random() * 2 ** 26)
    const slept = watchSleep(clock, lifeMs * ASLEEP)
    this.#context = {
      ...options,
      lease: (...request) => this.#loop.during(lease(...request)),
      sleeps: (now) => (slept(now) ? (this.#sleeps += 1) : this.#sleeps),
    }
  }

  /** In micro-tokens, over all keys. */
  get leasedTokens(): MicroTokens {
    const now = this.#options.clock.monotonic()
    return [...this.#leases].reduce((sum, lease) => sum + lease.leasedTokens(now), 0)
  }

  /** Admits a single call from leased tokens. Undefined, with nothing charged, if it cannot. */
  decideNow({ calls }: CallGroup, now: MonotonicInstant): Decided | undefined {
    const call = calls[0]
    if (call === undefined || calls.length > 1 || this.#loop.starved(now)) return undefined
    const lease = this.#at(call.id)
    if (lease?.limit !== call.limit || lease.waiting > 0 || !lease.spend(call.cost, now)) return undefined
    lease.used = true
    return lease.admit(now)
  }

  /** A single call of a leased key may wait for tokens, until its deadline. Other calls without leased tokens go to `decideRest`. */
  async decide(groups: readonly CallGroup[], options: Timed, decideRest: DecideRest): Promise<readonly GroupVerdict[]> {
    const { clock } = this.#options
    if (this.#loop.starved(clock.monotonic())) await this.#loop.turned()
    const [call, ...others] = groups.length === 1 ? (groups[0] as CallGroup).calls : []
    if (call === undefined || others.length > 0) return this.#decideEach(groups, decideRest)
    try {
      const lease = call.cost > call.limit.plan.burst ? undefined : this.#find(call, clock.monotonic())
      const verdict = lease && (await this.#decideLeased(lease, call.cost, options))
      return verdict === undefined ? await decideRest(groups) : [verdict]
    } catch (error) {
      const failed = failedBy(error)
      return groups.map(() => failed)
    }
  }

  /** Rejects with a StoreFailure if the store did not take the tokens by the deadline. */
  async giveBack(ids: readonly StateId[], options: CallOptions = {}): Promise<void> {
    await this.#giveBack(
      ids.flatMap((id) => this.#at(id) ?? []),
      options,
    )
  }

  async close(options: CallOptions): Promise<void> {
    await this.#giveBack([...this.#leases], options).catch(() => {})
    this.#stopChecks?.()
    this.#stopChecks = undefined
  }

  #at({ scope, key }: StateId): HeldLease | undefined {
    return this.#scopes.get(scope)?.get(key)
  }

  /** Counts the call. Undefined: its key is not leased. */
  #find(call: Call, now: MonotonicInstant): HeldLease | undefined {
    const canLease = call.limit.algorithm.tag === 'tb' && this.#leases.size < this.#options.maxKeys
    const lease = this.#at(call.id) ?? (canLease ? this.#add(call) : undefined)
    return lease?.count(call, now) === true ? lease : undefined
  }

  #add(call: Call): HeldLease {
    const { scope, key } = call.id
    const lease = new HeldLease(call, (this.#holders += 1), this.#context)
    this.#scopes.set(scope, (this.#scopes.get(scope) ?? new Map<string, HeldLease>()).set(key, lease))
    this.#leases.add(lease)
    this.#stopChecks ??= this.#checkLater()
    return lease
  }

  #checkLater(): Cancel {
    const { clock, lifeMs } = this.#options
    return clock.after(lifeMs / CHECKS, () => {
      const now = clock.monotonic()
      for (const lease of this.#leases) if (!lease.check(now)) this.#drop(lease).catch(() => {})
      this.#stopChecks = this.#leases.size === 0 ? undefined : this.#checkLater()
    })
  }

  #drop(lease: HeldLease, deadline: MonotonicInstant = 0): Promise<unknown> {
    return lease.giveBack(deadline).finally(() => {
      if (this.#leases.delete(lease)) this.#scopes.get(lease.id.scope)?.delete(lease.id.key)
    })
  }

  async #giveBack(leases: readonly HeldLease[], options: CallOptions): Promise<void> {
    if (leases.length === 0) return
    await this.#within(options, () => Promise.all(leases.map((lease) => this.#drop(lease, options.deadline))))
  }

  /** Settles by the deadline, or when the caller aborts, even if the call does not. */
  async #within<T>(options: CallOptions, call: () => Promise<T>): Promise<T> {
    const { clock, name } = this.#options
    const late = (kind: 'aborted' | 'timeout'): StoreFailure =>
      new StoreFailure(kind, 'no', `${name}: ${kind} before the store answered about leased tokens`)
    if (options.signal?.aborted === true) throw late('aborted')
    if (options.deadline !== undefined && options.deadline <= clock.monotonic()) throw late('timeout')
    return this.#deadlines.within(options, call(), late)
  }

  /** Waits for tokens if there are too few. Undefined: the store must decide. */
  async #decideLeased(lease: HeldLease, cost: MicroTokens, options: Timed): Promise<Decided | undefined> {
    const { clock } = this.#options
    let now = clock.monotonic()
    if (lease.waiting === 0 && lease.spend(cost, now)) return lease.admit(now)
    lease.waiting += 1
    try {
      while (lease.givingBack === undefined && cost <= lease.max) {
        const refusal = await this.#within(options, () => lease.request(cost, options.deadline, clock.monotonic()))
        now = clock.monotonic()
        if (lease.spend(cost, now)) return lease.admit(now)
        if (refusal?.cost !== cost || refusal.verdict.outcome === 'allowed') continue
        const { at, verdict } = refusal
        const retryAfter = verdict.outcome === 'denied' ? verdict.retryAfter : undefined
        return { outcome: verdict.outcome, at, retryAfter, calls: [verdict], source: 'lease' }
      }
    } finally {
      lease.waiting -= 1
    }
    // The call may need nearly the whole bucket, so leased tokens must be back in it.
    if (lease.max > 0 && cost > lease.max) await this.#giveBack([lease], options)
    return undefined
  }

  async #decideEach(groups: readonly CallGroup[], decideRest: DecideRest): Promise<readonly GroupVerdict[]> {
    const { clock, name } = this.#options
    const takenAt = clock.monotonic()
    const rest: CallGroup[] = []
    const parts = groups.map(({ calls }) => {
      const taken = calls.map((call) => this.#take(call, takenAt))
      const isHere = calls.length > 0 && !taken.includes(undefined)
      return { taken, index: isHere ? -1 : rest.push({ calls: calls.filter((_, index) => taken[index] === undefined) }) - 1 }
    })
    const verdicts = rest.length === 0 ? [] : await decideRest(rest).catch((error: unknown) => rest.map(() => failedBy(error)))
    const missing = (): GroupVerdict => ({ failure: new StoreFailure('protocol', 'unknown', `${name}: a group without a verdict`) })
    const now = clock.monotonic()
    return parts.map(({ taken, index }) => joined(taken, index === -1 ? undefined : (verdicts[index] ?? missing()), now))
  }

  #take(call: Call, now: MonotonicInstant): Taken | undefined {
    const lease = this.#find(call, now)
    if (lease === undefined || lease.waiting > 0) return undefined
    const taken = { lease, cost: call.cost, sequence: lease.sequence }
    if (lease.spend(call.cost, now)) return taken
    lease.refill(call.cost, now)
    return undefined
  }
}

/** `verdict` is the store's, on the calls without leased tokens; absent if all had some. */
function joined(taken: readonly (Taken | undefined)[], verdict: GroupVerdict | undefined, now: MonotonicInstant): GroupVerdict {
  const isCharged = verdict === undefined || verdict.outcome === 'allowed' || verdict.failure?.executed === 'unknown'
  if (!isCharged) for (const one of taken) one?.lease.unspend(one.cost, one.sequence, now)
  if (verdict?.failure !== undefined) return verdict
  const admitted = taken.map((one) => one?.lease.admit(now))
  const decided = (verdict?.calls ?? []).values()
  const calls = admitted.map((one) => one?.calls[0] ?? (decided.next().value as Verdict))
  if (verdict !== undefined) return { ...verdict, calls }
  return { outcome: 'allowed', at: Math.max(...admitted.map((one) => one?.at ?? 0)), calls, source: 'lease' }
}
