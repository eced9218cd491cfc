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
 * Milliseconds after the deadline, so that the store's own timer fires first: the store knows why there is no answer. `LAST_MS` gives that
 * timer a second chance in a busy process.
 */
const [GRACE_MS, LAST_MS] = [2, 1]
/** How long a call with `stretch` may take. */
const STRETCHED_MS = 1_000
/** Value of `due` in the last millisecond, after which the call fails as `timeout`. */
const LATE = Number.POSITIVE_INFINITY

/** Every call settles by its deadline; answers that make no sense become failures. */
export interface StoreCaller {
  readonly store: Store
  /** One verdict for each group, in order. Never rejects: if the call fails, each verdict is the failure. */
  decide(groups: readonly CallGroup[], options: DecideOptions): Promise<readonly GroupVerdict[]>
  /**
   * Absent if the store lacks it.
   * @param watch a started stopwatch, which is stopped when observers are notified
   */
  decideNow?(group: CallGroup, watch?: Stopwatch): GroupVerdict | undefined
  /** One result for each change. Rejects with the first StoreFailure. */
  change(changes: readonly Change[], options: CallOptions): Promise<readonly ChangeResult[]>
  /** Rejects with a StoreFailure if the store cannot decide. */
  ready(options: CallOptions): Promise<void>
}

/** @param observers are not notified of decisions from cached denials or leased tokens */
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
      // For speed, only the number of results is checked.
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
  // Not async: this runs for every call, and `async` would cost as much as all of `stores/remote`.
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

function refuseAborted({ name }: Store, { signal }: CallOptions): void {
  if (signal?.aborted === true) throw new StoreFailure('aborted', 'no', `${name}: aborted by the caller`)
}

/** A store may ignore the signal. The caller has left all the same. */
function lateFailure({ name }: Store, signal: AbortSignal | undefined): StoreFailure {
  if (signal?.aborted === true) return new StoreFailure('aborted', 'unknown', `${name}: aborted by the caller`)
  return new StoreFailure('timeout', 'unknown', `${name}: no answer by the deadline`)
}

type Timed = ReturnType<typeof createTimed>

function createTimed(store: Store, clock: Time) {
  const deadlines = createDeadlines(clock)
  return <T>({ deadline, stretch, signal }: CallOptions, call: Promise<T>): Promise<T> => {
    if (deadline === undefined) return call
    // The timer of `latest` is started when `deadline` has passed: most answers come earlier, and would need only one timer.
    const latest = stretch === true ? Math.max(deadline, clock.monotonic() + STRETCHED_MS) : deadline
    return new Promise<T>((resolve, reject) => {
      // One function for all steps: each further one would cost every call as much as a promise.
      let due = deadline
      const next = (): void => {
        if (due === LATE) return reject(lateFailure(store, signal))
        const isLast = due >= latest
        const at = isLast ? clock.monotonic() + LAST_MS : latest + GRACE_MS
        due = isLast ? LATE : latest
        waiting = deadlines.add(at, next)
      }
      let waiting = deadlines.add(deadline + GRACE_MS, next)
      // The store may return a value that is not a promise.
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

function createReporter(store: Store, clock: Time, observers: readonly Observer[]) {
  const listening = listeningTo(observers, 'onStoreCall')
  const isObserved = listening.length > 0
  const start = (): MonotonicInstant => (isObserved ? clock.monotonic() : 0)
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

/** Empty if the store returned anything but a list. */
function listOf<T>(answer: readonly T[]): readonly (T | undefined)[] {
  return Array.isArray(answer) ? answer : []
}

function verdictsOf(store: Store, answer: readonly GroupVerdict[], groups: readonly CallGroup[]): readonly GroupVerdict[] {
  const verdicts = listOf(answer)
  if (groups.length === 1) return [checked(store, verdicts[0], groups[0] as CallGroup)]
  return groups.map((group, index) => checked(store, verdicts[index], group))
}

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
  // A group has the outcome of at least one of its calls.
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
