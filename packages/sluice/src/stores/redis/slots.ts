import {
  type CallOptions,
  type Change,
  changedState,
  type ChangeResult,
  type Decided,
  type DecideOptions,
  type Failed,
  failedBy,
  type GroupVerdict,
  type Store,
  StoreFailure,
} from '../store.ts'
import type { RedisPort } from './clients/redis-port.ts'
import {
  type Answered,
  areInOneSlot,
  type DecideSlot,
  gather,
  joinSlots,
  leastWait,
  type SlotCalls,
  splitBySlot,
  type SlotOf,
  batched,
  uncharged,
} from './slot-groups.ts'

/**
 * A store with keys in slots, built on one that decides groups of one slot. Groups of one slot are batched; slots are called
 * concurrently, and one that fails fails only its own groups. A group over several slots calls one slot after another, the most
 * restrictive first (least rate per cost). If a later slot does not allow it, it returns what earlier ones charged, so a decided group has
 * charged all or nothing. Until then others, including groups of the same `decide`, may be denied the tokens that it holds (under-grant);
 * no group is ever admitted too much. Each slot decides in the order of its calls. `at` is the latest time of a group's slots. Bound G:
 * that of the store.
 * @param nodeOf the node of a slot; where it is not known, the slot counts as a server of its own
 */
