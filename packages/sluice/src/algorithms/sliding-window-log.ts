import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import type { Micros } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { reduced } from './bucket-plan.ts'
import { compiled, stepOf } from './compiled.ts'
import { MICRO } from './decimal.ts'
import { logCells } from './log-cells.ts'
import { arrayEntries, type Entries, entryPairs, firstAfter, firstThrough, type LogState, newestOf, settled, stateOf } from './log-state.ts'
import { readWindow, type WindowOptions } from './window.ts'

/** The largest limit in tokens. It is bounded because a log remembers every charge. */
const MAX_ENTRIES = 10_000

/**
 * `most`: how many entries the log keeps. More would be needed only if charges are below one token; the newest entry then takes them in.
 */
export interface LogPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly most: number
}

/**
 * A sliding window log: at most `limit` tokens in every interval of one window's length. It is exact because it remembers each charge for
 * that long (Rate Limiting at Scale).
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT (also above 10,000 tokens), INVALID_DURATION
 */
export function slidingWindowLog(options: WindowOptions): CompiledLimit<LogPlan, LogState> {
  refuseUnknown('slidingWindowLog', options, ['limit', 'window'])
  const { limit, window } = readWindow('slidingWindowLog', options)
  if (limit > MAX_ENTRIES * MICRO) {
    const instead = 'it keeps an entry for each charge; a slidingWindowCounter carries more'
    throw new LimiterError('INVALID_LIMIT', `slidingWindowLog: limit is ${options.limit}, the largest is ${MAX_ENTRIES}: ${instead}`)
  }
  return compiled(slidingWindowLogKernel, Object.freeze({ limit, window, most: Math.ceil(limit / MICRO) }), limit, window)
}

const NONE: LogState = Object.freeze({ entries: arrayEntries([]), skip: 0, addedAt: 0, added: 0, merges: false, window: 1, keepFor: 0 })

export const slidingWindowLogKernel: Algorithm<LogPlan, LogState> = Object.freeze({
  name: 'sliding-window-log',
  tag: 'sl',
  step: () => stepOf<LogState>({ ...NONE }),
  decide,
  adopt,
  adjust,
  view(plan: LogPlan, stored: LogState | undefined, now: Micros): View {
    const state = stored === undefined ? NONE : settled(stored)
    const { entries } = state
    const newest = newestOf(state)
    const first = firstAfter(entries, Math.max(now, newest) - plan.window, state.skip)
    const used = entries.through(entries.length - 1) - entries.through(first - 1)
    return fillView(plan, entries, first, entries.length, newest, used, now, { remaining: 0, replenishAfter: 0, resetAfter: 0 })
  },
  expiresAt: (_plan: LogPlan, state: LogState): Micros => newestOf(state) + Math.max(state.window, state.keepFor),
  envelope({ limit, window }: LogPlan) {
    const [n, m] = reduced(limit, window)
    return { n, m, burst: limit }
  },
  codec: {
    encodePlan: (plan: LogPlan) => [plan.limit, plan.window],
    encodeState: (state: LogState) => [state.window, state.keepFor, ...entryPairs(state)],
    decodeState: ([window = 1, keepFor = 0, ...pairs]: readonly number[]): LogState => stateOf(pairs, window, keepFor),
  },
  cells: 'log',
  logCells,
})

function decide(
  plan: LogPlan,
  stored: LogState | undefined,
  now: Micros,
  cost: MicroTokens,
  _phase: number,
  into: Step<LogState> = slidingWindowLogKernel.step(),
): Step<LogState> {
  // Only peeks and the reference implementation pass a state with a charge to apply. Stores apply it to their own entries first.
  const state = stored === undefined ? NONE : settled(stored)
  const { entries } = state
  const newest = newestOf(state)
  const time = newest > now ? newest : now
  const first = firstAfter(entries, time - plan.window, state.skip)
  const used = entries.through(entries.length - 1) - entries.through(first - 1)
  if (cost <= plan.limit - used) {
    charge(plan, state, first, time, cost, into.next)
    into.outcome = 'allowed'
    into.retryAfter = 0
    into.state = into.next
    return fillView(plan, entries, first, into.next.merges ? entries.length - 1 : entries.length, time, used + cost, now, into)
  }
  const possible = cost <= plan.limit
  into.outcome = possible ? 'denied' : 'impossible'
  into.retryAfter = possible ? fitsAt(plan, entries, first, entries.length, time, used, cost) - now : 0
  into.state = stored
  return fillView(plan, entries, first, entries.length, newest, used, now, into)
}

