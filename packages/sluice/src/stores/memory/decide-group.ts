import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { applyGroup, type GroupCall, type GroupResult } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import { type Call, type Decided, type GroupVerdict, type StateId, verdictOf } from '../store.ts'
import type { KnownLimit } from './table/known-limits.ts'
import { noRoom, type OnFull } from './pressure.ts'
import { makesRoom, type Room } from './room.ts'

/** One state of the group, from the first call that names it. */
interface Slot {
  readonly known: KnownLimit
  readonly lo: number
  readonly hi: number
  readonly id: StateId
  readonly limit: AnyLimit
  readonly phase: number
}

/** The effects of a dry run: states by name, and how many of them are not in the store. */
export interface DryRun {
  readonly states: Map<string, unknown>
  added: number
}

/** From this many calls on, the states of a group are found by name. */
const MANY = 8

/**
 * Decides calls all or nothing with the reference driver.
 * @param dryRun states are read from it first, and written only to it
 */
export function decideGroup(room: Room, calls: readonly Call[], now: Micros, onFull: OnFull | undefined, dryRun?: DryRun): GroupVerdict {
  const slots: Slot[] = []
  const byName = calls.length < MANY ? undefined : new Map<string, number>()
  const groupCalls = calls.map((call) => slotted(room, call, slots, byName))
  const blocks = slots.map(({ id }) => room.blockOf(id, now))
  const traced = slots.map(
    ({ known, lo, hi, id }) => known.states.find(lo, hi) === -1 && room.overflow.trace(id.scope.text, lo) !== undefined,
  )
  const states = slots.map((slot) => dryRun?.states.get(nameOf(slot)) ?? read(room, slot))
  const result = applyGroup(states, groupCalls, now, blocks, dryRun !== undefined)
  const done = dryRun === undefined ? keep(room, slots, result, now) : tryOut(room, slots, result, now, dryRun)
  if (done) return decidedBy(result, now, room, overflowed(result, groupCalls, traced))
  const counted = slots.every(({ limit }) => limit.algorithm.cells !== 'log')
  return onFull === 'shared' && counted
    ? decideShared(room, slots, groupCalls, now, blocks, dryRun === undefined)
    : noRoom(room.full, onFull)
}

function slotted(room: Room, { id, limit, cost, phase }: Call, slots: Slot[], byName: Map<string, number> | undefined): GroupCall {
  const known = room.limits.find(id.scope, id.key, limit)
  const { lo, hi } = known
  const made = { known, lo, hi, id, limit, phase }
  const same = (one: Slot): boolean => one.lo === lo && one.hi === hi && one.known.tag === known.tag
  const found = byName === undefined ? slots.findIndex(same) : (byName.get(nameOf(made)) ?? -1)
  const slot = found === -1 ? slots.push(made) - 1 : found
  byName?.set(nameOf(made), slot)
  return { slot, limit, cost, phase }
}

function nameOf({ known, lo, hi }: Slot): string {
  return `${known.tag}:${lo}:${hi}`
}

function read(room: Room, { known: { states }, lo, hi, limit, id }: Slot): unknown {
  const row = states.find(lo, hi)
  return row === -1 ? room.overflow.trace(id.scope.text, lo) : states.read(row, limit.algorithm.step().next)
}

/** As `keep`, but for a dry run. */
function tryOut(room: Room, slots: readonly Slot[], { writes }: GroupResult, now: Micros, dryRun: DryRun): boolean {
  const added = (): number =>
    writes.filter(({ slot }) => {
      const { known, lo, hi } = slots[slot] as Slot
      return !dryRun.states.has(nameOf(slots[slot] as Slot)) && known.states.find(lo, hi) === -1
    }).length
  if (!makesRoom(room, added, dryRun.added, now)) return false
  dryRun.added += added()
  for (const { slot, state } of writes) dryRun.states.set(nameOf(slots[slot] as Slot), state)
  return true
}

/** Writes what a group changed. Returns false and writes nothing if there is no room for the states it adds. */
function keep(room: Room, slots: readonly Slot[], { writes }: GroupResult, now: Micros): boolean {
  const added = (): number =>
    writes.filter(({ slot }) => {
      const { known, lo, hi } = slots[slot] as Slot
      return known.states.find(lo, hi) === -1
    }).length
  if (!makesRoom(room, added, 0, now)) return false
  const fit = (): boolean =>
    writes.every(({ slot, state }) => {
      const { known, lo, hi } = slots[slot] as Slot
      return known.states.fits(known.states.find(lo, hi), state)
    })
  if (!fit()) {
    for (const { known } of slots) room.sweep(known.states, now)
    if (!fit()) return false
  }
  for (const { slot, limit, state } of writes) {
    const { known, lo, hi } = slots[slot] as Slot
    const { states } = known
    const row = states.find(lo, hi)
    known.unit = row === -1 ? states.add(lo, hi, limit, state, known.unit, now) : states.write(row, limit, state, known.unit)
  }
  return true
}

/** As `decideGroup`, with overflow states in place of those that there is no room for. */
function decideShared(
  room: Room,
  slots: readonly Slot[],
  groupCalls: readonly GroupCall[],
  now: Micros,
  blocks: readonly Micros[],
  charge: boolean,
): Decided {
  const shared = slots.map(({ known, lo, hi }) => known.states.find(lo, hi) === -1)
  const states = slots.map((slot, index) =>
    shared[index] === true ? room.overflow.read(slot.id.scope.text, slot.lo, slot.limit, now, slot.phase) : read(room, slot),
  )
  const result = applyGroup(states, groupCalls, now, blocks, !charge)
  if (charge) {
    for (const { slot, state } of result.writes.filter((write) => shared[write.slot] === true)) {
      const { id, lo } = slots[slot] as Slot
      room.overflow.write(id.scope.text, lo, state)
    }
    keep(room, slots, { ...result, writes: result.writes.filter((write) => shared[write.slot] === false) }, now)
  }
  return { ...decidedBy(result, now, room, overflowed(result, groupCalls, shared)), degraded: room.full }
}

/** Whether a shared state denied. */
function overflowed({ calls }: GroupResult, groupCalls: readonly GroupCall[], shared: readonly boolean[]): boolean {
  return calls.some(({ outcome }, index) => outcome === 'denied' && shared[(groupCalls[index] as GroupCall).slot] === true)
}

function decidedBy(result: GroupResult, now: Micros, room: Room, overflow: boolean): Decided {
  const verdict = verdictOf(result, now)
  return overflow ? { ...verdict, reason: 'overflow', degraded: room.full } : verdict
}
