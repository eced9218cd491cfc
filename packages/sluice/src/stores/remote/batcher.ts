import { LimiterError } from '../../errors/limiter-error.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { type Failed, StoreFailure, type StoreFailureKind } from '../store.ts'
import { Alarm } from './alarm.ts'
import { allFailed, type Answered, isAnswer, isUnsent, NONSENSE } from './answers.ts'
import type { BatcherOptions } from './batcher-parts.ts'
import { type Flight, flightOf } from './flight.ts'
import { Caller, isPrompt, type ItemRange, Queue, type Waiting } from './queue.ts'

export interface BatcherParts<Item, Answer extends Answered> extends BatcherOptions<Item, Answer> {
  /** Returns the batcher that sends a failed item again, so that other items do not wait with it. Undefined: this batcher does. */
  forward?(item: Item, failure: StoreFailure, now: MonotonicInstant): Batcher<Item, Answer> | undefined
}

/**
 * While one batch is in flight, a second one is sent if the first has at most `SMALL` calls, if `WORTH_A_BATCH` calls wait, or once the
 * first has taken `SLOW_MS` milliseconds. So calls do not wait for one another at low load, and batches are large at high load.
 */
const SMALL = 4
const WORTH_A_BATCH = 16
const SLOW_MS = 2
/** The store should settle a batch by its deadline. If it has not done so this many milliseconds later, the batcher answers the callers. */
const SETTLE_MS = 1
/** Milliseconds until items that were not executed are sent again. Doubles each time, up to the maximum, until a batch has no such items. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [2, 16]
const NO_ANSWER = 'no answer by the deadline'
const NOT_SENT = 'earlier calls took until the deadline, and this one was not sent'
const NEVER = Number.POSITIVE_INFINITY
const TICK = Promise.resolve(undefined)

/** Sends items of many callers in batches. Each caller has its answers by its deadline. docs/ring.md says when a batch is sent. */
export class Batcher<Item, Answer extends Answered> {
  readonly #parts: BatcherParts<Item, Answer>
  readonly #queue: Queue<Item, Answer>
  #flights: Flight<Item, Answer>[] = []
  /** Items of a batch that the store refused as misuse. They are sent first, those of each caller in a separate batch. */
  readonly #separate: ItemRange<Item, Answer>[] = []
  /** Set if no item of the last batch was executed: when the next batch may be sent, and the failure. */
  #notBefore: MonotonicInstant = 0
  #trouble: StoreFailure | undefined
  #pause = MIN_PAUSE_MS
  #scheduled = false
  #isPumping = false
  readonly #alarm: Alarm

  constructor(parts: BatcherParts<Item, Answer>) {
    this.#parts = parts
    this.#queue = new Queue(parts)
    this.#alarm = new Alarm(parts.deadlines, () => this.#expire())
  }

  get idle(): boolean {
    return this.#queue.callers.length === 0 && this.#flights.length === 0
  }

  get isInFlight(): boolean {
    return this.#flights.length > 0
  }

