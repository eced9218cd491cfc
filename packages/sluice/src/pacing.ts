import type { AnyLimit } from './algorithms/algorithm.ts'
import { createLimiter } from './create-limiter.ts'
import { LimiterError } from './errors/limiter-error.ts'
import { checkOptions, CLOCK, COUNT, FLAG, type Form, shown, SIGNAL, WAIT_MS } from './errors/options.ts'
import { takesSlots } from './limiter/holders.ts'
import type { Limiter } from './limiter/limiter.ts'
import { type Channel, type ChannelWait, createChannel } from './pacing/channel.ts'
import { byBytes, byItem, type Pace } from './pacing/pace.ts'
import { throttledStream } from './pacing/stream.ts'
import { type Throttled, throttledFunction, throttledIterable } from './pacing/throttle.ts'
import { createTurns, type Turns, type TurnsOptions } from './pacing/turns.ts'
import { systemTime } from './time/system.ts'
import type { Time } from './time/time.ts'

export type { Channel, ChannelWait, Throttled }

/** Options of all functions of `sluice/pacing`. */
export interface PacingOptions extends TurnsOptions {
  /** If it aborts, all waiting calls reject with its reason, and so do later calls. */
  readonly signal?: AbortSignal | undefined
  /** The time for the waits. A limiter that is passed in keeps its own clock. */
  readonly clock?: Time | undefined
}

/** Options of `throttleFunction`. */
export interface FunctionOptions<Args extends unknown[]> extends PacingOptions {
  /** Tokens that a call takes; default 1. */
  readonly cost?: number | ((...args: Args) => number) | undefined
}

/** Options of `throttleIterable` and `throttleStream`. Set `cost` or `bytes`, not both. */
export interface ItemOptions<Item> extends PacingOptions {
  /** Tokens that an item takes; default 1. A cost above the capacity is an error. */
  readonly cost?: number | ((item: Item) => number) | undefined
  /** `true`: items are `Uint8Array`, and each byte takes a token. An item larger than the limit's capacity is split. */
  readonly bytes?: boolean | undefined
}

/** Options of `channel`. */
export interface ChannelOptions extends PacingOptions {
  /** How many items may wait for a `take`. Beyond that, `put` waits. 0: each `put` waits for its `take`. */
  readonly capacity: number
  /** Tokens that an item takes; default 1. */
  readonly cost?: number | undefined
}

/**
 * Delays calls of a function as a limit requires, instead of refusing them. Pass a limiter to share a bucket with other functions or
 * processes.
 * @throws LimiterError INVALID_OPTIONS. Calls reject with OVERLOAD if too many wait or the wait is too long, with INVALID_COST for a cost
 * above the capacity, and with what `fn` throws
 */
export function throttleFunction<Args extends unknown[], Result>(
  fn: (...args: Args) => Result | PromiseLike<Result>,
  limit: AnyLimit | Limiter,
  options: FunctionOptions<Args> = {},
): Throttled<Args, Result> {
  const where = 'throttleFunction'
  if (typeof fn !== 'function') throw refused(where, `fn is ${shown(fn)}, expected a function`)
  const { turns } = turnsOf(where, limit, options, FUNCTION_FORMS)
  return throttledFunction(where, fn, turns, options.cost, options.signal)
}

/**
 * Yields items no faster than a limit allows. An item is read, and charged, only when the consumer requests it. If the consumer stops, the
 * iterable is closed.
 * @throws LimiterError INVALID_OPTIONS
 */
export function throttleIterable<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: AnyLimit | Limiter,
  options: ItemOptions<Item> = {},
): AsyncGenerator<Item, void, undefined> {
  const where = 'throttleIterable'
  const iterable =
    typeof items === 'string' ||
    (typeof items === 'object' && items !== null && (Symbol.iterator in items || Symbol.asyncIterator in items))
  if (!iterable) throw refused(where, `items are ${shown(items)}, expected an iterable`)
  return throttledIterable(items, paceOf(where, limit, options), options.signal)
}

/**
 * Web streams for `pipeThrough` or `pipeline` of `node:stream`, whose chunks come out no faster than a limit allows. A chunk is charged
 * only when the reader requests it.
 * @throws LimiterError INVALID_OPTIONS. If the limit refuses a chunk, both streams end with the error
 */
