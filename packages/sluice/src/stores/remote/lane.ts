import type { Deadlines } from '../../time/deadlines.ts'
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
import { Batcher, type BatcherParts, type Resend } from './batcher.ts'
import { type Breaker, type BreakerOptions, createBreaker } from './breaker.ts'
import { nameOf, peekLists } from './peeks.ts'
import type { Waiting } from './queue.ts'
import { settled } from './settled.ts'

export interface LaneParts extends Pick<BatcherParts<never, never>, 'maxCalls' | 'maxInFlight' | 'placeMs' | 'room' | 'onIdle' | 'pace'> {
  readonly store: Store
  readonly clock: Time
  readonly deadlines: Deadlines
  readonly random: Random
  /** Absent: calls are never refused. */
  readonly breaker: Required<BreakerOptions> | undefined
  /** Called when the server has answered or failed. */
  readonly onReply: () => void
}

/** Everything sent to servers that fail together, such as one Cluster shard. Its trouble stays in it. Failures are reported per item. */
export type Lane = ReturnType<typeof createLane>

/** Calls of a contended state: one batch at a time, until nobody has contended for it for a second. */
interface Contended {
  readonly calls: Batcher<CallGroup, GroupVerdict>
  until: MonotonicInstant
}

const CONTENDED_MS = 1_000
/** Milliseconds after its deadline at which a call that never settled has failed. */
const DROP_MS = 5
/** Milliseconds before what was not executed is sent again; doubles up to the maximum until a call succeeds. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [1, 16]

export function createLane({ store, breaker: options, onReply, ...parts }: LaneParts) {
  const { name } = store
  const { clock, random, deadlines } = parts
  const contended = new Map<string, Contended>()
  let sample: CallGroup | undefined
  let pause = MIN_PAUSE_MS

  const timed = <T>(deadline: MonotonicInstant, call: () => Promise<T>): Promise<T> =>
    settled(deadlines, { deadline: deadline + DROP_MS }, () => new StoreFailure('timeout', 'unknown', `${name}: no answer`), call)
  const probe = async (): Promise<void> => {
    const deadline = clock.monotonic() + (options as Required<BreakerOptions>).deadlineMs
    const group = sample
    if (group === undefined) return timed(deadline, () => store.ready({ deadline }))
    const [verdict] = await timed(deadline, () => store.decide([group], { charge: false, deadline }))
    if (verdict?.failure !== undefined) throw verdict.failure
  }
  const breaker = options && createBreaker({ ...options, name, clock, random, probe, onOpen: (refusal) => refuse(refusal) })

  const failed = (failure: StoreFailure, isPrompt: boolean): void => {
    onReply()
    if (isPrompt || failure.kind !== 'timeout') breaker?.failed(failure)
  }
  /**
   * Calls the server for so many items, and counts the call: it failed if it did for every item. What is sent again has not failed yet: the
   * batcher reports it when callers give up. Rejects for defects only.
   */
  const counted = async <T extends { readonly failure?: StoreFailure | undefined }>(
    size: number,
    deadline: MonotonicInstant,
    isPrompt: boolean,
    call: () => Promise<readonly T[]>,
  ): Promise<readonly (T | Failed)[]> => {
    let answers: readonly (T | Failed)[]
    try {
      answers = await timed(deadline, call)
      if (!isAnswer(answers, size)) throw new StoreFailure('protocol', 'unknown', `${name}: an answer to ${size} calls that makes no sense`)
    } catch (error) {
      if (!(error instanceof StoreFailure)) {
        onReply()
        throw error
      }
      answers = Array.from({ length: size }, () => ({ failure: error }))
    }
    onReply()
    pause = answers.some(isRetried) ? Math.min(MAX_PAUSE_MS, 2 * pause) : MIN_PAUSE_MS
    const failure = answers.every((answer) => answer.failure !== undefined) ? answers[0]?.failure : undefined
    if (failure === undefined) breaker?.succeeded()
    else if (!canRetry(failure)) failed(failure, isPrompt)
    return answers
  }

  /** How what failed so is sent again. */
  const again = (failure: StoreFailure | undefined, now: MonotonicInstant): Resend | undefined =>
    failure !== undefined && canRetry(failure) ? { failure, notBefore: now + pause } : undefined
  const shared = {
    ...parts,
    name,
    failed: (failure: StoreFailure): Failed => ({ failure }),
    gaveUp: (failure: StoreFailure) => failed(failure, true),
  }
  const ofGroups = {
    ...shared,
    weigh: ({ calls }: CallGroup) => calls.length || 1,
    again: (_: CallGroup, { failure }: GroupVerdict, now: MonotonicInstant) => again(failure, now),
  }
  const waits: BatcherParts<CallGroup, GroupVerdict> = {
    ...ofGroups,
    maxInFlight: 1,
    placeMs: Number.POSITIVE_INFINITY,
    // A timeout here is the holder's of the lock, not the server's.
    gaveUp: (failure) => failed(failure, false),
    send: (groups, deadline) => counted(groups.length, deadline, false, () => store.decide(groups, { deadline })),
  }
  const contendedOf = ({ calls }: CallGroup): Contended | undefined => {
    for (const { id } of calls) {
      const found = contended.get(nameOf(id))
      if (found !== undefined) return found
    }
    return undefined
  }
  const waiting = (group: CallGroup, now: MonotonicInstant): Batcher<CallGroup, GroupVerdict> => {
    const found = contendedOf(group) ?? { calls: new Batcher(waits), until: 0 }
    found.until = now + CONTENDED_MS
    for (const state of group.calls.map(({ id }) => nameOf(id))) {
      // Kept in the order of their ends.
      contended.delete(state)
      contended.set(state, found)
    }
    return found.calls
  }
  const forgetContended = (now: MonotonicInstant): void => {
    for (const [state, { calls, until }] of contended) {
      if (now < until || !calls.idle) return
      contended.delete(state)
    }
  }
  const charges = new Batcher<CallGroup, GroupVerdict>({
    ...ofGroups,
    send(groups, deadline, isPrompt) {
      sample = groups[0]
      return counted(groups.length, deadline, isPrompt, () => store.decide(groups, { deadline, onContention: 'fail' }))
    },
    again(group, { failure }, now) {
      if (failure?.kind !== 'contention' || failure.executed !== 'no') return again(failure, now)
      return { batcher: waiting(group, now), failure, notBefore: now }
    },
  })
  const peeks = new Batcher<readonly CallGroup[], readonly GroupVerdict[]>({
    ...shared,
    failed: (failure, groups) => groups.map(() => ({ failure })),
    weigh: (groups) => groups.reduce((sum, group) => sum + ofGroups.weigh(group), 0),
    again: (_, verdicts, now) => (verdicts.every(isRetried) ? again(verdicts[0]?.failure, now) : undefined),
    send(lists, deadline, isPrompt) {
      sample = lists[0]?.[0]
      return peekLists(lists, (groups) =>
        counted(groups.length, deadline, isPrompt, () => store.decide(groups, { deadline, charge: false })),
      )
    },
  })
  const leases = new Batcher<LeaseRequest, LeaseAnswer>({
    ...shared,
    weigh: () => 1,
    again: (_, { failure }, now) => again(failure, now),
    send: (requests, deadline, isPrompt) =>
      counted(requests.length, deadline, isPrompt, () => (store.lease as NonNullable<Store['lease']>)(requests, { deadline })),
  })
  const batchers = (): readonly Pick<Batcher<unknown, unknown>, 'idle' | 'refuse'>[] => [
    charges,
    peeks,
    leases,
    ...[...contended.values()].map(({ calls }) => calls),
  ]
  const refuse = (failure: StoreFailure): void => batchers().forEach((batcher) => batcher.refuse(failure))

  return {
    get breaker(): Breaker | undefined {
      return breaker
    },
    get idle(): boolean {
      return batchers().every(({ idle }) => idle)
    },
    decide(groups: readonly CallGroup[], caller: Waiting, now: MonotonicInstant): Promise<readonly GroupVerdict[]> {
      if (contended.size > 0) forgetContended(now)
      if (contended.size === 0) return charges.ask(groups, caller, now)
      const batcherOf = (group: CallGroup): typeof charges => contendedOf(group)?.calls ?? charges
      return sendByTarget(groups, batcherOf, (batcher, some) => batcher.ask(some, caller, now))
    },
    peek: async (groups: readonly CallGroup[], caller: Waiting, now: MonotonicInstant): Promise<readonly GroupVerdict[]> =>
      (await peeks.ask([groups], caller, now))[0] as readonly GroupVerdict[],
    lease: (requests: readonly LeaseRequest[], caller: Waiting, now: MonotonicInstant): Promise<readonly LeaseAnswer[]> =>
      leases.ask(requests, caller, now),
    change: (changes: readonly Change[], callOptions: CallOptions & Waiting): Promise<readonly ChangeResult[]> =>
      counted(changes.length, callOptions.deadline, true, () => store.change(changes, callOptions)),
    /** Fails what waits with this, and stops probing. */
    close(failure: StoreFailure): void {
      breaker?.close()
      refuse(failure)
    },
  }
}

/** Sends items where each belongs, one call for each target, and returns the answers in the order of the items. */
export async function sendByTarget<Item, Target, Answer>(
  items: readonly Item[],
  targetOf: (item: Item) => Target,
  send: (target: Target, some: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const byTarget = new Map<Target, Item[]>()
  const targets = items.map((item) => {
    const target = targetOf(item)
    const some = byTarget.get(target)
    if (some === undefined) byTarget.set(target, [item])
    else some.push(item)
    return target
  })
  const sent = [...byTarget].map(async ([target, some]) => [target, (await send(target, some)).values()] as const)
  const answers = new Map(await Promise.all(sent))
  return targets.map((target) => answers.get(target)?.next().value as Answer)
}

function isAnswer(answers: unknown, size: number): boolean {
  return Array.isArray(answers) && answers.length === size && answers.every((answer) => typeof answer === 'object' && answer !== null)
}

function isRetried({ failure }: { readonly failure?: StoreFailure | undefined }): boolean {
  return failure !== undefined && canRetry(failure)
}

/** Whether it was not executed, because the server was not there or could not serve: moments later it may. */
function canRetry({ kind, executed }: StoreFailure): boolean {
  return executed === 'no' && (kind === 'connection' || kind === 'unavailable')
}