  /** Queues items. `#pump` sends them: at the end of this tick, or when a batch in flight ends. */
  submit(items: readonly Item[], waiting: Waiting): Promise<readonly Answer[]> {
    const { since, deadline, signal } = waiting
    const caller = new Caller<Item, Answer>(items, waiting)
    if (signal?.aborted === true) this.#refuse(caller, 'aborted', 'aborted by the caller')
    else if (!(deadline > since)) this.#refuse(caller, 'timeout', 'the deadline had passed already')
    else if (!this.#add(caller, since)) {
      const { pace, room } = this.#parts
      const why = `${room.queued} calls wait, and ${this.#queue.weigh(items)} more would be above batching.maxQueued, ${room.max}`
      const refuse = (): void => this.#refuse(caller, 'overload', why)
      const turn = pace()
      if (turn === undefined) refuse()
      else void turn.then(refuse)
    } else {
      if (signal !== undefined) caller.leaveOn(signal)
      const departsAt = this.#scheduled ? NEVER : this.#departsAt(since)
      if (departsAt > since) this.#alarm.set(departsAt)
      else {
        this.#scheduled = true
        void TICK.then(this.#pump)
      }
    }
    return caller.answered
  }

  /** The caller has aborted: fails its items without an answer. */
  leave(caller: Caller<Item, Answer>): void {
    if (caller.open === 0) return
    this.#failWaiting((other) => other === caller, this.#failure('aborted', 'no', 'aborted by the caller'))
    this.#fail({ caller, from: 0, to: caller.next }, this.#failure('aborted', 'unknown', 'aborted by the caller'))
    this.#rest()
  }

  /** Fails all items that wait to be sent. */
  refuse(failure: StoreFailure): void {
    this.#failWaiting(() => true, failure)
    this.#rest()
  }

  /** Queues a caller. Returns false if there is no room for it. */
  #add(caller: Caller<Item, Answer>, now: MonotonicInstant): boolean {
    if (!this.#queue.add(caller)) return false
    caller.at = this
    this.#alarm.set(caller.notBefore > now ? caller.notBefore : caller.deadline)
    return true
  }

  /** The earliest instant at which the next batch may be sent, if no batch in flight ends before. */
  #departsAt(now: MonotonicInstant): MonotonicInstant {
    const { maxInFlight, slotMs } = this.#parts
    if (this.#separate.length > 0) return 0
    if (this.#queue.weight === 0) return NEVER
    const flights = this.#flights
    if (flights.length === 0 || maxInFlight === NEVER) return this.#notBefore
    const oldest = flights.findIndex(({ sentAt }) => now - sentAt < slotMs)
    if (oldest === -1) return this.#notBefore
    const { weight, sentAt } = flights[oldest] as Flight<Item, Answer>
    if (flights.length - oldest >= maxInFlight) return sentAt + slotMs
    const isWorth = this.#isWorth(weight <= SMALL ? 1 : WORTH_A_BATCH)
    return isWorth ? this.#notBefore : Math.max(this.#notBefore, sentAt + SLOW_MS)
  }

  /** Whether at least `calls` calls wait, and no batch of another kind (see `isBusy`) is in flight. */
  #isWorth(calls: number): boolean {
    return this.#queue.weight >= calls && this.#parts.isBusy?.() !== true
  }

  /**
   * Sends the batches that may be sent now.
   * @param at now; absent at the end of a tick
   */
  readonly #pump = (at?: MonotonicInstant): void => {
    const { clock, send, sendOptions } = this.#parts
    if (at === undefined) this.#scheduled = false
    // `send` has failed at once, and its handler called this function. The loop below sends the next batch.
    if (this.#isPumping) return
    this.#isPumping = true
    const now = at ?? clock.monotonic()
    let departsAt = this.#departsAt(now)
    for (; departsAt <= now; departsAt = this.#departsAt(now)) {
      const waiting = this.#queue.weight
      const ranges = this.#next(now)
      // No item in the queue may be sent now. Items that are sent again wait until `notBefore`, for which `#add` has set the alarm.
      if (ranges.length === 0) break
      const flight = flightOf(ranges, now, waiting - this.#queue.weight)
      const { items, deadline } = flight
      this.#flights.push(flight)
      try {
        send(items, { ...sendOptions, deadline }).then(
          (answers) =>
            this.#land(
              flight,
              isAnswer(answers, items.length) ? answers : allFailed(items, this.#failure('protocol', 'unknown', NONSENSE)),
              true,
            ),
          (error: unknown) => this.#crash(flight, error),
        )
      } catch (error) {
        this.#crash(flight, error)
      }
    }
    this.#isPumping = false
    if (departsAt > now) this.#alarm.set(departsAt)
    this.#rest(now)
  }

  /** Takes the items of the next batch from the queue; empty if no caller in the queue may be sent yet. */
  #next(now: MonotonicInstant): readonly ItemRange<Item, Answer>[] {
    const separate = this.#separate.shift()
    if (separate !== undefined) return [separate]
    // Many calls are split into two batches, so that the server decides one while this process reads the answers to the other.
    const isMuch = this.#parts.maxInFlight - this.#flights.length >= 2 && this.#isWorth(2 * WORTH_A_BATCH)
    return this.#queue.take(now, isMuch ? 2 : 1)
  }

  /** Settles a batch for which `send` has thrown or rejected. A StoreFailure fails its items. */
  #crash(flight: Flight<Item, Answer>, error: unknown): void {
    if (error instanceof StoreFailure) return this.#land(flight, allFailed(flight.items, error))
    // Already settled at its deadline.
    if (!this.#flights.includes(flight)) return
    const { ranges } = flight
    // One caller has made a mistake, and nothing was charged. The items of each caller are sent again separately, to find it.
    if (error instanceof LimiterError && ranges.length > 1) this.#separate.push(...ranges.filter(({ caller }) => caller.open > 0))
    else for (const { caller } of ranges) caller.reject(error)
    this.#land(flight, [])
  }

  /**
   * Settles a batch that was answered or has failed.
   * @param answers one for each item; empty if `send` threw an error that is not a StoreFailure
   * @param isReply whether the store returned them, and did not reject the batch
   */
  #land(flight: Flight<Item, Answer>, answers: readonly (Answer | Failed)[], isReply = false): void {
    const at = this.#flights.indexOf(flight)
    // Already settled at its deadline.
    if (at === -1) return
    this.#flights.splice(at, 1)
    const { items, ranges, sentAt } = flight
    const now = this.#parts.clock.monotonic()
    this.#parts.count(items, answers, { isReply, isPrompt: ranges.some(({ caller }) => isPrompt(caller, sentAt)) })
    const later = this.#sendAgain(flight, answers, now)
    // First sends the next batch, so that the server works while this process answers the callers.
    this.#pump(now)
    if (answers.length === 0) return
    let item = 0
    for (const { caller, from, to } of ranges)
      for (let index = from; index < to; index += 1, item += 1) if (later?.has(item) !== true) caller.answer(index, answers[item] as Answer)
  }

