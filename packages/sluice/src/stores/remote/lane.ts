import type { MonotonicInstant, Random } from '../../time/time.ts'
import {
  type CallGroup,
  type Change,
  type ChangeResult,
  type DecideOptions,
  type Failed,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  nameOf,
  type Store,
  StoreFailure,
} from '../store.ts'
import { type Answered, Batcher, type BatcherParts, isUnsent } from './batcher.ts'
import { Breaker, type BreakerOptions } from './breaker.ts'
import { type Peeked, peekLists, verdictsOf } from './peeks.ts'
import type { Waiting } from './queue.ts'

type Shared = Pick<BatcherParts<never, never>, 'clock' | 'deadlines' | 'maxCalls' | 'maxInFlight' | 'slotMs' | 'room' | 'onIdle' | 'pace'>

export interface LaneParts extends Shared {
  readonly store: Store
  readonly random: Random
  /** Absent: calls are never refused. */
  readonly breaker: Required<BreakerOptions> | undefined
  /** Called when the server has answered or failed. */
  readonly onReply: () => void
}

type DecideBatcher = Batcher<CallGroup, GroupVerdict>

/** How long the groups of a state that was contended go in batches of their own. */
const CONTENDED_MS = 1_000
/** Milliseconds after its deadline at which a call that never settled has failed. */
const DROP_MS = 5

/** Everything sent to servers that fail together, such as one Cluster shard. Its trouble stays in it. Failures are reported per item. */
export class Lane {
  readonly breaker: Breaker | undefined
  readonly #parts: LaneParts
  /** What probes peek at. */
  #sample: CallGroup | undefined
  readonly #decisions: DecideBatcher
  readonly #peeks: Batcher<readonly CallGroup[], Peeked>
  readonly #leases: Batcher<LeaseRequest, LeaseAnswer>
  /** By state, in the order of their ends: the batcher that the groups of contended states share until nobody contends for them. */
  readonly #contended = new Map<string, { readonly batcher: DecideBatcher; until: MonotonicInstant }>()

