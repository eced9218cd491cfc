import { LimiterError } from '../../errors/limiter-error.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import { StoreFailure, type StoreFailureKind } from '../store.ts'
import { Alarm } from './alarm.ts'
import { Caller, type Part, type Waiting } from './caller.ts'
import { isPrompt, Turns, type TurnsOptions } from './turns.ts'

export interface BatcherParts<Item, Answer> extends TurnsOptions<Item> {
  /** Of the store, for messages. */
  readonly name: string
  readonly clock: Time
  /**
   * Sends a batch; resolves with one answer for each item, in order.
   * @param isPrompt whether a caller had waited for less than half of its time: only then does a timeout say something of the server
   */
  send(items: readonly Item[], deadline: MonotonicInstant, isPrompt: boolean): Promise<readonly Answer[]>
  /** The answer to an item that failed. */
  failed(failure: StoreFailure): Answer
  /** Batches in flight at once; with no bound, nothing waits for a batch in flight. */
  readonly maxInFlight: number
  /** An answer that replaces this one later: the item is sent again in another way. */
  resend?(item: Item, answer: Answer, waiting: Waiting): Promise<Answer> | undefined
  /** Milliseconds after which a batch that was not executed is sent again, while its callers have time; undefined: it is not. */
  retryAfter?(failure: StoreFailure): number | undefined
  /** Reports a failure that `send` did not: callers gave up while batches were not executed, or a prompt batch never settled. */
  gaveUp?(failure: StoreFailure): void
}

interface Flight<Item, Answer> {
  readonly parts: readonly Part<Item, Answer>[]
  readonly sentAt: MonotonicInstant
  readonly deadline: MonotonicInstant
  readonly isPrompt: boolean
}

/** So many waiting calls are worth a second batch in flight; fewer are if the first one takes longer than `SLOW_MS`. */
const WORTH_A_BATCH = 16
const SLOW_MS = 2
/** Milliseconds that the store has to settle a call after its deadline, before its callers are answered without it. */
const SETTLE_MS = 1
/** Milliseconds after the deadline at which a batch that never settled is dropped. */
const DROP_MS = 5

/**
 * Sends items of many callers in batches. With nothing in flight a batch is sent in the same tick; what arrives meanwhile waits for the
 * next one. Callers take turns: a long list is split, and single calls travel with its parts. Each caller has its answers by its deadline.
 */
export class Batcher<Item, Answer> {
  readonly #parts: BatcherParts<Item, Answer>
  readonly #alarm: Alarm
  readonly #turns: Turns<Item, Answer>
  #flights: Flight<Item, Answer>[] = []
  #scheduled = false
  /** Why batches failed before they were executed, until one succeeds. */
  #trouble: StoreFailure | undefined
  #paused = false
  #onIdle: (() => void)[] = []

  constructor(parts: BatcherParts<Item, Answer>) {
    this.#parts = parts
    this.#turns = new Turns(parts)
    this.#alarm = new Alarm(parts.clock, () => this.#expire())
  }

  get idle(): boolean {
    return this.#turns.isEmpty && this.#flights.length === 0
  }