  /** Queues again each item that was not executed, if its caller has time left. Returns the indexes of these items in the batch. */
  #sendAgain({ ranges, items }: Flight<Item, Answer>, answers: readonly Answered[], now: MonotonicInstant) {
    let later: Set<number> | undefined
    let elsewhere: Set<Batcher<Item, Answer>> | undefined
    let [trouble, late]: (StoreFailure | undefined)[] = []
    let at = -1
    for (const { caller, from, to } of ranges) {
      for (let index = from; index < to; index += 1) {
        at += 1
        const failure = answers[at]?.failure
        if (failure === undefined || caller.answers[index] !== undefined) continue
        const batcher = this.#parts.forward?.(items[at] as Item, failure, now) ?? this
        if (batcher === this && !isUnsent(failure)) continue
        if (caller.deadline <= now) late = failure
        else {
          const notBefore = batcher === this ? Math.min(now + this.#pause, caller.deadline) : now
          if (batcher.#add(caller.again(index, notBefore, failure), now)) (later ??= new Set()).add(at)
          if (batcher === this) trouble = failure
          else (elsewhere ??= new Set()).add(batcher)
        }
      }
    }
    const isWhole = trouble !== undefined && later?.size === items.length
    this.#trouble = isWhole ? trouble : undefined
    this.#notBefore = isWhole ? now + this.#pause : 0
    this.#pause = trouble === undefined ? MIN_PAUSE_MS : Math.min(MAX_PAUSE_MS, 2 * this.#pause)
    if (late !== undefined) this.#parts.gaveUp(late)
    for (const batcher of elsewhere ?? []) batcher.#pump(now)
    return later
  }

  #failure(kind: StoreFailureKind, executed: 'no' | 'unknown', why: string): StoreFailure {
    return new StoreFailure(kind, executed, `${this.#parts.name}: ${why}`)
  }

  #fail({ caller, from, to }: ItemRange<Item, Answer>, failure: StoreFailure): void {
    for (let index = from; index < to; index += 1) caller.answer(index, { failure } as Answer)
  }

  #refuse(caller: Caller<Item, Answer>, kind: StoreFailureKind, why: string): void {
    this.#fail({ caller, from: 0, to: caller.items.length }, this.#failure(kind, 'no', why))
  }

  /** Fails the items of these callers that were not sent. */
  #failWaiting(which: (caller: Caller<Item, Answer>) => boolean, failure: StoreFailure): void {
    for (const range of this.#queue.remove(which)) this.#fail(range, failure)
  }

  /** Fails callers whose deadline has passed, and sends what may be sent now. */
  #expire(): void {
    const now = this.#parts.clock.monotonic()
    let [unsent, gaveUp, late]: (StoreFailure | undefined)[] = []
    for (const range of this.#queue.remove(({ deadline }) => deadline <= now)) {
      const cause = range.caller.cause ?? this.#trouble
      gaveUp ??= cause
      this.#fail(range, cause ?? (unsent ??= this.#failure('timeout', 'no', NOT_SENT)))
    }
    if (gaveUp !== undefined) this.#parts.gaveUp(gaveUp)
    const dropped = this.#flights.filter(({ deadline }) => deadline + SETTLE_MS <= now)
    for (const flight of dropped) this.#land(flight, allFailed(flight.items, (late ??= this.#failure('timeout', 'unknown', NO_ANSWER))))
    for (const { ranges } of this.#flights) {
      for (const range of ranges) {
        const due = range.caller.deadline + SETTLE_MS
        if (due > now) this.#alarm.set(due)
        else this.#fail(range, (late ??= this.#failure('timeout', 'unknown', NO_ANSWER)))
      }
    }
    for (const { deadline, notBefore } of this.#queue.callers) this.#alarm.set(notBefore > now ? notBefore : deadline)
    this.#pump(now)
  }

  #rest(now: MonotonicInstant = this.#parts.clock.monotonic()): void {
    if (!this.idle) return
    this.#alarm.rest(now)
    this.#parts.onIdle()
  }
}
