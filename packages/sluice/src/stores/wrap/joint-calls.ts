import { LimiterError } from '../../errors/limiter-error.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import { type CallOptions, StoreFailure, type StoreFailureKind } from '../store.ts'
import { Alarm } from './alarm.ts'
import { beside } from './beside.ts'
import { areInStep, handOut, handOutInTurns } from './hand-out.ts'
import { turnsOf } from './turns.ts'
import { type Alone, type Joint, Waiting } from './waiting.ts'

export interface JointBounds {
  /** For messages. */
  readonly name: string
  readonly clock: Time
  /** Most calls that travel together; a caller with more travels alone. */
  readonly maxCalls: number
  readonly maxQueued: number
  /** Calls that wait now, in all queues that share these bounds. */
  queued: number
}

/** One call under way. `lost`: somebody's deadline has passed, and the queue no longer waits for it. */
interface Flight<Item> {
  readonly callers: readonly Waiting<Item>[]
  readonly sentAt: MonotonicInstant
  lost: boolean
}

const never = Number.POSITIVE_INFINITY

/** So many callers that share no state with a call under way need not wait for it: two calls keep a server busy. */
const BESIDE = 16
const MAX_ABREAST = 2

/**
 * A queue in front of a store: what is asked while nothing is under way is sent in the same tick, what is asked meanwhile travels in the
 * next call, in order of arrival, and beside the one under way where there is enough of it and no state in common. One timer stands for all deadlines.
 */
export class JointCalls<Item, Answer> {
  readonly #joint: Joint<Item, Answer>
  readonly #bounds: JointBounds
  #queue: Waiting<Item>[] = []
  /** Those that calls of the same states wait for. */
  #open: Flight<Item>[] = []
  /** Lost ones too, as long as callers with later deadlines wait for them. */
  #flights: Flight<Item>[] = []
  /** Operations that run alone, and how many of them there are with those that wait. */
  readonly #running = new Set<Waiting<Item>>()
  #alone = 0
  #scheduled = false
  /** Not before so many callers wait is looked for what may travel beside the call under way. */
  #besideAt = BESIDE
  readonly #alarm: Alarm
  #onIdle: (() => void)[] = []

  constructor(joint: Joint<Item, Answer>, bounds: JointBounds) {
    this.#joint = joint
    this.#bounds = bounds
    this.#alarm = new Alarm(bounds.clock, () => this.#expire())
  }

  /** Whether nothing waits and nothing is under way. */
  get idle(): boolean {
    return this.#queue.length === 0 && this.#flights.length === 0 && this.#running.size === 0
  }