  async whenIdle(): Promise<void> {
    if (!this.idle) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  /** @param now the current instant, which the caller has read already */
  ask(items: readonly Item[], waiting: Waiting, now: MonotonicInstant): Promise<readonly Answer[]> {
    return new Promise((resolve, reject) => this.#add(new Caller(items, waiting, now, resolve, reject), now))
  }

  /** Fails what waits. */
  refuse(failure: StoreFailure): void {
    this.#remove(() => true, failure)
    this.#settleIdle()
  }

  #add(caller: Caller<Item, Answer>, now: MonotonicInstant): void {
    const { signal, deadline } = caller
    if (signal?.aborted === true) return this.#refuse(caller, 'aborted', 'aborted by the caller')
    if (!(deadline > now)) return this.#refuse(caller, 'timeout', 'the deadline had passed already')
    if (!this.#turns.add(caller)) return this.#refuse(caller, 'overload', `${this.#parts.room.queued} calls are waiting already`)
    this.#alarm.register(deadline)
    if (signal !== undefined) {
      caller.onAbort = () => this.#abort(caller)
      signal.addEventListener('abort', caller.onAbort, { once: true })
    }
    if (this.#scheduled) return
    if (!this.#mayDepart(now)) return this.#registerSlow()
    this.#scheduled = true
    void Promise.resolve().then(() => {
      this.#scheduled = false
      this.#pump(now)
    })
  }

  #mayDepart(now: MonotonicInstant): boolean {
    if (this.#paused || this.#turns.isEmpty) return false
    const { length } = this.#flights
    const { maxInFlight } = this.#parts
    if (length === 0 || maxInFlight === Number.POSITIVE_INFINITY) return true
    if (length >= maxInFlight) return false
    return this.#turns.weight >= WORTH_A_BATCH || now - (this.#flights[0] as Flight<Item, Answer>).sentAt >= SLOW_MS
  }

  /** What waits is sent when the batch in flight has become slow, even if nobody calls until then. */
  #registerSlow(): void {
    const [flight] = this.#flights
    if (this.#paused || flight === undefined || this.#flights.length >= this.#parts.maxInFlight) return
    this.#alarm.register(flight.sentAt + SLOW_MS)
  }

  #pump(now: MonotonicInstant): void {
    while (this.#mayDepart(now)) {
      const parts = this.#turns.take(now, this.#batches())
      // Deadlines have passed: the alarm is about to ring.
      if (parts.length === 0) break
      this.#send(parts, now)
    }
    if (!this.#turns.isEmpty) this.#registerSlow()
    this.#settleIdle()
  }

  /** With much to send, the server works on one batch while this process reads the answers to the other. */
  #batches(): number {
    const free = this.#parts.maxInFlight - this.#flights.length
    return free < 2 || this.#turns.weight < 2 * WORTH_A_BATCH ? 1 : Math.min(2, free)
  }

  #settleIdle(): void {
    if (!this.idle) return
    this.#alarm.rest()
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  #send(parts: readonly Part<Item, Answer>[], now: MonotonicInstant): void {
    const items: Item[] = []
    let deadline = 0
    for (const { caller, from, to } of parts) {
      for (let index = from; index < to; index += 1) items.push(caller.items[index] as Item)
      deadline = Math.max(deadline, caller.deadline)
    }
    const flight: Flight<Item, Answer> = { parts, sentAt: now, deadline, isPrompt: parts.some(({ caller }) => isPrompt(caller, now)) }
    this.#flights.push(flight)
    this.#parts.send(items, deadline, flight.isPrompt).then(
      (answers) => {
        this.#trouble = undefined
        this.#land(flight)
        this.#handOut(parts, items, answers)
      },
      (error: unknown) => this.#lost(flight, error),
    )
  }

  #lost(flight: Flight<Item, Answer>, error: unknown): void {
    const { parts } = flight
    const pause = error instanceof StoreFailure ? this.#parts.retryAfter?.(error) : undefined
    if (!(error instanceof StoreFailure) || pause === undefined) {
      this.#land(flight)
      if (error instanceof StoreFailure) this.#failAll(parts, error)
      // Misuse is refused before anything is charged, and is one caller's, not the batch's.
      else if (error instanceof LimiterError && parts.length > 1) for (const part of parts) this.#send([part], flight.sentAt)
      else for (const { caller } of parts) caller.reject(error)
      return
    }
    this.#trouble = error
    for (const part of parts) this.#returnToQueue(part, error)
    this.#paused = true
    this.#parts.clock.after(pause, () => {
      this.#paused = false
      this.#expire()
    })
    this.#land(flight)
  }

  /** Nothing was executed: the items wait again, unless later ones of this caller are in flight. */
  #returnToQueue(part: Part<Item, Answer>, failure: StoreFailure): void {
    const { caller, from, to } = part
    if (caller.open === 0) return
    if (this.#turns.putBack(part)) this.#alarm.register(caller.deadline)
    else this.#fail(caller, from, to, failure)
  }

  #land(flight: Flight<Item, Answer>): void {
    const at = this.#flights.indexOf(flight)
    if (at !== -1) this.#flights.splice(at, 1)
    // The next batch is sent before the answers are handed out: the server need not wait for that.
    this.#pump(this.#parts.clock.monotonic())
  }

  #handOut(parts: readonly Part<Item, Answer>[], items: readonly Item[], answers: readonly Answer[]): void {
    const { resend } = this.#parts
    let at = 0
    for (const { caller, from, to } of parts) {
      for (let index = from; index < to; index += 1, at += 1) {
        const answer = answers[at] as Answer
        const later = resend?.(items[at] as Item, answer, caller)
        if (later === undefined) caller.answer(index, answer)
        else later.then((other) => caller.answer(index, other), caller.reject)
      }
    }
  }

  #failure(kind: StoreFailureKind, executed: 'no' | 'unknown', why: string): StoreFailure {
    return new StoreFailure(kind, executed, `${this.#parts.name}: ${why}`)
  }

  #fail(caller: Caller<Item, Answer>, from: number, to: number, failure: StoreFailure): void {
    const answer = this.#parts.failed(failure)
    for (let index = from; index < to; index += 1) caller.answer(index, answer)
  }

  #failAll(parts: readonly Part<Item, Answer>[], failure: StoreFailure): void {
    for (const { caller, from, to } of parts) this.#fail(caller, from, to, failure)
  }

  #refuse(caller: Caller<Item, Answer>, kind: StoreFailureKind, why: string): void {
    this.#fail(caller, 0, caller.items.length, this.#failure(kind, 'no', why))
  }

  /** Fails what these callers have not sent. */
  #remove(which: (caller: Caller<Item, Answer>) => boolean, failure: StoreFailure): void {
    for (const { caller, from } of this.#turns.remove(which)) this.#fail(caller, from, caller.items.length, failure)
  }

  #abort(caller: Caller<Item, Answer>): void {
    this.#remove((other) => other === caller, this.#failure('aborted', 'no', 'aborted by the caller'))
    this.#fail(caller, 0, caller.next, this.#failure('aborted', 'unknown', 'aborted by the caller'))
    this.#settleIdle()
  }

  #expire(): void {
    const now = this.#parts.clock.monotonic()
    const isDue = ({ deadline }: Waiting): boolean => deadline <= now
    if (this.#turns.callers.some(isDue)) {
      const failure = this.#trouble ?? this.#failure('timeout', 'no', 'earlier calls took until the deadline, and this one was not sent')
      this.#remove(isDue, failure)
      if (this.#trouble !== undefined) this.#parts.gaveUp?.(this.#trouble)
    }
    let late: StoreFailure | undefined
    for (const { parts, deadline, isPrompt: wasPrompt } of this.#flights) {
      for (const { caller, from, to } of parts) {
        if (caller.open === 0) continue
        if (caller.deadline + SETTLE_MS > now) this.#alarm.register(caller.deadline + SETTLE_MS)
        else this.#fail(caller, from, to, (late ??= this.#failure('timeout', 'unknown', 'no answer by the deadline')))
      }
      if (deadline + DROP_MS > now) this.#alarm.register(deadline + DROP_MS)
      else if (wasPrompt) this.#parts.gaveUp?.(late ?? this.#failure('timeout', 'unknown', 'no answer'))
    }
    this.#flights = this.#flights.filter(({ deadline }) => deadline + DROP_MS > now)
    for (const { deadline } of this.#turns.callers) this.#alarm.register(deadline)
    this.#pump(now)
  }
}