export function throttleStream<Chunk>(limit: AnyLimit | Limiter, options: ItemOptions<Chunk> = {}): TransformStream<Chunk, Chunk> {
  return throttledStream(paceOf('throttleStream', limit, options, refuseSlots), options.signal)
}

/**
 * A bounded queue, whose items can be taken no faster than a limit allows.
 * @throws LimiterError INVALID_OPTIONS
 */
export function channel<Item>(limit: AnyLimit | Limiter, options: ChannelOptions): Channel<Item> {
  const { limiter, turns } = turnsOf('channel', limit, options, CHANNEL_FORMS, Infinity)
  refuseSlots('channel', limiter)
  const { capacity, maxWaiting = 10_000, cost, signal } = options
  if (capacity === undefined) throw refused('channel', `capacity is undefined, expected ${CHANNEL_FORMS.capacity[1]}`)
  return createChannel({ turns, capacity, maxWaiting, cost, signal })
}

function refused(where: string, why: string): LimiterError {
  return new LimiterError('INVALID_OPTIONS', `${where}: ${why}`)
}

const isCost = (value: unknown): boolean => typeof value === 'number' && value > 0 && value < Infinity

const FORMS = {
  key: [(value: unknown) => typeof value === 'string' && value !== '', 'a non-empty text'],
  maxWaiting: COUNT,
  maxWaitMs: WAIT_MS,
  signal: SIGNAL,
  clock: CLOCK,
} as const satisfies Readonly<Record<string, Form>>
const FUNCTION_FORMS = {
  ...FORMS,
  cost: [(value: unknown) => isCost(value) || typeof value === 'function', 'a number above 0 or a function'],
} as const satisfies Readonly<Record<string, Form>>
const ITEM_FORMS = { ...FUNCTION_FORMS, bytes: FLAG } as const
const CHANNEL_FORMS = {
  ...FORMS,
  capacity: [(value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0, 'a whole number of at least 0'],
  cost: [isCost, 'a number above 0'],
} as const satisfies Readonly<Record<string, Form>>

/**
 * @param maxTurns replaces `maxWaiting`. A channel has at most `maxWaiting` takes itself, and turns of takes that left must not count: they
 * end at the latest when the store has answered
 */
function turnsOf(
  where: string,
  limit: AnyLimit | Limiter,
  options: PacingOptions,
  forms: Readonly<Record<string, Form>>,
  maxTurns?: number,
): { readonly turns: Turns; readonly limiter: Limiter } {
  checkOptions(where, options, forms)
  const { clock = systemTime } = options
  if (typeof limit !== 'object' || limit === null || !('wait' in limit || 'algorithm' in limit))
    throw refused(where, `limit is ${shown(limit)}, expected a limit, such as tokenBucket({ rate: '10/s', burst: 1 }), or a limiter`)
  const limiter = 'wait' in limit ? limit : createLimiter({ name: 'pacing', limit, clock })
  const bounded = maxTurns === undefined ? options : { ...options, maxWaiting: maxTurns }
  return { turns: createTurns(where, limiter, clock, bounded), limiter }
}

/** It is not known when the work of an item ends, so when its slot is free. */
function refuseSlots(where: string, { limits }: Limiter): void {
  const [name] = Object.entries(limits).find(([, limit]) => takesSlots(limit)) ?? []
  if (name !== undefined)
    throw refused(where, `${name} is a concurrency limit; use throttleFunction or throttleIterable, which give slots back`)
}

function paceOf<Item>(
  where: string,
  limit: AnyLimit | Limiter,
  options: ItemOptions<Item>,
  check: (where: string, limiter: Limiter) => void = () => {},
): Pace<Item> {
  const { limiter, turns } = turnsOf(where, limit, options, ITEM_FORMS)
  check(where, limiter)
  const { bytes = false, cost } = options
  if (!bytes) return byItem(where, turns, cost)
  if (cost !== undefined) throw refused(where, 'bytes sets the cost of items; give cost or bytes')
  const capacity = Math.min(...Object.values(limiter.limits).map((one) => one.capacity))
  if (capacity < 1) throw refused(where, `bytes needs a capacity of at least 1; the limit has ${capacity}`)
  return byBytes(where, turns, capacity)
}