  async whenIdle(): Promise<void> {
    if (!this.idle) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  ask(items: readonly Item[], options: CallOptions | undefined): Promise<readonly Answer[]> {
    return new Promise((resolve, reject) =>
      this.#add(new Waiting(this.#joint as Joint<Item, never>, items, options, undefined, resolve, reject)),
    )
  }

  /** Runs an operation after what was asked of the same states before, and before what is asked of them after. */
  runAlone<T>(alone: Alone & { run(): Promise<T> }, options: CallOptions | undefined): Promise<T> {
    return new Promise((resolve, reject) => this.#add(new Waiting(this.#joint as Joint<Item, never>, [], options, alone, resolve, reject)))
  }

  /** Refuses what still waits. */
  refuse(failure: StoreFailure): void {
    for (const caller of this.#queue.splice(0)) {
      this.#left(caller)
      caller.fail(failure)
    }
  }

  #add(caller: Waiting<Item>): void {
    const bounds = this.#bounds
    const { options, alone, weight } = caller
    if (options?.signal?.aborted === true) return this.#fail(caller, 'aborted', 'no', 'aborted by the caller')
    if (bounds.queued + weight > bounds.maxQueued) return this.#fail(caller, 'overload', 'no', `${bounds.queued} calls wait already`)
    bounds.queued += weight
    this.#queue.push(caller)
    if (alone !== undefined) this.#alone += 1
    if (options?.signal !== undefined) caller.listen(options.signal, () => this.#aborted(caller))
    if (this.#open.length > 0 || this.#alone > 0) this.#watch(caller)
    if (this.#scheduled || (this.#alone === 0 && !this.#mayDepart())) return
    this.#scheduled = true
    void Promise.resolve().then(() => {
      this.#scheduled = false
      this.#pump()
    })
  }

  #fail(caller: Waiting<Item>, kind: StoreFailureKind, executed: 'no' | 'unknown', why: string): void {
    caller.fail(new StoreFailure(kind, executed, `${this.#bounds.name}: ${why}`))
  }

  #aborted(caller: Waiting<Item>): void {
    const at = this.#queue.indexOf(caller)
    if (at === -1) return this.#fail(caller, 'aborted', 'unknown', 'aborted by the caller')
    this.#queue.splice(at, 1)
    this.#left(caller)
    this.#fail(caller, 'aborted', 'no', 'aborted by the caller')
    this.#pump()
  }

  /** Counts one out that left the queue unsent. */
  #left({ weight, alone }: Waiting<Item>): void {
    this.#bounds.queued -= weight
    if (alone !== undefined) this.#alone -= 1
  }

  /** Whether a call may go out, with what waits. */
  #mayDepart(): boolean {
    return this.#open.length === 0 || (this.#open.length < MAX_ABREAST && this.#queue.length >= this.#besideAt)
  }

