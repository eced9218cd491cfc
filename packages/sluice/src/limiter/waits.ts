import { canChargeAhead } from '../algorithms/ahead.ts'
import { MICRO } from '../algorithms/decimal.ts'
import type { Decision, LimitView } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, requireForm, WAIT_MS } from '../errors/options.ts'
import type { Call, CallGroup, Change, Verdict } from '../stores/store.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Stopwatch } from '../time/time.ts'
import type { CheckParts } from './check-parts.ts'
import { takesSlots } from './holders.ts'
import { createLeaves } from './leaves.ts'
import { createLine } from './line.ts'
import type { CheckOptions, Limiter } from './limiter.ts'
import { decideGroup, onFailure, type Resolved } from './on-failure.ts'
import { createOrder } from './order.ts'
import { createSleep } from './sleep.ts'
import { CHECK } from './timing.ts'

const DEFAULT_WAIT_MS = 60_000
const PATIENT: readonly string[] = [...CHECK, 'maxWaitMs']
/** The next caller is refused with OVERLOAD. */
const MAX_WAITING = 100_000

export interface WaitParts extends CheckParts {
  /**
   * Also reports `resolved` to observers.
   * @param as the verdict for the decision, if not `resolved`
   */
  readonly finish: (resolved: Resolved, group: CallGroup, watch: Stopwatch | undefined, as?: Resolved) => Decision
  readonly start: () => Stopwatch | undefined
  readonly check: Limiter['check']
}

/**
 * The options were checked before.
 * @throws LimiterError OVERLOAD
 */
type Waiting = (key: string, options: CheckOptions, maxWaitMs: number) => Promise<Decision>

export function createWaits(parts: WaitParts): Pick<Limiter, 'wait'> {
  const { where, limits, deciders, calls, timing } = parts
  const { capabilities } = deciders.main.store
  const offered = capabilities.groupOptions?.includes('maxWait') === true && capabilities.changes.includes('leave')
  const chargesAhead = offered && limits.every(({ limit }) => canChargeAhead(limit))
  const waiting = chargesAhead ? aheadOf(parts) : inLine(parts)
  return {
    wait(key, options = {}) {
      try {
        refuseUnknown(where, options, PATIENT)
        const { maxWaitMs = DEFAULT_WAIT_MS, ...own } = options
        requireForm(where, 'maxWaitMs', maxWaitMs, WAIT_MS)
        // Checks the other options before anybody waits.
        calls.groupOf(key, own.cost)
        timing({ ...own })
        if (own.signal?.aborted === true) return Promise.reject(own.signal.reason as Error)
        return waiting(key, own, maxWaitMs)
      } catch (error) {
        return Promise.reject(error)
      }
    },
  }
}

function requireRoom(where: string, waiting: number): void {
  if (waiting >= MAX_WAITING) throw new LimiterError('OVERLOAD', `${where}: ${MAX_WAITING} callers are waiting already`)
}

/** Charges calls before their tokens are available, then waits. The store keeps the order of callers of all processes. */
function aheadOf(parts: WaitParts): Waiting {
  const { where, calls, clock, deciders, finish, onStoreFailure, start, timing } = parts
  const { decideNow, store } = deciders.main
  const sleep = createSleep(clock)
  const order = createOrder(clock)
  const sharing = sharedViews()
  const leaves = createLeaves(() => timing())
  const leave = (resolved: Resolved, group: CallGroup): void => {
    const decider = resolved.source === 'fallback' ? deciders.local : deciders.main
    if (decider !== undefined && resolved.outcome === 'allowed') leaves.add(decider, leaving(group, resolved.calls))
  }
  let deciding = 0
  return (key, { cost, signal, ...own }, maxWaitMs) => {
    requireRoom(where, deciding + sleep.size)
    const group: CallGroup = { ...calls.groupOf(key, cost), options: { maxWait: Math.round(maxWaitMs * MICROS_PER_MS) } }
    const watch = start()
    const sent = clock.monotonic()
    const decided = (resolved: Resolved): Decision | Wait => {
      // The stated wait began before the answer came, so a wait of this length from now is never too short.
      const received = clock.monotonic()
      const decision = finish(resolved, group, watch, atStart(resolved, group))
      if (resolved.outcome !== 'allowed') return decision
      const { at: instant, retryAfter = 0, source } = resolved
      const earliest = received + retryAfter / MICROS_PER_MS
      const at = source === 'fallback' ? earliest : order.startOf(key, instant + retryAfter, earliest, received - sent)
      return at > received || signal?.aborted === true ? { decision: sharing(decision), resolved, at } : decision
    }
    const answer = (): Resolved | Promise<Resolved> => {
      const verdict = store.capabilities.sync ? decideNow?.(group, watch) : undefined
      if (verdict === undefined) return decideGroup(deciders, group, onStoreFailure, timing(own))
      return verdict.failure === undefined ? verdict : onFailure(verdict, onStoreFailure, deciders.local, group, timing(own))
    }
    const answered = answer()
    // Each waiting caller costs one promise and one small object. An async function would keep its frame and more promises.
    return new Promise<Decision>((resolve, reject) => {
      const settle = (wait: Decision | Wait): void => {
        if (!('resolved' in wait)) resolve(wait)
        else if (signal === undefined) sleep.pass(wait.at, resolve, wait.decision)
        else
          sleep.until(wait.at, signal).then(
            () => resolve(wait.decision),
            (error: unknown) => {
              leave(wait.resolved, group)
              reject(error)
            },
          )
      }
      if (!(answered instanceof Promise)) return settle(decided(answered))
      deciding += 1
      answered
        .finally(() => (deciding -= 1))
        .then((resolved) => settle(decided(resolved)))
        .catch(reject)
    })
  }
}

