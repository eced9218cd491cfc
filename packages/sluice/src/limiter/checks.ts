import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, shown } from '../errors/options.ts'
import { notify, type Observer } from '../observe/events.ts'
import type { CallGroup, CallOptions, FailurePolicy } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import type { StoreCaller } from './call-store.ts'
import { decisionOf, resultsOf } from './decision-of.ts'
import type { KeyCalls, ScopedLimit } from './key-calls.ts'
import type { CheckOptions, CheckRequest, Limiter } from './limiter.ts'
import { decideGroups, type Deciders, onFailure, type Resolved } from './on-failure.ts'
import { CHECK, COST, REQUEST, WAIT, type WaitOptions } from './timing.ts'

export interface CheckParts {
  readonly name: string
  /** For messages. */
  readonly where: string
  readonly onStoreFailure: FailurePolicy
  readonly clock: Time
  readonly observers: readonly Observer[]
  readonly limits: readonly ScopedLimit[]
  readonly calls: KeyCalls
  readonly deciders: Deciders
  readonly timing: (options?: WaitOptions) => CallOptions
}

type Deferred = Decision | Promise<Decision>

/** The verbs of a limiter that decide. */
export function createChecks(parts: CheckParts): Pick<Limiter, 'check' | 'checkSync' | 'checkMany' | 'peek'> {
  const { where, calls, clock, deciders, limits, observers, timing } = parts
  const { main, local } = deciders
  const { sync } = main.store.capabilities
  const syncLocal = local?.store.capabilities.sync === true ? local : undefined
  const policyAt = (): FailurePolicy => parts.onStoreFailure
  const finish = createFinish(parts)
  const start = (): number => (observers.length > 0 ? clock.monotonic() : 0)
  /** Decides without calling a server; undefined if the store cannot. */
  const decideNow = (key: string, options: CheckOptions | undefined, fallback: StoreCaller | undefined): Deferred | undefined => {
    if (options !== undefined) timing(options)
    const group = calls.sharedOf(key, options?.cost)
    // A caller that has aborted must not be charged.
    if (options?.signal?.aborted === true) return undefined
    const started = start()
    const verdict = main.decideNow?.(group)
    if (verdict === undefined) return undefined
    if (verdict.failure === undefined) return finish(verdict, started)
    const resolved = onFailure(verdict, parts.onStoreFailure, fallback, calls.groupOf(key, options?.cost), timing(options))
    return resolved instanceof Promise ? resolved.then((one) => finish(one, started)) : finish(resolved, started)
  }
  // A separate function, so that the synchronous path is compiled without it.
  const checkLater = async (key: string, options: CheckOptions | undefined): Promise<Decision> => {
    const started = start()
    const [resolved] = await decideGroups(deciders, [calls.groupOf(key, options?.cost)], policyAt, timing(options))
    return finish(resolved as Resolved, started)
  }
  return {
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
      const groups = groupsOf(where, requests, calls)
      if (groups.length === 0) return []
      const started = start()
      const resolved = await decideGroups(deciders, groups, policyAt, timing(options))
      return resolved.map((one) => finish(one, started))
    },
    async peek(key, options) {
      if (options !== undefined) refuseUnknown(where, options, CHECK)
      const group = calls.groupOf(key, options?.cost)
      const [resolved] = await decideGroups(deciders, [group], policyAt, { ...timing(options), charge: false })
      return decisionOf(resolved as Resolved, limits, clock)
    },
  }
}

/** Makes the decision of a verdict, and reports it to the observers. */
function createFinish({ name, limits, clock, deciders, observers }: CheckParts): (resolved: Resolved, started: number) => Decision {
  const isObserved = observers.length > 0
  const report = (resolved: Resolved, decision: Decision, started: number): void => {
    const results = resultsOf(resolved, limits)
    const durationMs = clock.monotonic() - started
    notify(observers, 'onDecision', { limiter: name, store: deciders.main.store.name, decision, results, durationMs })
  }
  return (resolved, started) => {
    const decision = decisionOf(resolved, limits, clock)
    if (isObserved) report(resolved, decision, started)
    return decision
  }
}

function groupsOf(where: string, requests: readonly CheckRequest[], calls: KeyCalls): CallGroup[] {
  if (!Array.isArray(requests))
    throw new LimiterError('INVALID_OPTIONS', `${where}: requests are ${shown(requests)}, expected a list of { key, cost }`)
  return requests.map((request: CheckRequest, index) => {
    refuseUnknown(`${where}: request ${index}`, request, REQUEST)
    return calls.groupOf(request.key, request.cost)
  })
}
