import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { GroupCall, GroupResult } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, StateId } from '../store.ts'
import type { KnownLimit, Room } from './room.ts'

/** What a peek (a dry run) would have written: the states by name, and how many of them the store does not have (`added`). */
export interface DryRun {
  readonly states: Map<string, unknown>
  added: number
  /**
   * To make room, states that are expired at this time are dropped. It is never later than the present, although a peek may be for a later
   * time: states that are still needed must not be dropped.
   */
  readonly dropAt: Micros
}

/** One state of a group, with the id, limit and phase (by which windows begin) of the group's first call of this state. */
export interface Slot {
  readonly known: KnownLimit
  readonly lo: number
  readonly hi: number
  readonly id: StateId
  readonly limit: AnyLimit
  readonly phase: number
}

/** Returns the call with the index of its state in `slots`. The first call of a state adds the state to `slots`. */
export function slotted(room: Room, { id, limit, cost, phase }: Call, slots: Slot[]): GroupCall {
  const known = room.find(id.scope, id.key, limit)
  const { lo, hi, states } = known
  let slot = slots.findIndex((other) => other.lo === lo && other.hi === hi && other.known.states === states)
  if (slot === -1) slot = slots.push({ known, lo, hi, id, limit, phase }) - 1
  return { slot, limit, cost, phase }
}

export function nameOf({ known, lo, hi }: Slot): string {
  return `${known.states.tag}:${lo}:${hi}`
}

export function rowOf({ known, lo, hi }: Slot): number {
  return known.states.table.find(lo, hi)
}

export function isNew(slot: Slot, dryRun?: DryRun): boolean {
  return rowOf(slot) === -1 && dryRun?.states.has(nameOf(slot)) !== true
}

/**
 * Reads the state of a slot. If the store has no row for the state, returns the key's overflow state, as a copy of which the key's own
 * state begins. Undefined if that was never used.
 * @param share whether a key without a row gets its overflow state even if that was never used, because there is no room for a row
 */
export function read(room: Room, slot: Slot, share: boolean, now: Micros): unknown {
  const { known, lo, limit, id, phase } = slot
  const row = rowOf(slot)
  if (row !== -1) return known.states.read(row, limit.algorithm.step().next)
  return share ? room.overflow.read(id.scope.text, lo, limit, now, phase) : room.overflow.trace(id.scope.text, lo)
}

type Writes = GroupResult['writes']

/** Writes the states that a group changed. Returns false, with nothing written, if the store has no room for the new states among them. */
export function keep(room: Room, slots: readonly Slot[], writes: Writes, now: Micros, dryRun?: DryRun): boolean {
  const at = (slot: number): Slot => slots[slot] as Slot
  const added = (): number => writes.filter(({ slot }) => isNew(at(slot), dryRun)).length
  if (dryRun !== undefined) {
    if (!room.makeRoom(dryRun.dropAt, () => dryRun.added + added())) return false
    dryRun.added += added()
    for (const { slot, state } of writes) dryRun.states.set(nameOf(at(slot)), state)
    return true
  }
  const fit = (): boolean => writes.every(({ slot, state }) => at(slot).known.states.fits(rowOf(at(slot)), state))
  if (!room.makeRoom(now, added, fit)) return false
  for (const { slot, limit, state } of writes) {
    const { known, lo, hi } = at(slot)
    known.planId = known.states.write(rowOf(at(slot)), lo, hi, limit, state, known.planId, now)
  }
  return true
}
