import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { GroupCall, GroupResult } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, StateId } from '../store.ts'
import type { KnownLimit, Room } from './room.ts'

/** The effects of a dry run: the states that it wrote, by name, and how many of them are not in the store. */
export interface DryRun {
  readonly states: Map<string, unknown>
  added: number
  /**
   * The time at which expired states are dropped to make room. A peek at a later time must not drop states that are needed at the present
   * time.
   */
  readonly dropAt: Micros
}

/** One state of a group, with the id, limit and phase of the group's first call of this state. */
export interface Slot {
  readonly known: KnownLimit
  readonly lo: number
  readonly hi: number
  readonly id: StateId
  readonly limit: AnyLimit
  readonly phase: number
}

/** Returns the call with the index of its slot. The first call of a state adds a slot to `slots`. */
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
 * Reads the state of a slot. A key without a row has no state, or begins with a copy of its overflow state if that was ever used.
 * @param share whether a key without a row gets its overflow state even if that was never used
 */
export function read(room: Room, slot: Slot, share: boolean, now: Micros): unknown {
  const { known, lo, limit, id, phase } = slot
  const row = rowOf(slot)
  if (row !== -1) return known.states.read(row, limit.algorithm.step().next)
  return share ? room.overflow.read(id.scope.text, lo, limit, now, phase) : room.overflow.trace(id.scope.text, lo)
}

type Writes = GroupResult['writes']

/** Writes the states that a group changed. Returns false, with nothing written, if there is no room for the states that it adds. */
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