/** Consecutive waiters mostly have equal views. A list of views for each would take a quarter of a waiter's memory. */
function sharedViews(): (decision: Decision) => Decision {
  let last: Decision['limits'] = []
  return (decision) => {
    const { limits } = decision
    const isSame = limits.length === last.length && limits.every((view, index) => isEqual(view, last[index] as LimitView))
    if (!isSame) last = limits
    return isSame ? Object.assign(decision, { limits: last }) : decision
  }
}

function isEqual(one: LimitView, other: LimitView): boolean {
  const { remaining, replenishAfterMs, resetAfterMs } = other
  return one.remaining === remaining && one.replenishAfterMs === replenishAfterMs && one.resetAfterMs === resetAfterMs
}

/** `at`: when the call may start, by this process's clock. */
interface Wait {
  readonly decision: Decision
  readonly resolved: Resolved
  readonly at: number
}

/** The verdict as of the start of the work. */
function atStart(resolved: Resolved, { calls: charged }: CallGroup): Resolved {
  if (resolved.outcome !== 'allowed' || resolved.retryAfter === undefined) return resolved
  const { retryAfter } = resolved
  const at = resolved.at + retryAfter
  const calls = resolved.calls.map((verdict, index): Verdict => {
    const { replenishAfter, resetAfter } = verdict
    if (verdict.retryAfter === retryAfter)
      return { ...verdict, replenishAfter: replenishAfter - retryAfter, resetAfter: resetAfter - retryAfter }
    // Limits with a shorter wait have their tokens earlier: their views are computed for the start of the work, `at`.
    if (verdict.after === undefined) return verdict
    const { limit, phase } = charged[index] as Call
    return { ...verdict, ...limit.algorithm.view(limit.plan, verdict.after, at, phase) }
  })
  return { ...resolved, at, calls }
}

function leaving({ calls }: CallGroup, verdicts: readonly Verdict[]): readonly Change[] {
  return calls.flatMap((call, index): Change[] => {
    const after = verdicts[index]?.after
    return after === undefined ? [] : [{ kind: 'leave', call, after }]
  })
}

/** For limits that cannot be charged before their tokens are there. Callers keep the order of arrival in this process. */
function inLine(parts: WaitParts): Waiting {
  const { where, calls, check, clock, deciders, limits, random, releases, timing } = parts
  const { mostOf } = deciders.main.store.capabilities
  const line = createLine({
    clock,
    random,
    sleep: createSleep(clock),
    check,
    deadline: (options) => timing(options).deadline ?? clock.monotonic(),
    giveBack: (key, cost, decision) => giveBack(parts, key, cost, decision),
    releases: limits.some(({ limit }) => takesSlots(limit)) ? releases : undefined,
  })
  let waiting = 0
  return (key, options, maxWaitMs) => {
    requireRoom(where, waiting)
    waiting += 1
    const group = calls.groupOf(key, options.cost).calls
    const fits = group.every((call) => call.cost <= call.limit.capacity * MICRO)
    // Waiting does not help if the cost is above the part of the limit that the store grants.
    const isBeyond = mostOf !== undefined && fits && group.some(({ cost, limit }) => cost > mostOf(limit) * MICRO)
    const answered = isBeyond ? check(key, options) : line.join(key, options, maxWaitMs, fits)
    return answered.finally(() => (waiting -= 1))
  }
}

/**
 * Slots are released in every store that may have granted them; only this caller's slots have its id. Tokens of an undecided call stay
 * charged, because it is unknown whether they were. Never rejects.
 */
async function giveBack(
  { calls, deciders: { main, local }, releases, timing }: WaitParts,
  key: string,
  cost: number | undefined,
  { atMicros: receipt, hold, outcome, source }: Decision,
): Promise<void> {
  const { calls: charged } = calls.groupOf(key, cost)
  const slots = charged.flatMap((call): Change[] =>
    hold !== undefined && takesSlots(call.limit) ? [{ kind: 'release', call, holder: hold.id }] : [],
  )
  const tokens = charged.filter(({ limit }) => !takesSlots(limit))
  const all = [...tokens.map((call): Change => ({ kind: 'adjust', call, amount: call.cost, receipt })), ...slots]
  const isLocal = source === 'fallback'
  const changesOf = (hasCharged: boolean): readonly Change[] => (hasCharged && outcome === 'allowed' ? all : slots)
  await Promise.allSettled([main.change(changesOf(!isLocal), timing()), local?.change(changesOf(isLocal), {})])
  if (hold !== undefined) releases.report(key)
}
