import { LimiterError } from '../errors/limiter-error.ts'
import type { Micros } from '../time/micros.ts'
import type { Algorithm, AnyLimit, MicroTokens, View } from './algorithm.ts'
import { compiled, emptyView, kernel, stepOf } from './compiled.ts'
import { MICRO } from './decimal.ts'
import { logCells } from './log-cells.ts'
import { entryPairs, firstAfter, firstThrough, type LogState, newestOf, settled, stateOf } from './log-state.ts'
import { envelopeOf, readWindow, type WindowOptions } from './window.ts'

/** In tokens. A log has an entry for every charge. */
const MAX_ENTRIES = 10_000

/** `most`: the most entries of a log. Only charges below one token can need more. The newest entry then takes these charges. */
export interface LogPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly most: number
}

/**
 * At most `limit` tokens in every interval of one window's length. Exact, because each charge is remembered for that long (the article Rate
 * Limiting at Scale).
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT (also above 10,000 tokens), INVALID_DURATION
 */
export function slidingWindowLog(options: WindowOptions): AnyLimit {
  const { limit, window } = readWindow('slidingWindowLog', options)
  if (limit > MAX_ENTRIES * MICRO) {
    const instead = 'it keeps an entry for each charge; a slidingWindowCounter carries more'
    throw new LimiterError('INVALID_LIMIT', `slidingWindowLog: limit is ${options.limit}, the largest is ${MAX_ENTRIES}: ${instead}`)
  }
  const plan = Object.freeze({ limit, window, most: Math.ceil(limit / MICRO) })
  return compiled(slidingWindowLogKernel, plan, limit, window)
}

const NONE: LogState = Object.freeze(stateOf([], 1, 0))

export const slidingWindowLogKernel: Algorithm<LogPlan, LogState> = kernel({
  name: 'sliding-window-log',
  tag: 'sl',
  step: () => stepOf<LogState>({ ...NONE }),
  decide(plan, stored, now, cost, _phase, into = slidingWindowLogKernel.step()) {
    // A peek in memory decides on the states of earlier groups, whose charges are not in the entries yet.
    const state = stored === undefined ? NONE : settled(stored)
    const part = partNow(plan, state, now)
    if (cost <= plan.limit - part.used) {
      part.newest = part.newest > now ? part.newest : now
      charge(plan, state, part.first, part.newest, cost, into.next)
      part.used += cost
      if (into.next.merges) part.last -= 1
      into.outcome = 'allowed'
      into.retryAfter = 0
      into.state = into.next
    } else {
      const possible = cost <= plan.limit
      into.outcome = possible ? 'denied' : 'impossible'
      into.retryAfter = possible ? fitsAt(plan, state, part, cost) - now : 0
      into.state = stored
    }
    return fillView(plan, state, part, now, into)
  },
  /** Keeps entries for `keepFor`, the longest window of earlier plans, so that the log is exact under each plan (law 7). */
  adopt(plan, state, now) {
    if (state.window === plan.window) return state
    const keepFor = Math.max(state.window, state.keepFor)
    if (newestOf(state) + keepFor <= now) return undefined
    return { ...state, window: plan.window, keepFor: keepFor > plan.window ? keepFor : 0 }
  },
  /**
   * A penalty raises the count to at most twice the limit. A refund is taken from the entry of its receipt and later ones; without a
   * receipt, from the newest first. Entries out of the window give nothing back.
   */
  adjust(plan, stored, now, amount, _phase, receipt) {
    const state = stored === undefined ? NONE : settled(stored)
    const { first, newest, used } = partNow(plan, state, now)
    const time = Math.max(now, newest)
    if (amount < 0) {
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
      for (let index = firstAfter(state.entries, receipt - 1, first) - state.skip; index < count; index += 1) take(index)
    }
    if (left === amount) return stored
    // Removes both numbers of an entry whose amount is 0.
    const rest = pairs.filter((_, index) => pairs[index | 1] !== 0)
    return rest.length === 0 ? undefined : stateOf(rest, state.window, state.keepFor)
  },
  /**
   * Changes the entry of the charge, or the later entry into which that was merged. If the charge has left the window, nothing is given
   * back, and additional use is charged now. The count rises to at most twice the limit.
   */
  settle(plan, stored, now, { held, actual, at }, phase) {
    if (actual < held) {
      const state = slidingWindowLogKernel.adjust(plan, stored, now, held - actual, phase, at)
      return { state, charged: held - sumOf(stored) + sumOf(state) }
    }
    const used = stored === undefined ? 0 : partNow(plan, settled(stored), now).used
    const more = Math.max(0, Math.min(actual - held, 2 * plan.limit - used))
    if (more === 0) return { state: stored, charged: held }
    const state = stored === undefined ? NONE : settled(stored)
    const { first, newest } = partNow(plan, state, now)
    const index = firstAfter(state.entries, at - 1, first) - state.skip
    const pairs = entryPairs(state)
    if (at <= Math.max(now, newest) - plan.window || 2 * index >= pairs.length)
      return { state: slidingWindowLogKernel.adjust(plan, stored, now, -more, phase), charged: held + more }
    pairs[2 * index + 1] = (pairs[2 * index + 1] as number) + more
    return { state: stateOf(pairs, state.window, state.keepFor), charged: held + more }
  },
  view(plan, stored, now) {
    const state = stored === undefined ? NONE : settled(stored)
    return fillView(plan, state, partNow(plan, state, now), now, emptyView())
  },
  expiresAt: (_plan, state) => newestOf(state) + Math.max(state.window, state.keepFor),
  envelope: ({ limit, window }) => envelopeOf(limit, window, limit),
  codec: {
    encodePlan: ({ limit, window }) => [limit, window],
    encodeState: (state) => [state.window, state.keepFor, ...entryPairs(state)],
    decodeState: ([window = 1, keepFor = 0, ...pairs]) => stateOf(pairs, window, keepFor),
  },
  cells: 'log',
  logCells,
})

