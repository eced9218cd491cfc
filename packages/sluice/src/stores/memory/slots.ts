import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { GroupCall, GroupResult } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, StateId } from '../store.ts'
import type { KnownLimit, Room } from './room.ts'

/** What a peek would have written. `added` counts the states that the store does not have. */
export interface DryRun {
  readonly states: Map<string, unknown>
  added: number
  /**
   * To make room, states expired at this time are dropped. The time is at most the present, because a peek for a later time must not drop
   * states that are still needed.
   */
  readonly dropAt: Micros
}

/** A state that a group uses, with id, limit and phase of the first call to this state. */
export interface Slot {
  readonly known: KnownLimit
  readonly lo: number
  readonly hi: number
  readonly id: StateId
  readonly limit: AnyLimit
  readonly phase: number
}

/** Adds the call's state to `slots` if it is not there. */
export function slotted(room: Room, { id, limit, cost, phase }: Call, slots: Slot[]): GroupCall {
  const known = room.find(id.scope, id.key, limit)
  const { lo, hi, states } = known
  let slot = slots.findIndex((other) => other.lo === lo && other.hi === hi && other.known.states === states)
  if (slot === -1) slot = slots.push({ known, lo, hi, id, limit, phase }) - 1
  return { slot, limit, cost, phase }
}

function nameOf({ known, lo, hi }: Slot): string {
  return `${known.states.tag}:${lo}:${hi}`
}

export function rowOf({ known, lo, hi }: Slot): number {
  return known.states.table.find(lo, hi)
}

export function isNew(slot: Slot, dryRun?: DryRun): boolean {
  return rowOf(slot) === -1 && dryRun?.states.has(nameOf(slot)) !== true
}

/**
 * The key's state; undefined if unused. A key without a row begins with a copy of its overflow state, which is shared by keys that found no
 * room.
 * @param share whether there is no room for a row, so that the overflow state itself decides
 */
export function read(room: Room, slot: Slot, share: boolean, now: Micros, dryRun?: DryRun): unknown {
  const planned = dryRun?.states.get(nameOf(slot))
  if (planned !== undefined) return planned
  const { known, lo, limit, id, phase } = slot
  const row = rowOf(slot)
  if (row !== -1) return known.states.read(row, limit.algorithm.step().next)
  return share ? room.overflow.read(id.scope.text, lo, limit, now, phase, dryRun !== undefined) : room.overflow.trace(id.scope.text, lo)
}

type Writes = GroupResult['writes']

/** Returns false, with nothing written, if there is no room. */
export function keep(room: Room, slots: readonly Slot[], writes: Writes, now: Micros, dryRun?: DryRun): boolean {
  const at = (slot: number): Slot => slots[slot] as Slot
  const added = (): number => writes.filter(({ slot }) => isNew(at(slot), dryRun)).length
  const fit = (): boolean => writes.every(({ slot, state }) => at(slot).known.states.fits(rowOf(at(slot)), state))
  if (dryRun !== undefined) {
    if (!room.makeRoom(dryRun.dropAt, () => dryRun.added + added(), fit)) return false
    dryRun.added += added()
    for (const { slot, state } of writes) dryRun.states.set(nameOf(at(slot)), state)
    return true
  }
  if (!room.makeRoom(now, added, fit)) return false
  for (const { slot, limit, state } of writes) {
    const { known, lo, hi } = at(slot)
    known.planId = known.states.write(rowOf(at(slot)), lo, hi, limit, state, known.planId, now)
  }
  return true
}
