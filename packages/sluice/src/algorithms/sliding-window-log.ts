import { LimiterError } from '../errors/limiter-error.ts'
import type { Micros } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, View } from './algorithm.ts'
import { compiled, emptyView, kernel, stepOf } from './compiled.ts'
import { MICRO } from './decimal.ts'
import { logCells } from './log-cells.ts'
import { entryPairs, firstAfter, firstThrough, type LogState, newestOf, settled, stateOf } from './log-state.ts'
import { envelopeOf, readWindow, type WindowOptions } from './window.ts'

/** The largest limit in tokens. It is bounded because a log has an entry for every charge. */
const MAX_ENTRIES = 10_000

/**
 * `most`: the most entries that the log keeps. Only charges of less than one token can need more. Once the log has that many, its newest
 * entry takes further charges.
 */
export interface LogPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly most: number
}

/**
 * A sliding window log: at most `limit` tokens in every interval of one window's length. It is exact because it remembers each charge for
 * that long (the article Rate Limiting at Scale).
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT (also above 10,000 tokens), INVALID_DURATION
 */
export function slidingWindowLog(options: WindowOptions): CompiledLimit<LogPlan, LogState> {
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
    // Only peeks and the reference driver (`applyGroup`) pass a state with a charge that is not applied yet. Stores apply each charge to
    // the entries that they keep.
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
  /**
   * Keeps all entries. A plan with a longer window may have written some of them, and `keepFor` says how long that plan needs them. So the
   * log is exact under each of the plans (law 7).
   */
  adopt(plan, state, now) {
    if (state.window === plan.window) return state
    const keepFor = Math.max(state.window, state.keepFor)
    if (newestOf(state) + keepFor <= now) return undefined
    return { ...state, window: plan.window, keepFor: keepFor > plan.window ? keepFor : 0 }
  },
  /**
   * A penalty is charged now, and raises the count to at most twice the limit. A refund with a receipt is taken from the entry of that
   * charge and from later entries. A refund without a receipt is taken from the newest entries first. Entries that have left the window
   * give nothing back.
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
    // An entry with an amount of 0 is removed: both of its numbers.
    const rest = pairs.filter((_, index) => pairs[index | 1] !== 0)
    return rest.length === 0 ? undefined : stateOf(rest, state.window, state.keepFor)
  },
  /**
   * A hold was charged before it was known what it would use. Changes the entry of that charge, or the later entry into which that entry
   * was merged. If the charge has left the window, nothing is given back, and what the hold used in addition is charged now. The count
   * rises to at most twice the limit.
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

/** Micro-tokens of all entries that the log keeps. */
function sumOf(state: LogState | undefined): MicroTokens {
  return state === undefined ? 0 : entryPairs(settled(state)).reduce((sum, number, index) => (index % 2 === 0 ? sum : sum + number), 0)
}

/**
 * Writes the state to `into`, with a charge that is not applied to the entries yet. Skips entries that no plan of this state needs any
 * more.
 */
function charge(plan: LogPlan, state: LogState, first: number, time: Micros, cost: MicroTokens, into: LogState): void {
  const { entries, skip, keepFor } = state
  const { length } = entries
  let from = keepFor > 0 ? firstAfter(entries, time - keepFor, skip) : first
  const kept = length - from
  let merges = kept > 0 && entries.at(length - 1) === time
  if (!merges && kept >= (keepFor > 0 ? MAX_ENTRIES : plan.most)) {
    // The log is full. If its oldest entry is kept only for an earlier plan, that entry is dropped. Otherwise charges of less than one
    // token have filled the log. The newest entry then takes this charge and moves to `time`, so the log can only deny more than an exact
    // one.
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
 * The entries in the window that ends now: those from index `first` on. `used` is their sum. From index `last` on, entries count as charged
 * at the instant `newest`: they are the charge of this decision, or the entry into which that charge was merged.
 */
interface LogPart {
  first: number
  last: number
  newest: Micros
  used: MicroTokens
}

/** Overwritten by each call, so that decisions allocate nothing. No caller keeps it. */
const PART: LogPart = { first: 0, last: 0, newest: 0.5, used: 0.5 }

function partNow(plan: LogPlan, state: LogState, now: Micros): LogPart {
  const { entries } = state
  PART.newest = newestOf(state)
  PART.first = firstAfter(entries, Math.max(now, PART.newest) - plan.window, state.skip)
  PART.last = entries.length
  PART.used = entries.through(entries.length - 1) - entries.through(PART.first - 1)
  return PART
}

/** The first instant at which a cost fits that does not fit now: when enough of the entries have left the window. */
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
