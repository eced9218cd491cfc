import {
  type CallGroup,
  type CallOptions,
  type Change,
  type ChangeResult,
  type Decided,
  type DecideOptions,
  failedBy,
  type GroupVerdict,
  type Store,
  StoreFailure,
  type Verdict,
} from '../stores/store.ts'
import { listeningTo, notifyOfStoreCall, type Observer, type StoreEvent } from '../observe/events.ts'
import { createDeadlines } from '../time/deadlines.ts'
import type { MonotonicInstant, Stopwatch, Time } from '../time/time.ts'

/**
 * Milliseconds after the deadline until a call is settled here: first 2, then 1 more. The store's own timer should settle the call first,
 * because the store knows why there is no answer. If a busy process has delayed both timers, the second step lets the store's timer run
 * before this one.
 */
const [GRACE_MS, LAST_MS] = [2, 1]
/** The end of an extended default deadline (see `stretch`), in milliseconds from the call. */
const STRETCHED_MS = 1_000
/** The value of `due` during the last millisecond: at its end the call fails as `timeout`. */
const LATE = Number.POSITIVE_INFINITY

/** Calls a store, trusting none of its promises: every call settles by its deadline, and an answer that makes no sense is a failure. */
export interface StoreCaller {
  readonly store: Store
  /**
   * One verdict for each group, in order. If the whole call fails, each group gets the failure as its verdict. So the promise rejects only
   * because of a bug.
   */
  decide(groups: readonly CallGroup[], options: DecideOptions): Promise<readonly GroupVerdict[]>
  /**
   * The store's `decideNow`; absent if the store lacks it.
   * @param watch a stopwatch that the caller has just started. It is stopped here if the call is reported to an observer. If it is absent,
   * the call is timed here
   */
  decideNow?(group: CallGroup, watch?: Stopwatch): GroupVerdict | undefined
  /** One result for each change. Rejects with the first StoreFailure. */
  change(changes: readonly Change[], options: CallOptions): Promise<readonly ChangeResult[]>
  /** Rejects with a StoreFailure if the store cannot decide. */
  ready(options: CallOptions): Promise<void>
}

/**
 * @param clock times deadlines
 * @param observers are notified of calls that reach the store, but not of decisions from cached denials or leased tokens
 */
export function createStoreCaller(store: Store, clock: Time, observers: readonly Observer[] = []): StoreCaller {
  const timed = createTimed(store, clock)
  const reporter = createReporter(store, clock, observers)
  const { isObserved, observed } = reporter
  const change = async (changes: readonly Change[], options: CallOptions): Promise<readonly ChangeResult[]> => {
    if (changes.length === 0) return []
    refuseAborted(store, options)
    const results = listOf(await timed(options, store.change(changes, options)))
    return changes.map((_, index) => {
      const result = results[index] ?? { failure: nonsense(store, 'result') }
      if (result.failure !== undefined) throw result.failure
      return result
    })
  }
  return {
    store,
    decide: createDecide(store, timed, reporter),
    ...(store.decideNow === undefined ? {} : { decideNow: createDecideNow(store, reporter) }),
    change: isObserved
      ? async (changes, options) => (changes.length === 0 ? [] : observed('change', () => change(changes, options)))
      : change,
    ready: (options) =>
      observed('ready', async () => {
        refuseAborted(store, options)
        await timed(options, store.ready(options))
      }),
  }
}

type Reporter = ReturnType<typeof createReporter>

function createDecideNow(store: Store, { isObserved, start, report }: Reporter): Required<StoreCaller>['decideNow'] {
  const { sync } = store.capabilities
  const answerOf = (group: CallGroup): GroupVerdict | undefined => {
    try {
      const verdict = (store as Required<Store>).decideNow(group)
      // To save time, a verdict with one result for each call of the group is not checked further.
      if (verdict?.calls?.length === group.calls.length) return verdict
      return verdict === undefined && !sync ? undefined : checked(store, verdict, group)
    } catch (error) {
      return failedBy(error)
    }
  }
  return (group, watch) => {
    const started = watch === undefined ? start() : watch.started
    const verdict = answerOf(group)
    if (isObserved && verdict !== undefined && isOfStore(verdict)) {
      const ended = report('decide', started, verdict.failure)
      if (watch !== undefined) watch.ended = ended
    }
    return verdict
  }
}

function createDecide(store: Store, timed: Timed, { isObserved, start, report }: Reporter): StoreCaller['decide'] {
  // Not an async function: this code runs for every call, and `async` would cost as much time as the whole ring (`stores/remote`).
  return (groups, options) => {
    const started = start()
    const decided = (verdicts: readonly GroupVerdict[]): readonly GroupVerdict[] => {
      if (isObserved && verdicts.some(isOfStore)) {
        const failure = verdicts.find((verdict) => verdict.failure !== undefined)?.failure
        report(options.charge === false ? 'peek' : 'decide', started, failure)
      }
      return verdicts
    }
    const failed = (error: unknown): readonly GroupVerdict[] => {
      const verdict = failedBy(error)
      return decided(groups.map(() => verdict))
    }
    let sent: Promise<readonly GroupVerdict[]>
    try {
      refuseAborted(store, options)
      sent = store.decide(groups, options)
    } catch (error) {
      sent = Promise.reject(error)
    }
    return timed(options, sent).then((answer) => decided(verdictsOf(store, answer, groups)), failed)
  }
}