function sumOf(state: LogState | undefined): MicroTokens {
  return state === undefined ? 0 : entryPairs(settled(state)).reduce((sum, number, index) => (index % 2 === 0 ? sum : sum + number), 0)
}

/** Does not apply the charge to the entries yet. Skips entries that no plan needs any more. */
function charge(plan: LogPlan, state: LogState, first: number, time: Micros, cost: MicroTokens, into: LogState): void {
  const { entries, skip, keepFor } = state
  const { length } = entries
  let from = keepFor > 0 ? firstAfter(entries, time - keepFor, skip) : first
  const kept = length - from
  let merges = kept > 0 && entries.at(length - 1) === time
  if (!merges && kept >= (keepFor > 0 ? MAX_ENTRIES : plan.most)) {
    // The log is full. If only an earlier plan needs the oldest entry, that entry is dropped. Otherwise the newest entry takes this charge
    // and moves to `time`, so the log can only deny more than an exact one.
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

/**
 * The entries from index `first` on are in the window that ends now; `used` is their sum. Entries from index `last` on count as charged at
 * `newest`.
 */
interface LogPart {
  first: number
  last: number
  newest: Micros
  used: MicroTokens
}

/** Overwritten by each call, so that decisions allocate nothing. */
const PART: LogPart = { first: 0, last: 0, newest: 0.5, used: 0.5 }

function partNow(plan: LogPlan, state: LogState, now: Micros): LogPart {
  const { entries } = state
  PART.newest = newestOf(state)
  PART.first = firstAfter(entries, Math.max(now, PART.newest) - plan.window, state.skip)
  PART.last = entries.length
  PART.used = entries.through(entries.length - 1) - entries.through(PART.first - 1)
  return PART
}

/** The first instant at which the cost fits. */
function fitsAt(plan: LogPlan, { entries }: LogState, part: LogPart, cost: MicroTokens): Micros {
  const { first, last, newest, used } = part
  const index = firstThrough(entries, entries.through(first - 1) + used + cost - plan.limit, first)
  return (index < last ? entries.at(index) : newest) + plan.window
}

function fillView<V extends View>(plan: LogPlan, state: LogState, part: LogPart, now: Micros, into: V): V {
  const remaining = Math.floor(Math.max(0, plan.limit - part.used) / MICRO)
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = part.used > 0 ? part.newest + plan.window - now : 0
  into.replenishAfter = more > plan.limit ? into.resetAfter : fitsAt(plan, state, part, more) - now
  return into
}
