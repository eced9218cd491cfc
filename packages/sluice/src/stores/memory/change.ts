import { HOLD_RECORDS } from '../../algorithms/hold-record.ts'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { GroupResult } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import { changeHold } from '../hold-change.ts'
import {
  type Change,
  type ChangeResult,
  givenBack,
  type HoldChange,
  isOfHold,
  type StateId,
  type StateProgram,
  StoreFailure,
} from '../store.ts'
import type { Room } from './room.ts'
import { isNew, keep, read, rowOf, type Slot, slotted } from './slots.ts'

type Adjust = Extract<Change, { readonly kind: 'adjust' }>
type Back = Extract<Change, { readonly kind: 'leave' | 'release' }>

/** Makes changes in order. Successive `adjust` changes are made together, or none of them if the store has no room. */
export function applyChanges(room: Room, changes: readonly Change[], now: Micros): ChangeResult[] {
  const results: ChangeResult[] = []
  while (results.length < changes.length) {
    const from = results.length
    const run: Adjust[] = []
    for (let next = changes[from]; next?.kind === 'adjust'; next = changes[from + run.length]) run.push(next)
    if (run.length === 0) results.push(applyOne(room, changes[from] as Exclude<Change, Adjust>, now))
    else {
      const result = adjustAll(room, run, now)
      results.push(...run.map(() => result))
    }
  }
  return results
}

function adjustAll(room: Room, run: readonly Adjust[], now: Micros): ChangeResult {
  const slots: Slot[] = []
  const writes = new Map<number, GroupResult['writes'][number]>()
  for (const { call, amount, receipt } of run) {
    const { slot, limit, phase } = slotted(room, call, slots)
    const { algorithm, plan } = limit
    const known = slots[slot] as Slot
    // Only a penalty creates a state. It begins as a copy of the overflow state, which the key may have charged while the store was full.
    const found = writes.get(slot) ?? { state: amount < 0 || !isNew(known) ? read(room, known, false, now) : undefined }
    const state = found.state === undefined ? undefined : algorithm.adopt(plan, found.state, now, phase)
    const adjusted = algorithm.adjust(plan, state, now, amount, phase, receipt)
    if (adjusted !== found.state) writes.set(slot, { slot, limit, state: adjusted })
  }
  return written(room, slots, [...writes.values()], now)
}

function giveBack(room: Room, change: Back, now: Micros): ChangeResult {
  const slots: Slot[] = []
  const { slot, limit } = slotted(room, change.call, slots)
  const state = read(room, slots[slot] as Slot, false, now)
  const left = givenBack(change, limit, state, now)
  return left === state ? {} : written(room, slots, [{ slot, limit, state: left }], now)
}

function ofHold(room: Room, change: HoldChange, now: Micros): ChangeResult {
  const slots: Slot[] = []
  const places = change.calls.map((call) => slotted(room, call, slots).slot)
  const limits = change.calls.map(({ limit }) => limit)
  const record = slotted(room, { id: change.id, limit: HOLD_RECORDS, cost: 0, phase: 0 }, slots).slot
  const states = [record, ...places].map((slot) => read(room, slots[slot] as Slot, false, now))
  const { report, writes } = changeHold(
    change,
    limits,
    states,
    places.map((slot) => places.indexOf(slot)),
    now,
  )
  const placed = writes.map(({ index, limit, state }) => ({ slot: index === 0 ? record : (places[index - 1] as number), limit, state }))
  const { failure } = written(room, slots, placed, now)
  return failure === undefined ? { hold: report } : { failure }
}

/** Returns false, with nothing changed, if there is no room. */
export function rewriteOne(room: Room, id: StateId, algorithm: AnyLimit['algorithm'], now: Micros, program: StateProgram): boolean {
  const slots: Slot[] = []
  const { slot } = slotted(room, { id, limit: { algorithm } as AnyLimit, cost: 0, phase: 0 }, slots)
  const made = program(read(room, slots[slot] as Slot, false, now), now)
  return made === undefined || written(room, slots, [{ slot, ...made }], now).failure === undefined
}

/** Removes states that equal the initial state. Changes nothing if there is no room. */
function written(room: Room, slots: readonly Slot[], writes: GroupResult['writes'], now: Micros): ChangeResult {
  const kept = writes.filter(({ state }) => state !== undefined)
  if (!keep(room, slots, kept, now)) return { failure: room.full }
  for (const { slot, limit, state } of writes) {
    const { table } = (slots[slot] as Slot).known.states
    const row = rowOf(slots[slot] as Slot)
    // The table must know if the new state expires earlier, or it would search for expired rows too late.
    if (state !== undefined) table.touched(limit.algorithm.expiresAt(limit.plan, state))
    else if (row !== -1) table.remove(row)
  }
  return {}
}

function applyOne(room: Room, change: Exclude<Change, Adjust>, now: Micros): ChangeResult {
  if (change.kind === 'leave' || change.kind === 'release') return giveBack(room, change, now)
  if (isOfHold(change)) return ofHold(room, change, now)
  const { kind, id } = change
  if (kind === 'reset') room.forget(id)
  else if (kind === 'unblock') room.unblock(id)
  else if (kind !== 'block') return { failure: new StoreFailure('setup', 'no', `memory store: cannot make the change ${String(kind)}`) }
  else if (room.blockOf(id, now) === 0 && !room.makeRoom(now, () => 1)) return { failure: room.full }
  else room.block(id, now + change.micros, now)
  return {}
}
