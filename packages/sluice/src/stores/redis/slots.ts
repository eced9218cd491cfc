import { type Change, changedState, type ChangeResult, type GroupVerdict, type Store } from '../store.ts'
import { chargeSlots } from './charge-slots.ts'
import type { RedisPort } from './clients/redis-port.ts'
import { decideParts, peekSlots } from './peek-slots.ts'
import { areInOneSlot, batched, gather, splitBySlot, type SlotOf } from './slot-groups.ts'

/**
 * `store` decides groups of one Cluster slot. A slot that fails fails only its own groups.
 *
 * A group over several slots charges one slot after another. If a slot denies, earlier charges are given back; until then other groups may
 * be denied because of them, but none is admitted in excess. If a slot fails a group with a hold, earlier charges stay until the group is
 * repeated, or its hold is settled or ends. Bound G (over-grant): that of `store`.
 * @param nodeOf a slot whose node is not known counts as a server of its own
 */
export function bySlot(store: Store, slotOf: SlotOf, nodeOf?: RedisPort['nodeOf']): Store {
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
      if (options?.charge === false) return settled(await peekSlots(store, parts, options))
      const decideSlot = batched((some) => decideParts(store, some, options))
      return settled(await Promise.all(parts.map((some) => chargeSlots(store, some, decideSlot, options))))
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

/** One call for each slot. The results are in the order of the items. */
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
 * Failures for lack of room are returned, because `onFull` may decide those groups.
 * @throws StoreFailure the first, if all groups failed and nothing was executed
 */
function settled(verdicts: readonly GroupVerdict[]): readonly GroupVerdict[] {
  const first = verdicts[0]?.failure
  if (first === undefined || verdicts.some(({ failure }) => failure?.executed !== 'no' || failure.kind === 'memory')) return verdicts
  throw first
}
