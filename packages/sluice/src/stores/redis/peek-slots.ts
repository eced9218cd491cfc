import { type CallOptions, type DecideOptions, failedBy, type CallGroup, type GroupVerdict, type Store } from '../store.ts'
import { type Answered, batched, joinSlots, leastWait, type SlotCalls, uncharged } from './slot-groups.ts'

/** If the slot fails, each part gets the failure. */
export async function decideParts(
  store: Store,
  parts: readonly SlotCalls[],
  options: DecideOptions | undefined,
): Promise<readonly GroupVerdict[]> {
  const groups = parts.map(({ calls, options: own }): CallGroup => (own === undefined ? { calls } : { calls, options: own }))
  try {
    return await store.decide(groups, options)
  } catch (error) {
    const failed = failedBy(error)
    return groups.map(() => failed)
  }
}

/** Decides groups over several slots in order, and charges nothing. */
export async function peekSlots(
  store: Store,
  groups: readonly (readonly SlotCalls[])[],
  options: DecideOptions | undefined,
): Promise<GroupVerdict[]> {
  const refused = new Set<number>()
  for (;;) {
    const decideSlot = batched((parts) => decideParts(store, parts, options))
    const answers = await Promise.all(
      groups.map((parts, index) =>
        Promise.all(parts.map(async (part) => ({ part, verdict: await decideSlot(refused.has(index) ? uncharged(part) : part) }))),
      ),
    )
    // If one slot denies or fails a group, its other slots have still decided later groups as if it were charged. So all groups are decided
    // again. The first such group, and each that failed, are then not charged.
    const next = [...answers.keys()].filter((index) => {
      const parts = answers[index] as readonly Answered[]
      return parts.length > 1 && !refused.has(index) && parts.some(({ verdict }) => verdict.outcome !== 'allowed')
    })
    if (next.length === 0)
      return Promise.all(answers.map((some, index) => corrected(store, groups[index] as readonly SlotCalls[], joinSlots(some), options)))
    for (const [order, index] of next.entries()) {
      if (order === 0 || (answers[index] as readonly Answered[]).some(({ verdict }) => verdict.failure !== undefined)) refused.add(index)
    }
  }
}

/** Corrects a denied group's wait: at its end, a limit with a ramp (low in each new window) may deny again. */
export async function corrected(
  store: Store,
  parts: readonly SlotCalls[],
  verdict: GroupVerdict,
  options: CallOptions | undefined,
): Promise<GroupVerdict> {
  const ramped = parts.some(({ calls }) => calls.some(({ limit }) => limit.ramped === true))
  if (verdict.outcome !== 'denied' || parts.length < 2 || !ramped) return verdict
  const decideAt = async (part: SlotCalls, now: number): Promise<GroupVerdict> =>
    (await decideParts(store, [part], { ...options, charge: false, now }))[0] as GroupVerdict
  return { ...verdict, retryAfter: await leastWait(parts, verdict, decideAt) }
}
