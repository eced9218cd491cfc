import { isRecord } from '../../algorithms/hold-record.ts'
import {
  type CallGroup,
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
  type Verdict,
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
 * Makes a store for keys in many slots from one that decides groups of one slot. Groups of one slot are batched. Slots are called
 * concurrently, and a slot that fails fails only its own groups.
 *
 * A group over several slots charges one slot after another, the most restrictive first (least rate per cost). If a slot does not allow
 * the group, the charges in earlier slots are given back. So a decided group has charged all or nothing. Until the charges are given back,
 * they may deny other groups, even of the same `decide` (under-grant); no group is ever admitted in excess. If a slot fails, a group with
 * the record of a hold stays charged in the earlier ones, until it is repeated, or its hold is settled or ends. Each slot decides its calls in
 * order. `at` of a group is the latest time of its slots. Bound G: that of `store`.
 * @param nodeOf the node of a slot; a slot whose node is not known counts as a server of its own
 */
export function bySlot(store: Store, slotOf: SlotOf, nodeOf?: RedisPort['nodeOf']): Store {
  const decideSlots = async (parts: readonly SlotCalls[], options: DecideOptions | undefined): Promise<readonly GroupVerdict[]> => {
    const groups = parts.map(({ calls, options: own }): CallGroup => (own === undefined ? { calls } : { calls, options: own }))
    try {
      return await store.decide(groups, options)
    } catch (error) {
      const failed = failedBy(error)
      return groups.map(() => failed)
    }
  }

  /** Gives back what was charged. Returns the first failure if it is not certain that everything was given back. */
  const giveBack = async (charged: readonly Answered<Decided>[], options?: CallOptions): Promise<StoreFailure | undefined> => {
    const results = await Promise.all(
      charged.map(({ part, verdict }) => {
        const receipt = options?.now ?? verdict.at
        const changes = part.calls.flatMap((call, index): Change[] => {
          if (isRecord(call.limit)) return [{ kind: 'reset', id: call.id }]
          const { after, grant } = verdict.calls[index] as Verdict
          const holder = part.options?.hold?.id
          // What the holder had before stays its own.
          if (grant?.again === true) return []
          if (grant !== undefined && holder !== undefined) return [{ kind: 'release', call, holder }]
          return after === undefined ? [{ kind: 'adjust', call, amount: call.cost, receipt }] : [{ kind: 'leave', call, after }]
        })
        // Records of holds go first: nobody can settle what is given back.
        return store.change([...changes.filter(isReset), ...changes.filter((change) => !isReset(change))], options)
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
        // `onFull` may decide a group for which the server has no room. The group must not have charged anything then.
        if (verdict.failure.kind === 'memory') {
          const failure = await giveBack(charged, options)
          return failure === undefined ? verdict : inDoubt(failure)
        }
        // A hold stays charged: a repeat of it may have found its record, and have charged only the other slots.
        if (parts.some(({ calls }) => calls.some(({ limit }) => isRecord(limit)))) return inDoubt(verdict.failure)
        // The verdict does not wait for this, because the deadline has often passed by now. Tokens that cannot be given back stay charged,
        // as after a lost reply.
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
  /** Corrects the wait of a denied group with ramped limits, for which the longest wait of its calls may not be enough. */
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
      // A group over several slots charges nothing if a slot denies it or fails, but its other slots were decided as if it did. So all
      // groups are decided again, with the first such group, and each that failed, uncharged.
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
      const parts = groups.map((group) => splitBySlot(group, slotOf))
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

function isReset({ kind }: Change): boolean {
  return kind === 'reset'
}

/** Sends the items of each slot in one call, in order. The results are in the order of the items. */
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
 * Returns the verdicts, unless all groups failed and nothing was executed: then the call as a whole has failed. Failures for lack of room
 * are returned, because `onFull` may decide those groups.
 * @throws StoreFailure the first failure
 */
function settled(verdicts: readonly GroupVerdict[]): readonly GroupVerdict[] {
  const first = verdicts[0]?.failure
  if (first === undefined || verdicts.some(({ failure }) => failure?.executed !== 'no' || failure.kind === 'memory')) return verdicts
  throw first
}

/** The failure of a group that was charged in some slots and may not have got its tokens back. So it reports `executed: 'unknown'`. */
function inDoubt({ kind, message, cause }: StoreFailure): Failed {
  return { failure: new StoreFailure(kind, 'unknown', message, { cause }) }
}