  constructor(parts: LaneParts) {
    const { store, breaker, clock, random } = parts
    const { name } = store
    this.#parts = parts
    const probe = (ms: number): Promise<boolean> => this.#probe(ms)
    this.breaker = breaker && new Breaker({ ...breaker, name, clock, random, probe, onOpen: (refusal) => this.#refuse(refusal) })
    const shared = this.#shared()
    this.#decisions = new Batcher<CallGroup, GroupVerdict>({
      ...shared,
      weigh,
      send: (groups, deadline, isPrompt) => {
        this.#sample = groups[0]
        return this.#decide(groups, isPrompt, { deadline, onContention: 'fail' })
      },
      forward: (group, { kind, executed }, now) => (kind === 'contention' && executed === 'no' ? this.#contend(group, now) : undefined),
    })
    this.#peeks = new Batcher<readonly CallGroup[], Peeked>({
      ...shared,
      weigh: (groups) => groups.reduce((sum, group) => sum + weigh(group), 0),
      send: (lists, deadline, isPrompt) => {
        this.#sample = lists[0]?.[0]
        return peekLists(lists, (groups) => this.#decide(groups, isPrompt, { deadline, charge: false }))
      },
    })
    const lease = store.lease?.bind(store) ?? (async () => [])
    this.#leases = new Batcher<LeaseRequest, LeaseAnswer>({
      ...shared,
      weigh: () => 1,
      send: (requests, deadline, isPrompt) => this.#call(requests.length, deadline, isPrompt, () => lease(requests, { deadline })),
    })
  }

  get idle(): boolean {
    return this.#batchers().every(({ idle }) => idle)
  }

  decide(groups: readonly CallGroup[], caller: Waiting): Promise<readonly GroupVerdict[]> {
    if (this.#contended.size > 0) this.#forgetContended(caller.since)
    if (this.#contended.size === 0) return this.#decisions.submit(groups, caller)
    const batcherOf = (group: CallGroup): DecideBatcher => this.#contendedOf(group)?.batcher ?? this.#decisions
    return sendByTarget(groups, batcherOf, (batcher, some) => batcher.submit(some, caller))
  }

  async peek(groups: readonly CallGroup[], caller: Waiting): Promise<readonly GroupVerdict[]> {
    const [peeked] = await this.#peeks.submit([groups], caller)
    return verdictsOf(peeked, groups)
  }

  lease(requests: readonly LeaseRequest[], caller: Waiting): Promise<readonly LeaseAnswer[]> {
    return this.#leases.submit(requests, caller)
  }

  change(changes: readonly Change[], { deadline, signal }: Waiting): Promise<readonly ChangeResult[]> {
    const options = signal === undefined ? { deadline } : { deadline, signal }
    return this.#call(changes.length, deadline, true, () => this.#parts.store.change(changes, options))
  }

  /** Fails what waits with this, and stops probing. */
  close(failure: StoreFailure): void {
    this.breaker?.close()
    this.#refuse(failure)
  }

  #shared() {
    const { store, ...parts } = this.#parts
    return { ...parts, name: store.name, gaveUp: (failure: StoreFailure) => this.#gaveUp(failure) }
  }

  #decide(
    groups: readonly CallGroup[],
    isPrompt: boolean,
    options: DecideOptions & Pick<Waiting, 'deadline'>,
  ): Promise<readonly GroupVerdict[]> {
    return this.#call(groups.length, options.deadline, isPrompt, () => this.#parts.store.decide(groups, options))
  }

  /**
   * Calls the server for so many items, and counts the call: it failed if it did for every item. What may be sent again has not failed yet:
   * the batcher reports it when callers give up. A timeout counts only if `isPrompt`. Rejects for defects only.
   */
  #call<T extends Answered>(
    size: number,
    deadline: MonotonicInstant,
    isPrompt: boolean,
    send: () => Promise<readonly T[]>,
  ): Promise<readonly (T | Failed)[]> {
    const { deadlines, onReply, store } = this.#parts
    return new Promise((resolve, reject) => {
      let isOpen = true
      const end = (answers: readonly (T | Failed)[]): void => {
        if (!isOpen) return
        isOpen = false
        cancel()
        onReply()
        this.#count(answers, isPrompt)
        resolve(answers)
      }
      const fail = (kind: 'timeout' | 'protocol', why: string): void => failed(new StoreFailure(kind, 'unknown', `${store.name}: ${why}`))
      const failed = (error: unknown): void => {
        if (error instanceof StoreFailure) return end(Array.from({ length: size }, () => ({ failure: error })))
        cancel()
        onReply()
        reject(error)
      }
      const cancel = deadlines.add(deadline + DROP_MS, () => fail('timeout', 'no answer'))
      try {
        send().then((answers) => {
          if (isAnswer(answers, size)) end(answers)
          else fail('protocol', `an answer to ${size} calls that makes no sense`)
        }, failed)
      } catch (error) {
        failed(error)
      }
    })
  }

  /** Callers had no time for what failed to be sent again. */
  #gaveUp(failure: StoreFailure): void {
    this.#parts.onReply()
    this.breaker?.failed(failure)
  }

  #count(answers: readonly Answered[], isPrompt: boolean): void {
    const failure = answers.every((answer) => answer.failure !== undefined) ? answers[0]?.failure : undefined
    if (failure === undefined) this.breaker?.succeeded()
    else if (!isUnsent(failure) && (isPrompt || failure.kind !== 'timeout')) this.breaker?.failed(failure)
  }

  /** A call that charges nothing; whether the server works. */
  async #probe(deadlineMs: number): Promise<boolean> {
    const { store, clock } = this.#parts
    const deadline = clock.monotonic() + deadlineMs
    const sample = this.#sample
    const [answer] = await this.#call<Answered>(1, deadline, true, () =>
      sample === undefined ? store.ready({ deadline }).then(() => [{}]) : store.decide([sample], { charge: false, deadline }),
    )
    return answer?.failure === undefined
  }

  #batchers(): readonly Pick<Batcher<unknown, Answered>, 'idle' | 'refuse'>[] {
    return [this.#decisions, this.#peeks, this.#leases, ...[...this.#contended.values()].map(({ batcher }) => batcher)]
  }

  #refuse(failure: StoreFailure): void {
    for (const batcher of this.#batchers()) batcher.refuse(failure)
  }

  #contendedOf({ calls }: CallGroup) {
    for (const { id } of calls) {
      const found = this.#contended.get(nameOf(id))
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The batcher of a group of which a state is contended: one batch at a time, which waits for the lock. */
  #contend(group: CallGroup, now: MonotonicInstant): DecideBatcher {
    // A timeout there is that of the lock's holder, not the server's.
    const send: BatcherParts<CallGroup, GroupVerdict>['send'] = (groups, deadline) => this.#decide(groups, false, { deadline })
    const found = this.#contendedOf(group) ?? {
      batcher: new Batcher<CallGroup, GroupVerdict>({ ...this.#shared(), weigh, maxInFlight: 1, slotMs: Infinity, send }),
      until: 0,
    }
    found.until = now + CONTENDED_MS
    for (const { id } of group.calls) {
      this.#contended.delete(nameOf(id))
      this.#contended.set(nameOf(id), found)
    }
    return found.batcher
  }

  #forgetContended(now: MonotonicInstant): void {
    for (const [state, { batcher, until }] of this.#contended) {
      if (now < until || !batcher.idle) return
      this.#contended.delete(state)
    }
  }
}

function weigh({ calls }: CallGroup): number {
  return calls.length || 1
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
