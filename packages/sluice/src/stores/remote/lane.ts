import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import {
  type CallGroup,
  type CallOptions,
  type Change,
  type ChangeResult,
  type Failed,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type Store,
  StoreFailure,
} from '../store.ts'
import { Batcher, type BatcherParts } from './batcher.ts'
import { type Breaker, type BreakerOptions, createBreaker } from './breaker.ts'
import { sendByTarget } from './by-target.ts'
import type { Waiting } from './caller.ts'
import { nameOf } from './name.ts'
import { peekLists } from './peeks.ts'

export interface LaneParts {
  readonly store: Store
  readonly clock: Time
  readonly random: Random
  readonly maxCalls: BatcherParts<never, never>['maxCalls']
  readonly maxInFlight: number
  readonly room: BatcherParts<never, never>['room']
  /** Absent: calls are never refused. */
  readonly breaker: Required<BreakerOptions> | undefined
  /** Called when the server has answered or failed. */
  readonly onReply: () => void
}

/** Everything sent to servers that fail together, such as one Cluster shard. Its trouble stays in it. Failures are reported per item. */
export interface Lane {
  readonly breaker: Breaker | undefined
  readonly idle: boolean
  decide(groups: readonly CallGroup[], charge: boolean, waiting: Waiting, now: MonotonicInstant): Promise<readonly GroupVerdict[]>
  lease(requests: readonly LeaseRequest[], waiting: Waiting, now: MonotonicInstant): Promise<readonly (LeaseAnswer | Failed)[]>
  change(changes: readonly Change[], options: CallOptions): Promise<readonly ChangeResult[]>
  whenIdle(): Promise<void>
  /** Fails what waits with this, and stops probing. */
  close(failure: StoreFailure): void
}

/** Calls of a contended state: one batch at a time, until nobody has contended for it for a second. */
interface Contended {
  readonly calls: Batcher<CallGroup, GroupVerdict>
  until: MonotonicInstant
}

