import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, requireForm, within } from '../errors/options.ts'
import { sha256 } from '../keys/sha256.ts'
import { MICROS_PER_MS, type Micros } from '../time/micros.ts'
import type { Algorithm, AnyLimit, MicroTokens, View } from './algorithm.ts'
import { compiled, emptyView, kernel, stepOf } from './compiled.ts'
import { MICRO, readTokens } from './decimal.ts'
import { slotCells } from './slot-cells.ts'
import { SLOT_WIDTH as WIDTH, type SlotState } from './slot-state.ts'

/** Bounded, because the state contains every holder. */
export const MAX_HOLDERS = 4_000
/** 30 days. */
const MAX_HOLD_MS = 2_592_000_000

/** Options of a concurrency limit. */
export interface ConcurrencyOptions {
  /** The greatest sum of the costs of all holders, at most 4,000. Below 1, calls need a lower `cost` than the default of 1. */
  readonly limit: number | string
  /** Milliseconds until a slot ends by itself; at most 30 days. Work that takes longer loses its slot. */
  readonly holdMs: number
}

export interface ConcurrencyPlan {
  readonly limit: MicroTokens
  /** Microseconds until a slot ends by itself. */
  readonly hold: Micros
  /** The holder's id as two numbers. Without it, nobody can give the slot back. */
  readonly holder?: readonly [number, number]
}

const [COST, UNTIL, FENCE] = [2, 3, 4]
const NOBODY: readonly number[] = []

/**
 * At most `limit` holders at once. `check` takes a slot until `release`, or until `holdMs` have passed.
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT (also above 4,000)
 */
export function concurrency(options: ConcurrencyOptions): AnyLimit {
  const where = 'concurrency'
  refuseUnknown(where, options, ['limit', 'holdMs'])
  const limit = readTokens('INVALID_LIMIT', options.limit, 'is not a limit', MAX_HOLDERS, `${where}: `)
  if (limit > MAX_HOLDERS * MICRO) {
    const why = 'its state names every holder, and each call reads it'
    throw new LimiterError('INVALID_LIMIT', `${where}: limit is ${options.limit}, the largest is ${MAX_HOLDERS}: ${why}`)
  }
  requireForm(where, 'holdMs', options.holdMs, within(1, MAX_HOLD_MS))
  const hold = Math.round(options.holdMs * MICROS_PER_MS)
  return compiled(concurrencyKernel, Object.freeze({ limit, hold }), limit, hold)
}

export const concurrencyKernel: Algorithm<ConcurrencyPlan, SlotState> = kernel({
  name: 'concurrency',
  tag: 'cc',
  step: () => stepOf<SlotState>({ holders: NOBODY, seen: 0.5, last: 0.5 }),
  /** A holder that has a slot already is allowed and changes nothing. */
  decide(plan, state, now, cost, _phase, into = concurrencyKernel.step()) {
    const held = liveAt(state, now)
    const used = costOf(held)
    into.retryAfter = 0
    into.state = state
    const possible = cost <= plan.limit
    if (possible && indexOf(held, plan.holder) !== -1) into.outcome = 'allowed'
    else if (possible && fits(plan, held, used, cost)) {
      const { next } = into
      const time = timeOf(state, now)
      next.seen = time
      next.last = state === undefined ? time : Math.max(time, state.last + 1)
      const [one, other] = plan.holder ?? [0, 0]
      next.holders = added(held, [one, other, cost, time + plan.hold, next.last])
      into.outcome = 'allowed'
      into.state = next
      return fillView(plan, next.holders, used + cost, now, into)
    } else {
      into.outcome = possible ? 'denied' : 'impossible'
      if (possible) into.retryAfter = fitsAt(plan, held, used, cost) - now
    }
    return fillView(plan, held, used, now, into)
  },
  /** Holders keep their slots after a change of the limit, even if they are more than the new limit allows. */
  adopt: (_plan, state) => state,
  /** Only a holder can give back its slot, and a penalty has no holder. */
  adjust: (_plan, state) => state,
  view(plan, state, now) {
    const held = liveAt(state, now)
    return fillView(plan, held, costOf(held), now, emptyView())
  },
  holding: ({ limit, hold }, { id, micros = hold }) => ({ limit, hold: micros, holder: holderOf(id) }),
  granted(plan, { holders }) {
    const index = indexOf(holders, plan.holder)
    return index === -1 ? undefined : { until: holders[index + UNTIL] as Micros, fence: holders[index + FENCE] as number }
  },
  release(_plan, state, now, id) {
    if (state === undefined) return undefined
    const held = liveAt(state, now)
    const index = indexOf(held, holderOf(id))
    if (index === -1) return state
    const next = { holders: held.toSpliced(index, WIDTH), seen: timeOf(state, now), last: state.last }
    return concurrencyKernel.expiresAt(_plan, next) <= next.seen ? undefined : next
  },
  prolong(_plan, state, now, { id, micros }) {
    const held = liveAt(state, now)
    const index = indexOf(held, holderOf(id))
    const until = timeOf(state, now) + micros
    if (state === undefined || index === -1 || until <= (held[index + UNTIL] as Micros)) return state
    const holder = held.slice(index, index + WIDTH).with(UNTIL, until)
    return { holders: added(held.toSpliced(index, WIDTH), holder), seen: timeOf(state, now), last: state.last }
  },
  /** The end of the last slot, but above `last`, the latest fencing number. Those of a new state begin at its time, so they are greater. */
  expiresAt: (_plan, { holders, last }) => Math.max(last + 1, holders.at(UNTIL - WIDTH) ?? 0),
  envelope: ({ limit }) => ({ n: 0, m: 1, burst: limit }),
  codec: {
    encodePlan: ({ limit, hold }) => [limit, hold],
    encodeState: ({ seen, last, holders }) => [seen, last, ...holders],
    decodeState: ([seen = 0, last = 0, ...holders]) => ({ holders, seen, last }),
  },
  cells: 'log',
  logCells: slotCells,
})

