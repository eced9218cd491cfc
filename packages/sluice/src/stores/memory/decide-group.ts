import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { applyGroup, type GroupCall, type GroupResult } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, GroupVerdict, StateId } from '../store.ts'
import { verdictOf } from '../verdict-of.ts'
import type { KnownLimit } from './known-limits.ts'
import { noRoom, type OnFull } from './pressure.ts'
import type { Room } from './room.ts'

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
export interface Thought {
  readonly states: Map<string, unknown>
  added: number
}

/** From this many calls on, the states of a group are found by name. */
const MANY = 8

/**
 * Decides calls all or nothing with the reference driver.
 * @param thought set for a dry run: states are read from it first, and written only to it
 */
export function decideGroup(room: Room, calls: readonly Call[], now: Micros, onFull: OnFull | undefined, thought?: Thought): GroupVerdict {
  const slots: Slot[] = []
  const places = calls.length < MANY ? undefined : new Map<string, number>()
  const asked = calls.map((call) => ask(room, call, slots, places))
  const blocks = slots.map(({ id }) => room.blockOf(id, now))
  const traced = slots.map(
    ({ known, lo, hi, id }) => known.states.find(lo, hi) === -1 && room.overflow.trace(id.scope.text, lo) !== undefined,
  )
  const states = slots.map((slot) => thought?.states.get(nameOf(slot)) ?? read(room, slot))
  const result = applyGroup(states, asked, now, blocks, thought !== undefined)
  const done = thought === undefined ? keep(room, slots, result, now) : think(room, slots, result, now, thought)
  if (done) return answerOf(result, now, room, overflowed(result, asked, traced))
  const counted = slots.every(({ limit }) => limit.algorithm.cells !== 'log')
  return onFull === 'shared' && counted ? decideShared(room, slots, asked, now, blocks, thought === undefined) : noRoom(room.full, onFull)
}

function ask(room: Room, { id, limit, cost, phase }: Call, slots: Slot[], places: Map<string, number> | undefined): GroupCall {
  const known = room.limits.find(id.scope, id.key, limit)
  const { lo, hi } = known
  const made = { known, lo, hi, id, limit, phase }
  const same = (one: Slot): boolean => one.lo === lo && one.hi === hi && one.known.tag === known.tag
  const found = places === undefined ? slots.findIndex(same) : (places.get(nameOf(made)) ?? -1)
  const slot = found === -1 ? slots.push(made) - 1 : found
  places?.set(nameOf(made), slot)
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
function think(room: Room, slots: readonly Slot[], { writes }: GroupResult, now: Micros, thought: Thought): boolean {
  const added = (): number =>
    writes.filter(({ slot }) => {
      const { known, lo, hi } = slots[slot] as Slot
      return !thought.states.has(nameOf(slots[slot] as Slot)) && known.states.find(lo, hi) === -1
    }).length
  if (!makesRoom(room, added, thought.added, now)) return false
  thought.added += added()
  for (const { slot, state } of writes) thought.states.set(nameOf(slots[slot] as Slot), state)
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

/**
 * Makes room for the states that a group adds. It counts them again afterwards, because an expired state of this group may have been
 * dropped.
 */
function makesRoom(room: Room, added: () => number, besides: number, now: Micros): boolean {
  for (let needed = added(); needed > 0;) {
    if (!room.makeRoom(besides + needed, now)) return false
    const after = added()
    if (after === needed) return true
    needed = after
  }
  return true
}

/** As `decideGroup`, with overflow states in place of those that there is no room for. */
function decideShared(
  room: Room,
  slots: readonly Slot[],
  asked: readonly GroupCall[],
  now: Micros,
  blocks: readonly Micros[],
  charge: boolean,
): GroupVerdict {
  const shared = slots.map(({ known, lo, hi }) => known.states.find(lo, hi) === -1)
  const states = slots.map((slot, index) =>
    shared[index] === true ? room.overflow.read(slot.id.scope.text, slot.lo, slot.limit, now, slot.phase) : read(room, slot),
  )
  const result = applyGroup(states, asked, now, blocks, !charge)
  if (charge) {
    for (const { slot, state } of result.writes.filter((write) => shared[write.slot] === true)) {
      const { id, lo } = slots[slot] as Slot
      room.overflow.write(id.scope.text, lo, state)
    }
    keep(room, slots, { ...result, writes: result.writes.filter((write) => shared[write.slot] === false) }, now)
  }
  return { ...answerOf(result, now, room, overflowed(result, asked, shared)), degraded: room.full }
}

/** Whether a shared state denied. */
function overflowed({ calls }: GroupResult, asked: readonly GroupCall[], shared: readonly boolean[]): boolean {
  return calls.some(({ outcome }, index) => outcome === 'denied' && shared[(asked[index] as GroupCall).slot] === true)
}

function answerOf(result: GroupResult, now: Micros, room: Room, overflow: boolean): GroupVerdict {
  const verdict = verdictOf(result, now)
  return overflow ? { ...verdict, reason: 'overflow', degraded: room.full } : verdict
}
