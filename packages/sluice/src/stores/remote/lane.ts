import type { MonotonicInstant } from '../../time/time.ts'
import {
  type CallGroup,
  type CallOptions,
  type Change,
  type ChangeResult,
  type DecideOptions,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type Store,
  type StoreFailure,
} from '../store.ts'
import type { Breaker } from './breaker.ts'
import { Batcher, type BatcherParts } from './batcher.ts'
import { nameOf, type Peeked, peekLists, verdictsOf } from './peeks.ts'
import type { Waiting } from './queue.ts'
import { Server, type ServerParts } from './server.ts'

export interface LaneParts
  extends ServerParts, Pick<BatcherParts<never, never>, 'maxCalls' | 'maxInFlight' | 'placeMs' | 'room' | 'onIdle' | 'pace'> {}

/** Everything sent to servers that fail together, such as one Cluster shard. Its trouble stays in it. Failures are reported per item. */
export type Lane = ReturnType<typeof createLane>

type Charges = Batcher<CallGroup, GroupVerdict>

/** How long the groups of a state that was contended go in batches of their own. */
const CONTENDED_MS = 1_000

export function createLane(parts: LaneParts) {
  const { store } = parts
  const server = new Server(parts, (refusal) => refuse(refusal))
  const decide = (groups: readonly CallGroup[], isPrompt: boolean, options: DecideOptions & Waiting) =>
    server.call(groups.length, options.deadline, isPrompt, () => store.decide(groups, options))
  const shared = { ...parts, name: store.name, gaveUp: (failure: StoreFailure) => server.gaveUp(failure) }
  const contended = createContended(
    () =>
      new Batcher<CallGroup, GroupVerdict>({
        ...shared,
        weigh,
        maxInFlight: 1,
        placeMs: Number.POSITIVE_INFINITY,
        // A timeout here is that of the lock's holder, not the server's.
        send: (groups, deadline) => decide(groups, false, { deadline }),
      }),
  )
  const charges: Charges = new Batcher<CallGroup, GroupVerdict>({
    ...shared,
    weigh,
    send(groups, deadline, isPrompt) {
      server.sample = groups[0]
      return decide(groups, isPrompt, { deadline, onContention: 'fail' })
    },
    forward: (group, { kind, executed }, now) => (kind === 'contention' && executed === 'no' ? contended.add(group, now) : undefined),
  })
  const peeks = new Batcher<readonly CallGroup[], Peeked>({
    ...shared,
    weigh: (groups) => groups.reduce((sum, group) => sum + weigh(group), 0),
    send(lists, deadline, isPrompt) {
      server.sample = lists[0]?.[0]
      return peekLists(lists, (groups) => decide(groups, isPrompt, { deadline, charge: false }))
    },
  })
  const leases = new Batcher<LeaseRequest, LeaseAnswer>({
    ...shared,
    weigh: () => 1,
    send: (requests, deadline, isPrompt) =>
      server.call(requests.length, deadline, isPrompt, () => (store.lease as NonNullable<Store['lease']>)(requests, { deadline })),
  })
  const batchers = () => [charges, peeks, leases, ...contended.batchers()]
  const refuse = (failure: StoreFailure): void => batchers().forEach((batcher) => batcher.refuse(failure))

  return {
    get breaker(): Breaker | undefined {
      return server.breaker
    },
    get idle(): boolean {
      return batchers().every(({ idle }) => idle)
    },
    decide(groups: readonly CallGroup[], caller: Waiting, now: MonotonicInstant): Promise<readonly GroupVerdict[]> {
      if (!contended.has(now)) return charges.submit(groups, caller, now)
      const batcherOf = (group: CallGroup): Charges => contended.of(group) ?? charges
      return sendByTarget(groups, batcherOf, (batcher, some) => batcher.submit(some, caller, now))
    },
    async peek(groups: readonly CallGroup[], caller: Waiting, now: MonotonicInstant): Promise<readonly GroupVerdict[]> {
      const [peeked] = await peeks.submit([groups], caller, now)
      return verdictsOf(peeked, groups)
    },
    lease: (requests: readonly LeaseRequest[], caller: Waiting, now: MonotonicInstant): Promise<readonly LeaseAnswer[]> =>
      leases.submit(requests, caller, now),
    change: (changes: readonly Change[], callOptions: CallOptions & Waiting): Promise<readonly ChangeResult[]> =>
      server.call(changes.length, callOptions.deadline, true, () => store.change(changes, callOptions)),
    /** Fails what waits with this, and stops probing. */
    close(failure: StoreFailure): void {
      server.breaker?.close()
      refuse(failure)
    },
  }
}

/** Contended states, each with the batcher that its groups share until nobody has contended for it for a while. */
function createContended(create: () => Charges) {
  /** By name, in the order of their ends. */
  const states = new Map<string, { readonly batcher: Charges; until: MonotonicInstant }>()
  const find = ({ calls }: CallGroup) => {
    for (const { id } of calls) {
      const found = states.get(nameOf(id))
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    batchers: (): readonly Charges[] => [...states.values()].map(({ batcher }) => batcher),
    of: (group: CallGroup): Charges | undefined => find(group)?.batcher,
    /** Whether a state is contended now. */
    has(now: MonotonicInstant): boolean {
      for (const [state, { batcher, until }] of states) {
        if (now < until || !batcher.idle) return true
        states.delete(state)
      }
      return false
    },
    /** The batcher of a group of which a state is contended. */
    add(group: CallGroup, now: MonotonicInstant): Charges {
      const found = find(group) ?? { batcher: create(), until: 0 }
      found.until = now + CONTENDED_MS
      for (const { id } of group.calls) {
        states.delete(nameOf(id))
        states.set(nameOf(id), found)
      }
      return found.batcher
    },
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