export function bySlot(store: Store, slotOf: SlotOf, nodeOf?: RedisPort['nodeOf']): Store {
  const decideSlots = async (parts: readonly SlotCalls[], options: DecideOptions | undefined): Promise<readonly GroupVerdict[]> => {
    const groups = parts.map(({ calls }) => ({ calls }))
    try {
      return await store.decide(groups, options)
    } catch (error) {
      const failed = failedBy(error)
      return groups.map(() => failed)
    }
  }

  /** Returns what was charged; the first failure if that is not sure. */
  const giveBack = async (charged: readonly Answered<Decided>[], options?: CallOptions): Promise<StoreFailure | undefined> => {
    const results = await Promise.all(
      charged.map(({ part, verdict }) => {
        const receipt = options?.now ?? verdict.at
        return store.change(
          part.calls.map((call) => ({ kind: 'adjust', call, amount: call.cost, receipt })),
          options,
        )
      }),
    )
    return results.flat().find(({ failure }) => failure !== undefined)?.failure
  }

  const charge = async (parts: readonly SlotCalls[], decideSlot: DecideSlot, options: CallOptions | undefined): Promise<GroupVerdict> => {
    const charged: Answered<Decided>[] = []
    for (const part of parts) {
      const verdict = await decideSlot(part)
      if (verdict.failure !== undefined) {
        if (charged.length === 0) return verdict
        // A full server answers, and `onFull` may decide: the group has charged nothing then.
        if (verdict.failure.kind === 'memory') {
          const failure = await giveBack(charged, options)
          return failure === undefined ? verdict : inDoubt(failure)
        }
        // Nobody waits for this, because the deadline has often passed. Tokens that cannot be returned stay charged, as after a lost
        // reply.
        giveBack(charged, options?.now === undefined ? undefined : { now: options.now }).catch(() => {})
        return inDoubt(verdict.failure)
      }
      if (verdict.outcome !== 'allowed') return refuse(parts, { part, verdict }, charged, decideSlot, options)
      charged.push({ part, verdict })
    }
    return joinSlots(charged)
  }
  const refuse = async (
    parts: readonly SlotCalls[],
    no: Answered<Decided>,
    charged: readonly Answered<Decided>[],
    decideSlot: DecideSlot,
    options: CallOptions | undefined,
  ): Promise<GroupVerdict> => {
    const failure = await giveBack(charged, options)
    if (failure !== undefined) return inDoubt(failure)
    const others = parts.filter((part) => part !== no.part)
    const joined = joinSlots([
      no,
      ...(await Promise.all(others.map(async (part) => ({ part, verdict: await decideSlot(uncharged(part)) })))),
    ])
    return waited(parts, joined, options)
  }
  /** The verdict with a wait that is also right for ramped limits. */
  const waited = async (parts: readonly SlotCalls[], verdict: GroupVerdict, options: CallOptions | undefined): Promise<GroupVerdict> => {
    const ramped = parts.some(({ calls }) => calls.some(({ limit }) => limit.ramped === true))
    if (verdict.outcome !== 'denied' || parts.length < 2 || !ramped) return verdict
    const decideAt = async (part: SlotCalls, now: number): Promise<GroupVerdict> =>
      (await decideSlots([part], { ...options, charge: false, now }))[0] as GroupVerdict
    return { ...verdict, retryAfter: await leastWait(parts, verdict, decideAt) }
  }

  const peek = async (groups: readonly (readonly SlotCalls[])[], options: DecideOptions | undefined): Promise<GroupVerdict[]> => {
    const refused = new Set<number>()
    for (;;) {
      const decideSlot = batched((parts) => decideSlots(parts, options))
      const answers = await Promise.all(
        groups.map((parts, index) =>
          Promise.all(parts.map(async (part) => ({ part, verdict: await decideSlot(refused.has(index) ? uncharged(part) : part) }))),
        ),
      )
      // A group over several slots that would be denied takes nothing in a slot that would allow it, so later groups are checked again.
      // One that fails takes nothing either.
      const next = [...answers.keys()].filter((index) => {
        const parts = answers[index] as readonly Answered[]
        return parts.length > 1 && !refused.has(index) && parts.some(({ verdict }) => verdict.outcome !== 'allowed')
      })
      if (next.length === 0)
        return Promise.all(answers.map((some, index) => waited(groups[index] as readonly SlotCalls[], joinSlots(some), options)))
      for (const [order, index] of next.entries()) {
        if (order === 0 || (answers[index] as readonly Answered[]).some(({ verdict }) => verdict.failure !== undefined)) refused.add(index)
      }
    }
  }

  const laneOf = (slot: number): string | number => nodeOf?.(slot) ?? slot
  const { lease } = store
  const leaseBySlot: Store['lease'] =
    lease &&
    ((requests, options) =>
      perSlot(
        requests,
        ({ call }) => slotOf(call.id),
        (some) => lease(some, options),
      ))
  return {
    name: store.name,
    capabilities: { ...store.capabilities, atomicBatch: 'same-slot', sync: false },
    laneOf(ids) {
      let lane: string | number | undefined
      for (const id of ids) {
        const own = laneOf(slotOf(id))
        lane ??= own
        if (own !== lane) return undefined
      }
      return lane
    },
    async decide(groups, options) {
      if (areInOneSlot(groups, slotOf)) return store.decide(groups, options)
      const parts = groups.map(({ calls }) => splitBySlot(calls, slotOf))
      if (options?.charge === false) return settled(await peek(parts, options))
      const decideSlot = batched((some) => decideSlots(some, options))
      return settled(await Promise.all(parts.map((some) => charge(some, decideSlot, options))))
    },
    change: (changes, options) =>
      perSlot<Change, ChangeResult>(
        changes,
        (change) => slotOf(changedState(change)),
        (some) => store.change(some, options),
      ),
    ...(leaseBySlot === undefined ? {} : { lease: leaseBySlot }),
    ready: (options) => store.ready(options),
    close: () => store.close(),
  }
}

/** Sends the items of each slot batched, in order; the results are in the order of the items. */
async function perSlot<T, R>(
  items: readonly T[],
  slotOf: (item: T) => number,
  send: (items: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = []
  const lists = gather(items.keys(), (index) => slotOf(items[index] as T))
  await Promise.all(
    lists.map(async (list) => {
      const some = await send(list.map((index) => items[index] as T))
      for (const [order, index] of list.entries()) results[index] = some[order] as R
    }),
  )
  return results
}

/**
 * If nothing was executed for any group, the call as a whole has failed. Not if the server is full: then `onFull` may decide.
 * @throws StoreFailure
 */
function settled(verdicts: readonly GroupVerdict[]): readonly GroupVerdict[] {
  const first = verdicts[0]?.failure
  if (first === undefined || verdicts.some(({ failure }) => failure?.executed !== 'no' || failure.kind === 'memory')) return verdicts
  throw first
}

/** Tokens were charged and may not be returned: a caller that retries must know. */
function inDoubt({ kind, message, cause }: StoreFailure): Failed {
  return { failure: new StoreFailure(kind, 'unknown', message, { cause }) }
}
