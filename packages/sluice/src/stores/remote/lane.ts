import { isRecord } from '../../algorithms/hold-record.ts'
import type { Complete } from '../../errors/options.ts'
import type { MonotonicInstant, Random } from '../../time/time.ts'
import {
  type CallGroup,
  type Change,
  changedStates,
  type ChangeResult,
  type GroupVerdict,
  isOfHold,
  type LeaseAnswer,
  type LeaseRequest,
  nameOf,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import { type Answered, answersOf, callFor, isUnsent, type Listed, listed } from './answers.ts'
import { Batcher, type BatcherParts } from './batcher.ts'
import type { Counted } from './batcher-parts.ts'
import { Breaker, type BreakerOptions } from './breaker.ts'
import { peekLists } from './peeks.ts'
import type { Waiting } from './queue.ts'

type Shared = Pick<BatcherParts<never, never>, 'clock' | 'deadlines' | 'maxCalls' | 'maxInFlight' | 'slotMs' | 'room' | 'onIdle' | 'pace'>

export interface LaneParts extends Shared {
  readonly store: Store
  readonly random: Random
  /** The lane's name from `laneOf`; undefined if the store has only one lane. */
  readonly lane: string | number | undefined
  /** Undefined: calls are never refused. */
  readonly breaker: Complete<BreakerOptions> | undefined
  readonly onReply: () => void
}

type DecideBatcher = Batcher<CallGroup, GroupVerdict>

/** For this many milliseconds after a batch met a locked state, groups with that state are sent in separate batches. */
const CONTENDED_MS = 1_000

/** Batches and breaker for servers that fail together, such as one Cluster shard. */
export class Lane {
  readonly breaker: Breaker | undefined
  readonly #parts: LaneParts
  /** A group that was decided. Probes peek at it. */
  #sample: CallGroup | undefined
  readonly #decisions: DecideBatcher
  readonly #peeks: Batcher<readonly CallGroup[], Listed<GroupVerdict>>
  readonly #changes: Batcher<readonly Change[], Listed<ChangeResult>>
  readonly #holds: Batcher<Change, ChangeResult>
  readonly #leases: Batcher<LeaseRequest, LeaseAnswer>
  /** Batchers for states that were locked, by name, earliest `until` first. */
  readonly #contended = new Map<string, { readonly batcher: DecideBatcher; until: MonotonicInstant }>()

  constructor(parts: LaneParts) {
    const { store, breaker, clock, random, lane } = parts
    const { name } = store
    this.#parts = parts
    const probe = (ms: number): Promise<boolean> => this.#probe(ms)
    this.breaker = breaker && new Breaker({ ...breaker, name, lane, clock, random, probe, onOpen: (refusal) => this.#refuse(refusal) })
    const shared = this.#shared()
    this.#decisions = new Batcher<CallGroup, GroupVerdict>({
      ...shared,
      weigh,
      isBusy: () => this.#holds.isInFlight,
      send: store.decide.bind(store),
      sendOptions: { onContention: 'fail' },
      count: (groups, answers, how) => {
        this.#sample = groups[answers.findIndex(({ failure }) => failure === undefined)] ?? this.#sample
        this.#count(answers, how)
      },
      forward: (group, { kind, executed }, now) => (kind === 'contention' && executed === 'no' ? this.#contend(group, now) : undefined),
    })
    this.#peeks = new Batcher<readonly CallGroup[], Listed<GroupVerdict>>({
      ...shared,
      weigh: (groups) => groups.reduce((sum, group) => sum + weigh(group), 0),
      send: (lists, options) => peekLists(lists, (groups) => callFor(name, groups, () => store.decide(groups, options))),
      sendOptions: { charge: false },
    })
    this.#changes = new Batcher<readonly Change[], Listed<ChangeResult>>({
      ...shared,
      maxCalls: 'alone',
      maxInFlight: Number.POSITIVE_INFINITY,
      weigh: () => 1,
      send: ([changes = []], options) => callFor(name, changes, () => store.change(changes, options)).then((all) => [listed(all)]),
    })
    this.#holds = new Batcher<Change, ChangeResult>({
      ...shared,
      isBusy: () => this.#decisions.isInFlight,
      weigh: (change) => ('calls' in change ? change.calls.length || 1 : 1),
      send: store.change.bind(store),
    })
    this.#leases = new Batcher<LeaseRequest, LeaseAnswer>({
      ...shared,
      weigh: () => 1,
      send: store.lease?.bind(store) ?? (async () => []),
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
    return answersOf(peeked as Listed<GroupVerdict>, groups)
  }

  change(changes: readonly Change[], caller: Waiting): Promise<readonly ChangeResult[]> {
    // Changes of holds and slots are as frequent as calls, so they are batched.
    if (changes.every((change) => isOfHold(change) || change.kind === 'release')) return this.#holds.submit(changes, caller)
    return this.#changeAlone(changes, caller)
  }

  async #changeAlone(changes: readonly Change[], caller: Waiting): Promise<readonly ChangeResult[]> {
    const [changed] = await this.#changes.submit([changes], caller)
    return answersOf(changed as Listed<ChangeResult>, changes)
  }

  lease(requests: readonly LeaseRequest[], caller: Waiting): Promise<readonly LeaseAnswer[]> {
    return this.#leases.submit(requests, caller)
  }

  close(failure: StoreFailure): void {
    this.breaker?.close()
    this.#refuse(failure)
  }

  #shared() {
    const { store, ...parts } = this.#parts
    return {
      ...parts,
      name: store.name,
      count: (_: unknown, answers: readonly Answered[], how: Counted) => this.#count(answers, how),
      gaveUp: (failure: StoreFailure) => this.#gaveUp(failure),
    }
  }

  #gaveUp(failure: StoreFailure): void {
    this.#parts.onReply()
    this.breaker?.failed(failure)
  }

  /**
   * A call fails if all its items fail. `#gaveUp` counts `isUnsent` failures, once the time to send again is over. A failure `setup` in a
   * reply, such as for a state of a newer version, shows that the server works.
   */
  #count(answers: readonly Answered[], { isReply, isPrompt }: Counted): void {
    this.#parts.onReply()
    if (answers.length === 0) return
    const failure = answers.every((answer) => answer.failure !== undefined) ? answers[0]?.failure : undefined
    if (failure === undefined || (isReply && failure.kind === 'setup')) this.breaker?.succeeded()
    else if (!isUnsent(failure) && (isPrompt || failure.kind !== 'timeout')) this.breaker?.failed(failure)
  }

  /** Resolves with whether the server works. Charges nothing. */
  async #probe(deadlineMs: number): Promise<boolean> {
    const { store, clock, deadlines } = this.#parts
    const deadline = clock.monotonic() + deadlineMs
    const sample = this.#sample
    const probe = async (): Promise<boolean> => {
      if (sample === undefined) return store.ready({ deadline }).then(() => true)
      const [verdict] = await store.decide([sample], { charge: false, deadline })
      // As in `#count`: a state that cannot be read, such as one of a newer version, shows that the server works.
      return verdict?.failure === undefined || verdict.failure.kind === 'setup'
    }
    return deadlines.within({ deadline }, probe(), () => new StoreFailure('timeout', 'unknown', `${store.name}: no answer to a probe`))
  }

  #batchers(): readonly Pick<Batcher<unknown, Answered>, 'idle' | 'refuse'>[] {
    return [
      this.#decisions,
      this.#peeks,
      this.#changes,
      this.#holds,
      this.#leases,
      ...[...this.#contended.values()].map(({ batcher }) => batcher),
    ]
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

  /** Returns the batcher for groups of which another caller had locked a state. It sends one batch at a time, which waits for the locks. */
  #contend(group: CallGroup, now: MonotonicInstant): DecideBatcher {
    const found = this.#contendedOf(group) ?? { batcher: this.#waitingForLocks(), until: 0 }
    found.until = now + CONTENDED_MS
    for (const { id } of group.calls) {
      this.#contended.delete(nameOf(id))
      this.#contended.set(nameOf(id), found)
    }
    return found.batcher
  }

  #waitingForLocks(): DecideBatcher {
    const { store } = this.#parts
    return new Batcher<CallGroup, GroupVerdict>({
      ...this.#shared(),
      weigh,
      maxInFlight: 1,
      slotMs: Infinity,
      send: store.decide.bind(store),
      // Timeouts here are caused by the caller that has the lock, not by the server.
      count: (_, answers, { isReply }) => this.#count(answers, { isReply, isPrompt: false }),
    })
  }

  #forgetContended(now: MonotonicInstant): void {
    for (const [state, { batcher, until }] of this.#contended) {
      if (now < until || !batcher.idle) return
      this.#contended.delete(state)
    }
  }
}

export interface Verb<Item, Answer> {
  idsOf(item: Item): readonly StateId[]
  send(this: Lane, items: readonly Item[], caller: Waiting): Promise<readonly Answer[]>
}

const idsOf = ({ calls }: CallGroup): readonly StateId[] => calls.map(({ id }) => id)

export const DECIDE: Verb<CallGroup, GroupVerdict> = { idsOf, send: Lane.prototype.decide }
export const PEEK: Verb<CallGroup, GroupVerdict> = { idsOf, send: Lane.prototype.peek }
export const CHANGE: Verb<Change, ChangeResult> = { idsOf: changedStates, send: Lane.prototype.change }
export const LEASE: Verb<LeaseRequest, LeaseAnswer> = { idsOf: ({ call }) => [call.id], send: Lane.prototype.lease }

/** Does not count the extra call that stores the record of a hold. */
function weigh({ calls }: CallGroup): number {
  return calls.reduce((sum, { limit }) => (isRecord(limit) ? sum : sum + 1), 0) || 1
}

/** Answers are in the order of the items. */
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
