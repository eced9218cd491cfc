/// <reference lib="esnext.disposable" preserve="true" />
import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, shown } from '../errors/options.ts'
import { parsePeriod } from '../time/duration.ts'
import type { Micros } from '../time/micros.ts'
import { scopeOf, validKey } from '../keys/encode.ts'
import { notify, type Observer } from '../observe/events.ts'
import type { CallGroup, CallOptions, Change, FailurePolicy, Scope, StateId, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import { createStoreCaller, type StoreCaller } from './call-store.ts'
import { requireChange, requireDecidable } from './decidable.ts'
import { decisionOf, type NamedLimit, resultsOf } from './decision-of.ts'
import { decideGroups, type Deciders, onFailure, type Resolved } from './on-failure.ts'
import { phaseOf } from './phase.ts'
import { CHECK, COST, type Deadline, REFUND, REQUEST, timingOf, WAIT, type WaitOptions } from './timing.ts'

/** `signal` stops waiting for a remote store: the decision is then `undecided`. */
export interface CheckOptions extends WaitOptions {
  /** Tokens that this call takes; above 0, at most six decimals; default 1. */
  readonly cost?: number
}

export interface CheckRequest {
  readonly key: string
  readonly cost?: number
}

export interface RefundOptions extends WaitOptions {
  /** Tokens to give back, at most six decimals; default 1. */
  readonly cost?: number
  /** The decision that charged the tokens, possibly restored from JSON. If its window has ended since, nothing is given back. */
  readonly receipt?: Pick<Decision, 'atMicros'>
}

export interface LimiterParts {
  readonly name: string
  /** Every check charges all of them, or none. */
  readonly limits: Readonly<Record<string, AnyLimit>>
  readonly store: Store
  readonly onStoreFailure: FailurePolicy
  /** Decides in this process if the store fails and the policy is `local`. Undefined: nothing does, and such calls are refused. */
  readonly local: Store | undefined
  readonly clock: Time
  readonly deadline: Deadline
  readonly observers: readonly Observer[]
  /** Runs when the limiter is closed. */
  readonly onClose: () => Promise<void>
}

/** One or several named limits over one store, checked by key. */
export interface Limiter extends AsyncDisposable {
  readonly name: string
  /** Charges every limit of the key, all or nothing. Rejects only on misuse (a LimiterError), never because the store fails. */
  check(key: string, options?: CheckOptions): Promise<Decision>
  /** As `check`, synchronously. Only if the store is synchronous. */
  checkSync(key: string, options?: Pick<CheckOptions, 'cost'>): Decision
  /** Several checks in one store call, decided in order and independently. */
  checkMany(requests: readonly CheckRequest[], options?: Omit<CheckOptions, 'cost'>): Promise<Decision[]>
  /**
   * Reports what `check` would decide now (outcome and retryAfter). It charges and writes nothing; views do not include the cost. After a
   * change of the limit, the wait counts from the first `check` under the new limit, because only `check` converts the key.
   */
  peek(key: string, options?: CheckOptions): Promise<Decision>
  /** Gives tokens back to every limit of the key, never beyond fresh. Rejects with the StoreFailure if the store cannot. */
  refund(key: string, options?: RefundOptions): Promise<void>
  /** Takes tokens unconditionally, to at most one capacity below empty. Rejects with the StoreFailure if the store cannot. */
  penalize(key: string, options?: CheckOptions): Promise<void>
  /** Denies the key for this long, whatever its limits have left. Rejects with the StoreFailure if the store cannot. */
  block(key: string, duration: string | number): Promise<void>
  /** Lifts a block. */
  unblock(key: string): Promise<void>
  /** Forgets the key, so that its next check finds it fresh. A block stays. Rejects with the StoreFailure if the store cannot. */
  reset(key: string): Promise<void>
  /** Resolves when the store can decide. */
  ready(): Promise<void>
  close(): Promise<void>
}

interface ScopedLimit extends NamedLimit {
  readonly scope: Scope
}

/** A call object that is filled in again for each check. */
interface OpenCall {
  readonly id: { readonly scope: Scope; key: string }
  readonly limit: AnyLimit
  cost: MicroTokens
  phase: number
}

/** Builds a limiter from its parts. `createLimiter` fills in the defaults. */
export function buildLimiter(parts: LimiterParts): Limiter {
  const { name, store, clock, observers } = parts
  const main = createStoreCaller(store, clock, observers)
  const local = parts.local === undefined ? undefined : createStoreCaller(parts.local, clock)
  const syncLocal = parts.local?.capabilities.sync === true ? local : undefined
  const deciders: Deciders = { main, local }
  const policyAt = (): FailurePolicy => parts.onStoreFailure
  const { sync } = store.capabilities
  const where = `limiter ${name}`
  const limits = Object.entries(parts.limits).map(([limitName, limit]): ScopedLimit => {
    if (typeof limit?.algorithm?.decide !== 'function')
      throw new LimiterError('INVALID_OPTIONS', `${where}: limit ${limitName} is not a limit; expected one made by tokenBucket or its like`)
    requireDecidable(`${where}: limit ${limitName}`, store, limit)
    return { name: limitName, limit, scope: scopeOf(name, limitName, limit.algorithm.tag) }
  })
  if (limits.length === 0) throw new LimiterError('INVALID_OPTIONS', `${where}: no limit given; expected limit or limits with at least one`)
  const phased = limits.some(({ limit }) => limit.phased)
  let closed = false

  const openCalls = (): OpenCall[] => limits.map(({ scope, limit }) => ({ id: { scope, key: '' }, limit, cost: 0, phase: 0 }))
  const fill = (calls: readonly OpenCall[], key: string, cost: number | undefined): void => {
    if (closed) throw new LimiterError('CLOSED', `${where} is closed`)
    const micro = cost === undefined ? MICRO : microCost(cost)
    validKey(where, key)
    for (const call of calls) {
      call.id.key = key
      call.cost = micro
      if (phased) call.phase = phaseOf(call.limit, key)
    }
  }
  const groupOf = (key: string, cost?: number): CallGroup => {
    const calls = openCalls()
    fill(calls, key, cost)
    return { calls }
  }
  // `decideNow` keeps no reference to the group, so all calls share one.
  const shared = { calls: openCalls() }
  const deadline = sync ? undefined : parts.deadline
  const timing = (options?: WaitOptions): CallOptions => timingOf(where, clock, deadline, options)
  const observed = observers.length > 0
  const finish = (resolved: Resolved, started: number): Decision => {
    const decision = decisionOf(resolved, limits, clock)
    if (observed) report(resolved, decision, started)
    return decision
  }
  const report = (resolved: Resolved, decision: Decision, started: number): void => {
    const results = resultsOf(resolved, limits)
    notify(observers, 'onDecision', { limiter: name, store: store.name, decision, results, durationMs: clock.monotonic() - started })
  }
  const start = (): number => (observed ? clock.monotonic() : 0)
  /** Decides without calling a server; undefined if the store cannot. */
  const decideNow = (
    key: string,
    options: CheckOptions | undefined,
    fallback: StoreCaller | undefined,
  ): Decision | Promise<Decision> | undefined => {
    if (options !== undefined) timing(options)
    fill(shared.calls, key, options?.cost)
    // A caller that has aborted must not be charged.
    if (options?.signal?.aborted === true) return undefined
    const started = start()
    const verdict = main.decideNow?.(shared)
    if (verdict === undefined) return undefined
    if (verdict.failure === undefined) return finish(verdict, started)
    const resolved = onFailure(verdict, parts.onStoreFailure, fallback, groupOf(key, options?.cost), timing(options))
    return resolved instanceof Promise ? resolved.then((one) => finish(one, started)) : finish(resolved, started)
  }
  // A separate function, so that the synchronous path is compiled without it.
  const checkLater = async (key: string, options: CheckOptions | undefined): Promise<Decision> => {
    const started = start()
    const [resolved] = await decideGroups(deciders, [groupOf(key, options?.cost)], policyAt, timing(options))
    return finish(resolved as Resolved, started)
  }
  /** @throws LimiterError NOT_SUPPORTED if the store does not make changes of this kind */
  const change = (changes: readonly Change[], options: CallOptions = timing()): Promise<void> => {
    for (const { kind } of changes) requireChange(where, store, kind)
    return main.change(changes, options)
  }
  const adjust = async (key: string, sign: 1 | -1, adjustment: RefundOptions, known: readonly string[]): Promise<void> => {
    refuseUnknown(where, adjustment, known)
    const { cost, receipt, ...wait } = adjustment
    const at = receipt === undefined ? undefined : instantOf(where, receipt)
    const { calls } = groupOf(key, cost)
    await change(
      calls.map((call) => ({ kind: 'adjust', call, amount: sign * call.cost, receipt: at })),
      timing(wait),
    )
  }
  const idsOf = (key: string): StateId[] => groupOf(key).calls.map(({ id }) => id)
  // The first limit's state carries the block: one is enough to deny the group.
  const firstOf = (key: string): StateId => idsOf(key)[0] as StateId
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    await parts.onClose()
  }
  return {
    name,
    check(key, options) {
      try {
        if (options !== undefined) refuseUnknown(where, options, CHECK)
        const decision = main.decideNow === undefined ? undefined : decideNow(key, options, local)
        if (decision !== undefined) return Promise.resolve(decision)
      } catch (error) {
        return Promise.reject(error)
      }
      return checkLater(key, options)
    },
    checkSync(key, options) {
      if (!sync) throw new LimiterError('NOT_SYNCHRONOUS', `${where}: its store answers only asynchronously; use check`)
      if (options !== undefined) refuseUnknown(where, options, COST)
      // Two synchronous stores never make a promise.
      return decideNow(key, options, syncLocal) as Decision
    },
    async checkMany(requests, options) {
      if (options !== undefined) refuseUnknown(where, options, WAIT)
      if (!Array.isArray(requests))
        throw new LimiterError('INVALID_OPTIONS', `${where}: requests are ${shown(requests)}, expected a list of { key, cost }`)
      const groups = requests.map((request: CheckRequest, index) => {
        refuseUnknown(`${where}: request ${index}`, request, REQUEST)
        return groupOf(request.key, request.cost)
      })
      if (groups.length === 0) return []
      const started = start()
      const resolved = await decideGroups(deciders, groups, policyAt, timing(options))
      return resolved.map((one) => finish(one, started))
    },
    async peek(key, options) {
      if (options !== undefined) refuseUnknown(where, options, CHECK)
      const [resolved] = await decideGroups(deciders, [groupOf(key, options?.cost)], policyAt, { ...timing(options), charge: false })
      return decisionOf(resolved as Resolved, limits, clock)
    },
    refund: (key, options = {}) => adjust(key, 1, options, REFUND),
    penalize: (key, options = {}) => adjust(key, -1, options, CHECK),
    async block(key, duration) {
      const micros = parsePeriod(duration, `${where}: `)
      await change([{ kind: 'block', id: firstOf(key), micros }])
    },
    async unblock(key) {
      await change([{ kind: 'unblock', id: firstOf(key) }])
    },
    async reset(key) {
      await change(idsOf(key).map((id) => ({ kind: 'reset', id })))
    },
    ready: () => main.ready(timing({ deadlineMs: 5_000 })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** @throws LimiterError INVALID_OPTIONS if the receipt is not a decision */
function instantOf(where: string, receipt: Pick<Decision, 'atMicros'> | null): Micros {
  const at = receipt?.atMicros
  if (Number.isSafeInteger(at) && (at as Micros) >= 0) return at as Micros
  throw new LimiterError(
    'INVALID_OPTIONS',
    `${where}: receipt.atMicros is ${shown(at)}, expected whole microseconds since 1970: give the decision that charged the call`,
  )
}