  #pump(): void {
    if (this.#alone > 0) this.#pumpInTurn()
    else if (this.#queue.length > 0 && this.#mayDepart()) this.#depart()
    if (!this.idle) return
    this.#alarm.stop()
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  #depart(): void {
    const [flight] = this.#open
    if (flight === undefined) {
      this.#send(this.#take())
      if (this.#queue.length > 0) this.#pump()
      return
    }
    const { taken, left } = beside(this.#queue, flight.callers, this.#bounds.maxCalls)
    if (taken.length < BESIDE) {
      // Looking costs as much as there is to look at: not again before that was worth it.
      this.#besideAt = 2 * this.#queue.length
      return
    }
    this.#queue = left
    for (const caller of left) this.#watch(caller)
    this.#send(taken)
  }

  #pumpInTurn(): void {
    const underWay = [...this.#running, ...this.#open.flatMap(({ callers }) => callers)]
    const { together, alone, left } = turnsOf(this.#queue, underWay, this.#open.length === 0 ? this.#bounds.maxCalls : 0)
    this.#queue = left
    for (const caller of alone) this.#start(caller)
    if (together.length > 0) this.#send(together)
  }

  /** What fits into one call, from the front. */
  #take(): Waiting<Item>[] {
    const queue = this.#queue
    let count = 0
    for (let weight = 0; count < queue.length; count += 1) {
      weight += (queue[count] as Waiting<Item>).weight
      if (weight > this.#bounds.maxCalls && count > 0) break
    }
    if (count === queue.length) {
      this.#queue = []
      return queue
    }
    this.#queue = queue.slice(count)
    for (const caller of this.#queue) this.#watch(caller)
    return queue.slice(0, count)
  }

  #start(caller: Waiting<Item>): void {
    this.#bounds.queued -= caller.weight
    this.#running.add(caller)
    const over = (): void => {
      this.#running.delete(caller)
      this.#alone -= 1
      this.#pump()
    }
    ;(caller.alone as Alone).run().then(
      (answer) => {
        over()
        caller.give(answer)
      },
      (error: unknown) => {
        over()
        caller.fail(error)
      },
    )
  }

  #send(taken: readonly Waiting<Item>[]): void {
    const callers = this.#inTime(taken)
    const [first] = callers
    if (first === undefined) return this.#pump()
    const flight: Flight<Item> = { callers, sentAt: this.#bounds.clock.monotonic(), lost: false }
    this.#open.push(flight)
    this.#besideAt = BESIDE
    this.#flights.push(flight)
    const { items, options } = callers.length === 1 ? first : this.#joined(callers)
    this.#joint.send(items, { ...options, heard: () => this.#land(flight) }).then(
      (answers) => {
        this.#land(flight)
        if (callers.length === 1) first.give(answers)
        else if (this.idle && areInStep(callers, this.#bounds.clock.monotonic() - flight.sentAt)) handOutInTurns(callers, answers)
        else handOut(callers, answers)
      },
      (error: unknown) => {
        this.#land(flight)
        // One caller's misuse is refused before anything is charged, and is not the others'.
        const misuse = error instanceof LimiterError && callers.length > 1
        callers.forEach((caller) => (misuse ? this.#sendAgain(caller) : caller.fail(error)))
      },
    )
  }

  /** The items of all, with the latest deadline of any: one who must have an answer earlier has it from the timer. */
  #joined(callers: readonly Waiting<Item>[]): { items: readonly Item[]; options: CallOptions | undefined } {
    const items: Item[] = []
    let deadline = 0
    for (let index = 0; index < callers.length; index += 1) {
      const caller = callers[index] as Waiting<Item>
      for (let at = 0; at < caller.items.length; at += 1) items.push(caller.items[at] as Item)
      deadline = Math.max(deadline, caller.options?.deadline ?? never)
      this.#watch(caller)
    }
    return { items, options: deadline === never ? undefined : { deadline } }
  }

  /** Those that are not too late; the others are told so. */
  #inTime(taken: readonly Waiting<Item>[]): readonly Waiting<Item>[] {
    const now = this.#bounds.clock.monotonic()
    let late = 0
    for (let index = 0; index < taken.length; index += 1) {
      const caller = taken[index] as Waiting<Item>
      this.#bounds.queued -= caller.weight
      if ((caller.options?.deadline ?? never) > now) continue
      this.#fail(caller, 'timeout', 'no', 'the deadline had passed before the call was sent')
      late += 1
    }
    return late === 0 ? taken : taken.filter(({ settled }) => !settled)
  }

  #sendAgain(caller: Waiting<Item>): void {
    if (caller.settled) return
    this.#joint.send(caller.items, caller.options).then(
      (answers) => caller.give(answers),
      (error: unknown) => caller.fail(error),
    )
  }

  /** The next call goes out before the answer to this one is read and handed out: the server need not wait for that. */
  #land(flight: Flight<Item>): void {
    const at = this.#flights.indexOf(flight)
    if (at === -1) return
    this.#flights.splice(at, 1)
    this.#close((one) => one === flight)
    this.#pump()
  }

  #close(over: (flight: Flight<Item>) => boolean): void {
    this.#open = this.#open.filter((flight) => !over(flight))
    this.#besideAt = BESIDE
  }

  #watch({ options }: Waiting<Item>): void {
    this.#alarm.tell(options?.deadline)
  }

  #expire(): void {
    const now = this.#bounds.clock.monotonic()
    const due = (caller: Waiting<Item>): boolean => !caller.settled && (caller.options?.deadline ?? never) <= now
    for (const caller of this.#queue.filter(due)) {
      this.#left(caller)
      this.#fail(caller, 'timeout', 'no', 'no answer to earlier calls by the deadline, and this one was not sent')
    }
    this.#queue = this.#queue.filter(({ settled }) => !settled)
    for (const flight of this.#flights) {
      // One that travels alone is the store's to settle.
      const late = flight.callers.length === 1 ? [] : flight.callers.filter(due)
      if (late.length > 0) flight.lost = true
      for (const caller of late) this.#fail(caller, 'timeout', 'unknown', 'no answer by the deadline')
    }
    this.#close(({ lost }) => lost)
    for (const caller of this.#queue) this.#watch(caller)
    for (const { callers } of this.#flights) for (const caller of callers) if (!caller.settled && callers.length > 1) this.#watch(caller)
    this.#pump()
  }
}
