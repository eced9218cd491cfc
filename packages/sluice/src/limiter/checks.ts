import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, shown } from '../errors/options.ts'
import { type Listening, listeningTo, notifyOfDecision } from '../observe/events.ts'
import type { Call, CallGroup, FailurePolicy, GroupVerdict } from '../stores/store.ts'
import type { Random, Stopwatch } from '../time/time.ts'
import type { StoreCaller } from './call-store.ts'
import { decisionOf, resultOf } from './decision-of.ts'
import type { KeyCalls } from './key-calls.ts'
import type { CheckParts } from './check-parts.ts'
import { createHolds } from './holds.ts'
import type { CheckOptions, CheckRequest, Limiter } from './limiter.ts'
import { forecast, microsUntil } from './forecast.ts'
import { decideGroups, onFailure, type Resolved, resolve } from './on-failure.ts'
import type { Reserving } from './reservation.ts'
import { COST, ONCE, PEEK, REQUEST, WAIT } from './timing.ts'
import { createWaits } from './waits.ts'

type Deferred = Decision | Promise<Decision>

export function createChecks(
  parts: CheckParts & { readonly random: Random },
): Pick<Limiter, 'check' | 'checkSync' | 'checkMany' | 'peek' | 'wait'> & Reserving {
  const { where, calls, clock, deciders, limits, observers, timing } = parts
  const { main, local } = deciders
  const { sync } = main.store.capabilities
  const syncLocal = local?.store.capabilities.sync === true ? local : undefined
  const policyAt = (): FailurePolicy => parts.onStoreFailure
  const listening = listeningTo(observers, 'onDecision')
  const finish = createFinish(parts, listening)
  const start = (): Stopwatch | undefined => (listening.length > 0 ? { started: clock.monotonic(), ended: undefined } : undefined)
  const decideNow = createDecideNow(parts, finish, start)
  const { checkOnce, ...holds } = createHolds({ ...parts, finish, start })
  const checks: Pick<Limiter, 'check' | 'checkSync' | 'checkMany' | 'peek'> = {
    check(key, options) {
      try {
        if (options !== undefined) refuseUnknown(where, options, ONCE)
        if (options?.id !== undefined || options?.holdMs !== undefined) return checkOnce(key, options)
        const decision = main.decideNow === undefined ? undefined : decideNow(key, options, local)
        if (decision !== undefined) return Promise.resolve(decision)
        const watch = start()
        const group = calls.heldOf(key, options?.cost)
        const timed = timing(options)
        return main.decide([group], timed).then(([verdict]) => {
          const resolved = resolve(verdict as GroupVerdict, parts.onStoreFailure, local, group, timed)
          return resolved instanceof Promise ? resolved.then((one) => finish(one, group, watch)) : finish(resolved, group, watch)
        })
      } catch (error) {
        return Promise.reject(error)
      }
    },
    checkSync(key, options) {
      if (!sync) throw new LimiterError('NOT_SYNCHRONOUS', `${where}: its store answers only asynchronously; use check`)
      if (options !== undefined) refuseUnknown(where, options, COST)
      // Never a promise: the store and its local fallback are both synchronous here.
      return decideNow(key, options, syncLocal) as Decision
    },
    async checkMany(requests, options) {
      if (options !== undefined) refuseUnknown(where, options, WAIT)
      const groups = groupsOf(where, requests, calls)
      if (groups.length === 0) return []
      const watch = start()
      const resolved = await decideGroups(deciders, groups, policyAt, timing(options))
      return resolved.map((one, index) => finish(one, groups[index] as CallGroup, watch))
    },
    async peek(key, options) {
      if (options !== undefined) refuseUnknown(where, options, PEEK)
      const group = calls.groupOf(key, options?.cost)
      const timed = timing(options)
      const [resolved] =
        options?.at === undefined
          ? await decideGroups(deciders, [group], policyAt, { ...timed, charge: false })
          : [await forecast(parts, group, timed, microsUntil(where, clock, options.at))]
      return decisionOf(resolved as Resolved, limits, clock)
    },
  }
  return { ...checks, ...holds, ...createWaits({ ...parts, finish, start, check: checks.check }) }
}

/** Undefined if the store cannot decide without calling a server. */
function createDecideNow(parts: CheckParts, finish: Finish, start: () => Stopwatch | undefined) {
  const { calls, timing } = parts
  const { main } = parts.deciders
  return (key: string, options: CheckOptions | undefined, fallback: StoreCaller | undefined): Deferred | undefined => {
    if (options !== undefined) timing(options)
    const group = calls.sharedOf(key, options?.cost)
    // A caller that has aborted must not be charged.
    if (options?.signal?.aborted === true) return undefined
    const watch = start()
    const verdict = main.decideNow?.(group, watch)
    if (verdict === undefined) return undefined
    if (verdict.failure === undefined) return finish(verdict, group, watch)
    if (watch !== undefined) watch.ended = undefined
    // The failed store may have granted slots under this id. The local fallback uses the same one, so that one `release` frees both.
    const own: CallGroup = { ...group, ...calls.groupOf(key, options?.cost) }
    const resolved = onFailure(verdict, parts.onStoreFailure, fallback, own, timing(options))
    return resolved instanceof Promise ? resolved.then((one) => finish(one, own, watch)) : finish(resolved, own, watch)
  }
}

type Finish = ReturnType<typeof createFinish>

/**
 * The returned function reads the group before it returns, so its caller may reuse the group. With `watch`, it notifies observers of
 * `resolved`. `as` is the verdict that the decision shows, if not `resolved`.
 */
function createFinish({ name, limits, clock, deciders }: CheckParts, listening: readonly Listening<'onDecision'>[]) {
  const report = (resolved: Resolved, group: CallGroup, decision: Decision, { started, ended }: Stopwatch): void => {
    const durationMs = (ended ?? clock.monotonic()) - started
    const results = limits.map((limit, index) => resultOf(limit.name, group.calls[index] as Call, resolved, index))
    const refusedBy = decision.allowed ? undefined : (decision.limitName ?? limits[0]?.name)
    notifyOfDecision(listening, { limiter: name, decision, store: deciders.main.store.name, results, refusedBy, durationMs })
  }
  return (resolved: Resolved, group: CallGroup, watch: Stopwatch | undefined, as: Resolved = resolved): Decision => {
    const decision = decisionOf(as, limits, clock, group.options?.hold?.id)
    if (watch !== undefined) report(resolved, group, decision, watch)
    return decision
  }
}

function groupsOf(where: string, requests: readonly CheckRequest[], calls: KeyCalls): CallGroup[] {
  if (!Array.isArray(requests))
    throw new LimiterError('INVALID_OPTIONS', `${where}: requests are ${shown(requests)}, expected a list of { key, cost }`)
  return requests.map((request: CheckRequest, index) => {
    refuseUnknown(`${where}: request ${index}`, request, REQUEST)
    return calls.heldOf(request.key, request.cost)
  })
}