/** 104 bits of a digest. It is cryptographic, so that nobody can find an id that counts as another holder's. */
export function holderOf(id: string): readonly [number, number] {
  const digits = sha256(id, 4)
  return [Number.parseInt(digits.slice(0, 13), 16), Number.parseInt(digits.slice(13, 26), 16)]
}

/** `now`, but never earlier than `seen` (law 3 in ARCHITECTURE.md). */
function timeOf(state: SlotState | undefined, now: Micros): Micros {
  return state === undefined ? now : Math.max(now, state.seen)
}

function liveAt(state: SlotState | undefined, now: Micros): readonly number[] {
  if (state === undefined) return NOBODY
  const { holders } = state
  const time = timeOf(state, now)
  let from = 0
  while (from < holders.length && (holders[from + UNTIL] as Micros) <= time) from += WIDTH
  return from === 0 ? holders : holders.slice(from)
}

/** -1 if the holder has no slot. */
function indexOf(held: readonly number[], holder: ConcurrencyPlan['holder']): number {
  if (holder === undefined) return -1
  const [one, other] = holder
  for (let index = 0; index < held.length; index += WIDTH) if (held[index] === one && held[index + 1] === other) return index
  return -1
}

/** Inserts `holder` in the order in which slots end. */
function added(held: readonly number[], holder: readonly number[]): readonly number[] {
  const until = holder[UNTIL] as Micros
  let index = held.length
  while (index > 0 && (held[index - WIDTH + UNTIL] as Micros) > until) index -= WIDTH
  return held.toSpliced(index, 0, ...holder)
}

function costOf(held: readonly number[]): MicroTokens {
  let sum = 0
  for (let index = COST; index < held.length; index += WIDTH) sum += held[index] as MicroTokens
  return sum
}

/** @param used the sum of the costs of all holders */
function fits({ limit }: ConcurrencyPlan, { length }: { readonly length: number }, used: MicroTokens, cost: MicroTokens): boolean {
  return used + cost <= limit && length < MAX_HOLDERS * WIDTH
}

/** When the cost fits, if every slot is held to its end. */
function fitsAt(plan: ConcurrencyPlan, held: readonly number[], used: MicroTokens, cost: MicroTokens): Micros {
  let left = used
  let index = 0
  do {
    left -= held[index + COST] as MicroTokens
    index += WIDTH
  } while (!fits(plan, { length: held.length - index }, left, cost))
  return held[index - WIDTH + UNTIL] as Micros
}

/** Waits assume that every slot is held to its end. */
function fillView<V extends View>(plan: ConcurrencyPlan, held: readonly number[], used: MicroTokens, now: Micros, into: V): V {
  const remaining = fits(plan, held, used, 0) ? Math.floor((plan.limit - used) / MICRO) : 0
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = held.length === 0 ? 0 : (held[held.length - WIDTH + UNTIL] as Micros) - now
  into.replenishAfter = more > plan.limit ? into.resetAfter : fitsAt(plan, held, used, more) - now
  return into
}