/** Writes the state with a charge to apply. It skips entries that no plan of this state needs any more. */
function charge(plan: LogPlan, { entries, skip, keepFor }: LogState, first: number, time: Micros, cost: MicroTokens, into: LogState): void {
  const { length } = entries
  let from = keepFor > 0 ? firstAfter(entries, time - keepFor, skip) : first
  const kept = length - from
  let merges = kept > 0 && entries.at(length - 1) === time
  if (!merges && kept >= (keepFor > 0 ? MAX_ENTRIES : plan.most)) {
    // Entries kept only for another plan make room first. Otherwise charges are below one token: the newest entry moves to `time`, which
    // only denies more.
    if (from < first) from += 1
    else merges = true
  }
  into.entries = entries
  into.skip = from
  into.addedAt = time
  into.added = cost
  into.merges = merges
  into.window = plan.window
  into.keepFor = kept > 0 ? keepFor : 0
}

/** Keeps all entries. `keepFor` remembers how long they are needed, so the log is exact under each of the plans (law 7). */
function adopt(plan: LogPlan, state: LogState, now: Micros): LogState | undefined {
  if (state.window === plan.window) return state
  const keepFor = Math.max(state.window, state.keepFor)
  if (newestOf(state) + keepFor <= now) return undefined
  return { ...state, window: plan.window, keepFor: keepFor > plan.window ? keepFor : 0 }
}

/**
 * Charges penalties now, up to twice the limit. Takes a refund from the entry of its receipt and later ones, or without a receipt from the
 * newest ones. Entries that have left the window give nothing back.
 */
function adjust(
  plan: LogPlan,
  stored: LogState | undefined,
  now: Micros,
  amount: MicroTokens,
  _phase: number,
  receipt?: Micros,
): LogState | undefined {
  const state = stored === undefined ? NONE : settled(stored)
  const { entries } = state
  const time = Math.max(now, newestOf(state))
  const first = firstAfter(entries, time - plan.window, state.skip)
  if (amount < 0) {
    const used = entries.through(entries.length - 1) - entries.through(first - 1)
    const added = Math.min(-amount, 2 * plan.limit - used)
    if (added <= 0) return stored
    const next = { ...NONE }
    charge(plan, state, first, time, added, next)
    return next
  }
  const pairs = entryPairs(state)
  let left = amount
  const take = (index: number): void => {
    const part = Math.min(left, pairs[2 * index + 1] as number)
    pairs[2 * index + 1] = (pairs[2 * index + 1] as number) - part
    left -= part
  }
  const [from, count] = [first - state.skip, pairs.length / 2]
  if (receipt === undefined) for (let index = count - 1; index >= from; index -= 1) take(index)
  else if (receipt > time - plan.window) {
    for (let index = firstAfter(entries, receipt - 1, first) - state.skip; index < count; index += 1) take(index)
  }
  if (left === amount) return stored
  const rest = pairs.flatMap((number, index) => (index % 2 === 0 && pairs[index + 1] !== 0 ? [number, pairs[index + 1] as number] : []))
  return rest.length === 0 ? undefined : stateOf(rest, state.window, state.keepFor)
}

/**
 * The first instant at which a cost fits that does not fit now: when enough of the entries have left the window.
 * @param last entries from this index on count as charged at `newest`
 */
function fitsAt(
  plan: LogPlan,
  entries: Entries,
  first: number,
  last: number,
  newest: Micros,
  used: MicroTokens,
  cost: MicroTokens,
): Micros {
  const index = firstThrough(entries, entries.through(first - 1) + used + cost - plan.limit, first)
  return (index < last ? entries.at(index) : newest) + plan.window
}

function fillView<V extends View>(
  plan: LogPlan,
  entries: Entries,
  first: number,
  last: number,
  newest: Micros,
  used: MicroTokens,
  now: Micros,
  into: V,
): V {
  const remaining = Math.floor(Math.max(0, plan.limit - used) / MICRO)
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = used > 0 ? newest + plan.window - now : 0
  into.replenishAfter = more > plan.limit ? into.resetAfter : fitsAt(plan, entries, first, last, newest, used, more) - now
  return into
}