const CONTENDED_MS = 1_000
/** Milliseconds after its deadline at which a probe that never settled has failed. */
const PROBE_SETTLE_MS = 5
/** Milliseconds before a batch that was not executed is sent again; doubles up to the maximum. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [1, 16]

export function createLane({ store, clock, random, maxCalls, maxInFlight, room, breaker: options, onReply }: LaneParts): Lane {
  const { name } = store
  const contended = new Map<string, Contended>()
  let sample: CallGroup | undefined
  let pause = MIN_PAUSE_MS

  const peekSample = async (deadline: MonotonicInstant): Promise<void> => {
    if (sample === undefined) return store.ready({ deadline })
    const [verdict] = await store.decide([sample], { charge: false, deadline })
    if (verdict?.failure !== undefined) throw verdict.failure
  }
  const probe = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const { deadlineMs } = options as Required<BreakerOptions>
      const cancel = clock.after(deadlineMs + PROBE_SETTLE_MS, () => reject(new Error('the probe never settled')))
      void peekSample(clock.monotonic() + deadlineMs)
        .then(resolve, reject)
        .finally(cancel)
    })
  const breaker = options && createBreaker({ ...options, name, clock, random, probe, onOpen: (refusal) => refuse(refusal) })

  const succeeded = (): void => {
    onReply()
    pause = MIN_PAUSE_MS
    breaker?.succeeded()
  }
  const failed = (failure: unknown, isPrompt: boolean): void => {
    onReply()
    if (failure instanceof StoreFailure && (isPrompt || failure.kind !== 'timeout')) breaker?.failed(failure)
  }
  /** Counts a call of the server for so many items: one that failed for every item, or made no sense, is a failed call. */
  const counted = async <T>(
    size: number,
    call: () => Promise<readonly T[]>,
    isPrompt: boolean,
    first?: CallGroup,
  ): Promise<readonly T[]> => {
    sample = first ?? sample
    try {
      const answers = await call()
      if (!isAnswer(answers, size)) throw new StoreFailure('protocol', 'unknown', `${name}: an answer to ${size} calls that makes no sense`)
      const failure = failureOf(answers[0])
      if (failure !== undefined && answers.every(failureOf)) failed(failure, isPrompt)
      else succeeded()
      return answers
    } catch (error) {
      // What is sent again has not failed yet: the batcher reports it when callers give up.
      if (canRetry(error)) onReply()
      else failed(error, isPrompt)
      throw error
    }
  }
  const shared = { name, clock, room, failed: (failure: StoreFailure): Failed => ({ failure }) }
  const retry = {
    retryAfter: (failure: StoreFailure) => (canRetry(failure) ? (pause = Math.min(MAX_PAUSE_MS, 2 * pause)) : undefined),
    gaveUp: (failure: StoreFailure) => failed(failure, true),
  }
  const weigh = ({ calls }: CallGroup): number => calls.length || 1

  const waits: BatcherParts<CallGroup, GroupVerdict> = {
    ...shared,
    ...retry,
    weigh,
    maxCalls,
    maxInFlight: 1,
    // A timeout here is the holder's of the lock, not the server's.
    gaveUp: (failure) => failed(failure, false),
    send: (groups, deadline) => counted(groups.length, () => store.decide(groups, { deadline }), false),
  }
  const waiting = (group: CallGroup, now: MonotonicInstant): Contended => {
    const found = contendedOf(group) ?? { calls: new Batcher(waits), until: 0 }
    found.until = now + CONTENDED_MS
    for (const state of group.calls.map(({ id }) => nameOf(id))) {
      // Kept in the order of their ends.
      contended.delete(state)
      contended.set(state, found)
    }
    return found
  }
  const contendedOf = ({ calls }: CallGroup): Contended | undefined => {
    for (const { id } of calls) {
      const found = contended.get(nameOf(id))
      if (found !== undefined) return found
    }
    return undefined
  }
  const forgetContended = (now: MonotonicInstant): void => {
    for (const [state, { calls, until }] of contended) {
      if (now < until || !calls.idle) return
      contended.delete(state)
    }
  }
  const charges = new Batcher<CallGroup, GroupVerdict>({
    ...shared,
    ...retry,
    weigh,
    maxCalls,
    maxInFlight,
    send: (groups, deadline, isPrompt) =>
      counted(groups.length, () => store.decide(groups, { deadline, onContention: 'fail' }), isPrompt, groups[0]),
    resend: (group, { failure }, caller) => {
      if (failure === undefined || failure.kind !== 'contention' || failure.executed !== 'no') return undefined
      const now = clock.monotonic()
      return waiting(group, now)
        .calls.ask([group], caller, now)
        .then(([verdict]) => verdict as GroupVerdict)
    },
  })
  const peeks = new Batcher<readonly CallGroup[], readonly GroupVerdict[] | Failed>({
    ...shared,
    ...retry,
    weigh: (groups) => groups.reduce((sum, group) => sum + weigh(group), 0),
    maxCalls,
    maxInFlight,
    send: (lists, deadline, isPrompt) =>
      peekLists(lists, (groups) => counted(groups.length, () => store.decide(groups, { deadline, charge: false }), isPrompt, groups[0])),
  })
  const peek = async (groups: readonly CallGroup[], caller: Waiting, now: MonotonicInstant): Promise<readonly GroupVerdict[]> => {
    const [answer] = (await peeks.ask([groups], caller, now)) as [readonly GroupVerdict[] | Failed]
    return 'failure' in answer ? groups.map(() => answer) : answer
  }
  const leases = new Batcher<LeaseRequest, LeaseAnswer | Failed>({
    ...shared,
    ...retry,
    weigh: () => 1,
    maxCalls,
    maxInFlight,
    send: (requests, deadline, isPrompt) =>
      counted<LeaseAnswer | Failed>(requests.length, () => (store.lease as NonNullable<Store['lease']>)(requests, { deadline }), isPrompt),
  })
  const batchers = (): readonly Pick<Batcher<unknown, unknown>, 'idle' | 'whenIdle' | 'refuse'>[] => [
    charges,
    peeks,
    leases,
    ...[...contended.values()].map(({ calls }) => calls),
  ]
  const refuse = (failure: StoreFailure): void => batchers().forEach((batcher) => batcher.refuse(failure))

  return {
    breaker,
    get idle() {
      return batchers().every(({ idle }) => idle)
    },
    decide(groups, charge, caller, now) {
      const refusal = breaker?.refusal()
      if (refusal !== undefined) return Promise.resolve(groups.map(() => ({ failure: refusal })))
      if (!charge) return peek(groups, caller, now)
      if (contended.size > 0) forgetContended(now)
      if (contended.size === 0) return charges.ask(groups, caller, now)
      const batcherOf = (group: CallGroup): Batcher<CallGroup, GroupVerdict> => contendedOf(group)?.calls ?? charges
      return sendByTarget(groups, batcherOf, (batcher, some) => batcher.ask(some, caller, now))
    },
    lease(requests, caller, now) {
      const refusal = breaker?.refusal()
      return refusal === undefined ? leases.ask(requests, caller, now) : Promise.resolve(requests.map(() => ({ failure: refusal })))
    },
    async change(changes, callOptions) {
      const refusal = breaker?.refusal()
      if (refusal !== undefined) return changes.map(() => ({ failure: refusal }))
      try {
        return await counted(changes.length, () => store.change(changes, callOptions), true)
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
        return changes.map(() => ({ failure: error }))
      }
    },
    whenIdle: async () => void (await Promise.all(batchers().map((batcher) => batcher.whenIdle()))),
    close(failure) {
      breaker?.close()
      refuse(failure)
    },
  }
}

function isAnswer(answers: unknown, size: number): boolean {
  return Array.isArray(answers) && answers.length === size && answers.every((answer) => typeof answer === 'object' && answer !== null)
}

function failureOf(answer: unknown): StoreFailure | undefined {
  return (answer as Partial<Failed> | undefined)?.failure
}

/** Whether it was not executed, because the server was not there or could not serve: moments later it may. */
function canRetry(error: unknown): boolean {
  return error instanceof StoreFailure && error.executed === 'no' && (error.kind === 'connection' || error.kind === 'unavailable')
}
