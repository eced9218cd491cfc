import { checkOptions, CLOCK, COUNT, type Form, MILLISECONDS, requireForm, STORE } from '../../errors/options.ts'
import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import { systemTime } from '../../time/system.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import type { Call, CallGroup, CallOptions, GroupVerdict, StateId, Store, Verdict } from '../store.ts'
import { type Denial, Denials } from './denials.ts'
import { watchSleep } from './sleep.ts'

export interface DeniedCacheOptions {
  /** Milliseconds that a denial is remembered at most: a reset, a refund or a lifted block elsewhere cannot reach it. Default 1,000. */
  readonly maxDeniedMs?: number
  /** Denials remembered at once; the oldest goes. Default 10,000. */
  readonly maxDenials?: number
  readonly clock?: Time
}

const FORMS: Readonly<Record<string, Form>> = { maxDeniedMs: MILLISECONDS, maxDenials: COUNT, clock: CLOCK }
/** Clocks that have come apart by more than this: the machine slept, and nothing is remembered. */
const ASLEEP_MS = 50
/** So often is looked whether it did: reading a clock costs a quarter of an answer, and a denial does no harm meanwhile. */
const LOOK_MS = 1

/**
 * Answers a question that was denied, asked again, without asking the store: until the first of its denying calls could pass, and `maxDeniedMs` at
 * most. Only whole groups of the same limits, keys and costs are answered, only from denials by a limit or a block that the store itself decided. The
 * instant at which waiting is enough stays what the store said; what is left of limits that did not deny is as the store said it. Whoever
 * resets, refunds, penalizes, blocks or unblocks through this store drops what is remembered of the key. Bound G: that of the store, since only
 * denials are remembered.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withDeniedCache(store: Store, options: DeniedCacheOptions = {}): Store {
  requireForm('withDeniedCache', 'store', store, STORE)
  checkOptions('withDeniedCache', options, FORMS)
  const { maxDeniedMs = 1_000, maxDenials = 10_000, clock = systemTime } = options
  // A store in this process answers as soon as a table does.
  if (store.capabilities.sync) return store
  const denials = new Denials(maxDenials)
  const sleep = watchSleep(clock, ASLEEP_MS)
  const adjust = store.adjust?.bind(store)
  const block = store.block?.bind(store)
  const lease = store.lease?.bind(store)
  const here = store.consumeHere?.bind(store)
  /** Rises with every change from here: an answer to what was asked before it is not remembered. */
  let changes = 0
  let nextLook: MonotonicInstant = 0

  const find = (group: CallGroup, now: MonotonicInstant): Denial | undefined => {
    if (denials.empty) return undefined
    if (now >= nextLook) {
      nextLook = now + LOOK_MS
      if (sleep.slept(now)) denials.clear()
    }
    return denials.find(group, now)
  }
  const remember = ({ calls }: CallGroup, verdict: GroupVerdict, askedAt: MonotonicInstant): void => {
    if (verdict.outcome !== 'denied' || verdict.degraded !== undefined || verdict.reason !== undefined) return
    let soonest = Number.POSITIVE_INFINITY
    let denied = -1
    verdict.calls.forEach(({ outcome, retryAfter }, index) => {
      if (outcome !== 'denied') return
      denied = index
      soonest = Math.min(soonest, retryAfter)
    })
    if (denied === -1) return
    const now = clock.monotonic()
    // Counted from before it was asked: the store was asked no earlier.
    const until = askedAt + Math.min(maxDeniedMs, soonest / MICROS_PER_MS)
    if (now >= until) return
    // The caller may fill in its calls anew for the next question.
    const kept = calls.map(({ id: { scope, key }, ...call }): Call => ({ ...call, id: { scope, key } }))
    denials.add((kept[denied] as Call).id, { calls: kept, verdict, heardAt: now, until, dropped: false }, now)
  }
  const ask = async (groups: readonly CallGroup[], callOptions: CallOptions | undefined): Promise<readonly GroupVerdict[]> => {
    const [askedAt, before] = [clock.monotonic(), changes]
    const verdicts = await store.consume(groups, callOptions)
    if (before === changes)
      for (let index = 0; index < groups.length; index += 1) remember(groups[index] as CallGroup, verdicts[index] as GroupVerdict, askedAt)
    return verdicts
  }
  const changing = async <T>(ids: readonly StateId[], run: () => Promise<T>): Promise<T> => {
    changes += 1
    denials.dropAbout(ids)
    try {
      return await run()
    } finally {
      changes += 1
    }
  }
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consumeHere(group) {
      if (denials.empty) return here?.(group)
      const now = clock.monotonic()
      const denial = find(group, now)
      return denial === undefined ? here?.(group) : aged(denial, now)
    },
    consume(groups, callOptions) {
      if (callOptions?.now !== undefined) return store.consume(groups, callOptions)
      const now = clock.monotonic()
      const [first] = groups
      if (groups.length === 1 && first !== undefined) {
        const denial = find(first, now)
        return denial === undefined ? ask(groups, callOptions) : Promise.resolve([aged(denial, now)])
      }
      const found = groups.map((group) => find(group, now))
      if (found.every((denial) => denial === undefined)) return ask(groups, callOptions)
      const rest = groups.filter((_, index) => found[index] === undefined)
      return (rest.length === 0 ? Promise.resolve([]) : ask(rest, callOptions)).then((verdicts) => {
        const told = [...verdicts]
        return found.map((denial) => (denial === undefined ? (told.shift() as GroupVerdict) : aged(denial, now)))
      })
    },
    peek: (groups, callOptions) => store.peek(groups, callOptions),
    ...(adjust === undefined
      ? {}
      : {
          adjust: (calls, amounts, callOptions) =>
            changing(
              calls.map(({ id }) => id),
              () => adjust(calls, amounts, callOptions),
            ),
        }),
    ...(block === undefined ? {} : { block: (ids, duration, callOptions) => changing(ids, () => block(ids, duration, callOptions)) }),
    ...(lease === undefined ? {} : { lease }),
    reset: (ids, callOptions) => changing(ids, () => store.reset(ids, callOptions)),
    ready: (callOptions) => store.ready(callOptions),
    close: () => {
      denials.clear()
      return store.close()
    },
  }
}

/** The verdict as it stands now: store time has gone on, and waits have become shorter by as much. */
function aged({ verdict, heardAt }: Denial, now: MonotonicInstant): GroupVerdict {
  const passed = Math.floor((now - heardAt) * MICROS_PER_MS)
  const { calls } = verdict
  // Most questions are of one limit, and an array that is made whole need not grow.
  const later = calls.length === 1 ? [callLater(calls[0] as Verdict, passed)] : calls.map((call) => callLater(call, passed))
  const { retryAfter } = verdict
  const wait = retryAfter === undefined ? undefined : Math.max(0, retryAfter - passed)
  return { outcome: 'denied', allowed: false, at: verdict.at + passed, retryAfter: wait, calls: later, source: 'denied-cache' }
}

function callLater({ outcome, retryAfter, remaining, replenishAfter, resetAfter, blocked }: Verdict, passed: Micros): Verdict {
  const later = {
    outcome,
    retryAfter: retryAfter > passed ? retryAfter - passed : 0,
    remaining,
    replenishAfter: replenishAfter > passed ? replenishAfter - passed : 0,
    resetAfter: resetAfter > passed ? resetAfter - passed : 0,
  }
  return blocked === undefined ? later : { ...later, blocked }
}
