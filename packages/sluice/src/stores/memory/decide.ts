import { applyGroup, type GroupCall } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import { type Call, type Decided, type GroupVerdict, verdictOf } from '../store.ts'
import { cellOf } from './overflow.ts'
import type { Room } from './room.ts'
import { type DryRun, isNew, keep, read, type Slot, slotted } from './slots.ts'

/**
 * What happens to a call of a new key when the store is full. With `shared`, such keys of a limit share 1,024 overflow states, which start
 * without tokens; sliding window logs and concurrency limits deny.
 */
export type OnFull = 'allow' | 'deny' | 'shared'

const one = (): number => 1

/**
 * Decides one call of a key that is not blocked as `applyGroup` does, but allocates only the verdict. Undefined, with nothing changed, if
 * `decideGroup` must decide.
 */
export function decideOne(room: Room, { id, limit, cost, phase }: Call, now: Micros): Decided | undefined {
  const known = room.find(id.scope, id.key, limit)
  const { states, step, lo, hi } = known
  const { algorithm, plan } = limit
  const row = states.table.find(lo, hi)
  if (row === -1 && room.overflow.trace(id.scope.text, lo) !== undefined) return undefined
  const stored = row === -1 ? undefined : states.read(row, known.state)
  const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
  algorithm.decide(plan, state, now, cost, phase, step)
  if (step.state !== undefined && step.state !== stored) {
    if ((states.bounded && !states.fits(row, step.state)) || (row === -1 && !room.makeRoom(now, one))) return undefined
    known.planId = states.write(row, lo, hi, limit, step.state, known.planId, now)
  }
  // The next call overwrites `step`, but the caller may keep the verdict.
  const { outcome, retryAfter, remaining, replenishAfter, resetAfter } = step
  const call = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
  return { outcome, at: now, retryAfter: outcome === 'denied' ? retryAfter : undefined, calls: [call] }
}

/** @param dryRun set for a peek: the states that it has written so far, which are read instead of the store's */
export function decideGroup(room: Room, calls: readonly Call[], now: Micros, onFull?: OnFull, dryRun?: DryRun): GroupVerdict {
  const slots: Slot[] = []
  const groupCalls = calls.map((call) => slotted(room, call, slots))
  const blocks = slots.map(({ id }) => room.blockOf(id, now))
  /** @param share whether overflow states decide for keys without a state of their own */
  const decide = (share: boolean): Decided | undefined => {
    const shared = slots.map((slot) => isNew(slot, dryRun) && (share || room.overflow.trace(slot.id.scope.text, slot.lo) !== undefined))
    const states = slots.map((slot) => read(room, slot, share, now, dryRun))
    const charges = share ? together(groupCalls, slots, shared, blocks) : groupCalls
    const result = applyGroup(states, charges, now, blocks, dryRun !== undefined)
    const own = share ? result.writes.filter(({ slot }) => shared[slot] !== true) : result.writes
    if (!keep(room, slots, own, now, dryRun) && !share) return undefined
    if (share && dryRun === undefined) {
      for (const { slot, state } of result.writes) {
        const { id, lo } = slots[slot] as Slot
        if (shared[slot] === true) room.overflow.write(id.scope.text, lo, state)
      }
    }
    const verdict = verdictOf(result, now)
    const denies = groupCalls.some(({ slot }, index) => shared[slot] === true && result.calls[index]?.outcome === 'denied')
    if (denies) return { ...verdict, reason: 'overflow', degraded: room.full }
    return share ? { ...verdict, degraded: room.full } : verdict
  }
  const counted = onFull === 'shared' && slots.every(({ limit }) => limit.algorithm.cells !== 'log')
  const verdict = decide(false) ?? (counted ? decide(true) : undefined)
  if (verdict !== undefined) return verdict
  return { failure: room.full, ...(onFull === undefined ? {} : { onFull: onFull === 'allow' ? 'allow' : 'deny' }) }
}

/**
 * Keys that share an overflow state get the same slot (index of a state), so that the one state is charged for all of them. Blocked keys
 * keep their slots, because a block denies the group anyway.
 */
function together(
  calls: readonly GroupCall[],
  slots: readonly Slot[],
  shared: readonly boolean[],
  blocks: readonly Micros[],
): readonly GroupCall[] {
  const meets = (before: number, other: number): boolean => {
    const [{ id, lo, limit }, second] = [slots[before] as Slot, slots[other] as Slot]
    if (shared[before] !== true || shared[other] !== true || blocks[before] !== 0 || blocks[other] !== 0) return false
    return id.scope.text === second.id.scope.text && limit === second.limit && cellOf(lo) === cellOf(second.lo)
  }
  return calls.map((call) => {
    const first = slots.findIndex((_, slot) => slot === call.slot || meets(slot, call.slot))
    return first === call.slot ? call : { ...call, slot: first, phase: (slots[first] as Slot).phase }
  })
}