/** @throws StoreFailure if the caller has aborted */
function refuseAborted({ name }: Store, { signal }: CallOptions): void {
  if (signal?.aborted === true) throw new StoreFailure('aborted', 'no', `${name}: aborted by the caller`)
}

type Timed = ReturnType<typeof createTimed>

/** Settles calls by their deadline, whatever the store does. A late answer is dropped. */
function createTimed(store: Store, clock: Time) {
  const deadlines = createDeadlines(clock)
  return <T>({ deadline, stretch }: CallOptions, call: Promise<T>): Promise<T> => {
    if (deadline === undefined) return call
    // A call first waits until `deadline`, and then until `latest`, which may be later. Most answers come before `deadline`, and deadlines
    // that are close together share a timer.
    const latest = stretch === true ? Math.max(deadline, clock.monotonic() + STRETCHED_MS) : deadline
    return new Promise<T>((resolve, reject) => {
      // One function for all steps. It is created for every call, and each further function would cost as much time as a promise.
      let due = deadline
      const next = (): void => {
        if (due === LATE) return reject(new StoreFailure('timeout', 'unknown', `${store.name}: no answer by the deadline`))
        const isLast = due >= latest
        const at = isLast ? clock.monotonic() + LAST_MS : latest + GRACE_MS
        due = isLast ? LATE : latest
        waiting = deadlines.add(at, next)
      }
      let waiting = deadlines.add(deadline + GRACE_MS, next)
      // `Promise.resolve`, because a store may return a value that is not a promise.
      Promise.resolve(call).then(
        (answer) => {
          waiting.cancel()
          resolve(answer)
        },
        (error: unknown) => {
          waiting.cancel()
          reject(error)
        },
      )
    })
  }
}

/** Reports the calls of a store to the observers that have `onStoreCall`. */
function createReporter(store: Store, clock: Time, observers: readonly Observer[]) {
  const listening = listeningTo(observers, 'onStoreCall')
  const isObserved = listening.length > 0
  const start = (): MonotonicInstant => (isObserved ? clock.monotonic() : 0)
  /** Reports a call to the observers. Returns the instant at which the call ended. */
  const report = (operation: StoreEvent['operation'], started: MonotonicInstant, failure: unknown): MonotonicInstant => {
    const ended = clock.monotonic()
    const event = { store: store.name, operation, durationMs: ended - started }
    notifyOfStoreCall(listening, failure instanceof StoreFailure ? { ...event, failure: failure.kind, reason: failure.message } : event)
    return ended
  }
  const observed = async <T>(operation: StoreEvent['operation'], call: () => Promise<T>): Promise<T> => {
    const started = start()
    let failure: unknown
    try {
      return await call()
    } catch (error) {
      failure = error
      throw error
    } finally {
      if (isObserved) report(operation, started, failure)
    }
  }
  return { isObserved, start, report, observed }
}

/** Whether the store was called for this verdict. */
function isOfStore({ failure, source = 'store' }: GroupVerdict & { readonly source?: Decided['source'] }): boolean {
  return failure !== undefined || source === 'store'
}

/** The list that a store returned; empty if the store returned anything but a list. */
function listOf<T>(answer: readonly T[]): readonly (T | undefined)[] {
  return Array.isArray(answer) ? answer : []
}

function verdictsOf(store: Store, answer: readonly GroupVerdict[], groups: readonly CallGroup[]): readonly GroupVerdict[] {
  const verdicts = listOf(answer)
  if (groups.length === 1) return [checked(store, verdicts[0], groups[0] as CallGroup)]
  return groups.map((group, index) => checked(store, verdicts[index], group))
}

/** The verdict, or a failure if the store did not return a valid verdict about this group. */
function checked(store: Store, verdict: GroupVerdict | undefined, { calls }: CallGroup): GroupVerdict {
  return isVerdict(verdict, calls.length) ? verdict : { failure: nonsense(store, 'verdict') }
}

function nonsense({ name }: Store, what: string): StoreFailure {
  return new StoreFailure('protocol', 'unknown', `${name}: the store returned no ${what}, or one that makes no sense`)
}

function isVerdict(verdict: GroupVerdict | null | undefined, count: number): verdict is GroupVerdict {
  if (verdict?.failure !== undefined) return verdict.failure instanceof StoreFailure
  const { outcome, at, retryAfter = 0, calls } = verdict ?? ({} as Partial<Decided>)
  if (!Array.isArray(calls) || calls.length !== count || !((at as number) >= 0 && retryAfter >= 0)) return false
  // At least one call has the outcome of the group: a denied group, for example, has a denied call.
  let named = false
  for (const call of calls as readonly (Verdict | null | undefined)[]) {
    if (!isCallVerdict(call)) return false
    named ||= call.outcome === outcome
  }
  return named
}

const OUTCOMES: readonly unknown[] = ['allowed', 'denied', 'impossible']

function isCallVerdict(call: Verdict | null | undefined): call is Verdict {
  if (!OUTCOMES.includes(call?.outcome)) return false
  const { retryAfter, remaining, replenishAfter, resetAfter } = call as Verdict
  return retryAfter >= 0 && remaining >= 0 && replenishAfter >= 0 && resetAfter >= 0
}
