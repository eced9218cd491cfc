import {
  type CallGroup,
  type CallOptions,
  type Change,
  type Decided,
  type DecideOptions,
  failedBy,
  type GroupVerdict,
  type Store,
  StoreFailure,
  type Verdict,
} from '../stores/store.ts'
import { notify, type Observer, type StoreEvent } from '../observe/events.ts'
import { createDeadlines } from '../time/deadlines.ts'
import type { Cancel, MonotonicInstant, Time } from '../time/time.ts'

/**
 * Milliseconds after its deadline at which a call is settled here: the store itself knows better why, and settles first if it can. In two
 * steps, so that a store's timer that a busy process has delayed still runs before.
 */
const [GRACE_MS, LAST_MS] = [2, 1]
/** Milliseconds from the call to which a default deadline may be extended. */
const STRETCHED_MS = 1_000

/** Calls a store, trusting none of its promises: every call settles by its deadline, and an answer that makes no sense is a failure. */
export interface StoreCaller {
  readonly store: Store
  /** One verdict for each group, in order. A failure of the whole call fails every group, so it rejects only for defects. */
  decide(groups: readonly CallGroup[], options: DecideOptions): Promise<readonly GroupVerdict[]>
  /** As the store's own; absent if the store lacks it. */
  decideNow?(group: CallGroup): GroupVerdict | undefined
  /** Rejects with the first StoreFailure. */
  change(changes: readonly Change[], options: CallOptions): Promise<void>
  /** Rejects with a StoreFailure if the store cannot decide. */
  ready(options: CallOptions): Promise<void>
}

/**
 * @param clock times deadlines
 * @param observers learn of the calls of the store, and not of what is decided without one: from remembered denials and leased tokens
 */
export function createStoreCaller(store: Store, clock: Time, observers: readonly Observer[] = []): StoreCaller {
  const { sync } = store.capabilities
  const timed = createTimed(store, clock)
  const { isObserved, start, report, observed } = createReporter(store, clock, observers)
  const answerOf = (group: CallGroup): GroupVerdict | undefined => {
    try {
      const verdict = (store as Required<Store>).decideNow(group)
      // The hot path: a verdict with all its calls is taken as it is.
      if (verdict?.calls?.length === group.calls.length) return verdict
      return verdict === undefined && !sync ? undefined : checked(store, verdict, group)
    } catch (error) {
      return failedBy(error)
    }
  }
  const decideNow = (group: CallGroup): GroupVerdict | undefined => {
    const started = start()
    const verdict = answerOf(group)
    if (verdict !== undefined && isOfStore(verdict)) report('decide', started, verdict.failure)
    return verdict
  }
  const decide = async (groups: readonly CallGroup[], options: DecideOptions): Promise<readonly GroupVerdict[]> => {
    const started = start()
    let verdicts: readonly GroupVerdict[]
    try {
      const answer = listOf(await timed(options, () => store.decide(groups, options)))
      verdicts = groups.map((group, index) => checked(store, answer[index], group))
    } catch (error) {
      const verdict = failedBy(error)
      verdicts = groups.map(() => verdict)
    }
    if (isObserved && verdicts.some(isOfStore)) {
      const failure = verdicts.find((verdict) => verdict.failure !== undefined)?.failure
      report(options.charge === false ? 'peek' : 'decide', started, failure)
    }
    return verdicts
  }
  const change = async (changes: readonly Change[], options: CallOptions): Promise<void> => {
    const results = listOf(await timed(options, () => store.change(changes, options)))
    for (const index of changes.keys()) {
      const { failure } = results[index] ?? { failure: nonsense(store, 'result') }
      if (failure !== undefined) throw failure
    }
  }
  return {
    store,
    decide,
    ...(store.decideNow === undefined ? {} : { decideNow }),
    change: async (changes, options) => (changes.length === 0 ? undefined : observed('change', () => change(changes, options))),
    ready: (options) => observed('ready', () => timed(options, () => store.ready(options))),
  }
}

/** Makes calls that settle by their deadline, whatever the store does. A late answer is dropped. */
function createTimed(store: Store, clock: Time) {
  const deadlines = createDeadlines(clock)
  return <T>({ deadline, stretch, signal }: CallOptions, send: () => Promise<T>): Promise<T> => {
    if (signal?.aborted === true) return Promise.reject(new StoreFailure('aborted', 'no', `${store.name}: aborted by the caller`))
    if (deadline === undefined) return send()
    const latest = stretch === true ? clock.monotonic() + STRETCHED_MS : deadline
    return new Promise<T>((resolve, reject) => {
      // Called in here, a store that throws instead of rejecting rejects too.
      const sent = Promise.resolve(send())
      const fail = (): void => {
        cancel = clock.after(LAST_MS, () => reject(new StoreFailure('timeout', 'unknown', `${store.name}: no answer by the deadline`)))
      }
      // Most answers come before the shorter deadline, and near deadlines share a timer.
      let cancel: Cancel = deadlines.add(deadline + GRACE_MS, () => {
        if (latest > deadline) cancel = deadlines.add(latest + GRACE_MS, fail)
        else fail()
      })
      const settle =
        <V>(by: (value: V) => void) =>
        (value: V): void => {
          cancel()
          by(value)
        }
      sent.then(settle(resolve), settle(reject))
    })
  }
}

/** Reports the calls of a store, where an observer listens. */
function createReporter(store: Store, clock: Time, observers: readonly Observer[]) {
  const listening = observers.filter(({ onStoreCall }) => onStoreCall !== undefined)
  const isObserved = listening.length > 0
  const start = (): MonotonicInstant => (isObserved ? clock.monotonic() : 0)
  const report = (operation: StoreEvent['operation'], started: MonotonicInstant, failure: unknown): void => {
    if (!isObserved) return
    const event = { store: store.name, operation, durationMs: clock.monotonic() - started }
    notify(listening, 'onStoreCall', failure instanceof StoreFailure ? { ...event, failure: failure.kind } : event)
  }
  const observed = async (operation: StoreEvent['operation'], call: () => Promise<void>): Promise<void> => {
    const started = start()
    let failure: unknown
    try {
      await call()
    } catch (error) {
      failure = error
      throw error
    } finally {
      report(operation, started, failure)
    }
  }
  return { isObserved, start, report, observed }
}

/** Whether the store was called for it. */
function isOfStore({ failure, source = 'store' }: GroupVerdict & { readonly source?: Decided['source'] }): boolean {
  return failure !== undefined || source === 'store'
}

/** What a store returned, which need not be a list. */
function listOf<T>(answer: readonly T[]): readonly (T | undefined)[] {
  return Array.isArray(answer) ? answer : []
}

/** The verdict, or a failure if it is not a verdict about this group: nothing is invented. */
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
  // A group that was denied names the call that was.
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
