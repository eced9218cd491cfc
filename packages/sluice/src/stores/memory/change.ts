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

/**
 * Makes changes in order. Refunds and penalties (`adjust`) that follow each other in the list are made together. If the store has no room
 * for the state of one of them, none is made.
 */
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
    // If a key has no state, only a penalty (`amount` below 0) creates one. While the store was full, calls of the key may have been
    // charged to an overflow state, which many keys share. Then the key's own state begins as a copy of the overflow state, not fresh.
    const found = writes.get(slot) ?? { state: amount < 0 || !isNew(known) ? read(room, known, false, now) : undefined }
    const state = found.state === undefined ? undefined : algorithm.adopt(plan, found.state, now, phase)
    const adjusted = algorithm.adjust(plan, state, now, amount, phase, receipt)
    if (adjusted !== found.state) writes.set(slot, { slot, limit, state: adjusted })
  }
  return written(room, slots, [...writes.values()], now)
}

/**
 * Gives back what one call was charged before its tokens were there (`leave`), or the slots of one holder of a concurrency limit
 * (`release`).
 */
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

/**
 * Replaces one state by the state that `program` computes from it, synchronously. Returns false, with nothing changed, if the store has no
 * room for the new state.
 * @param program returns the new state, and a limit with the numbers (`plan`) by which the new state counts; undefined for no change
 */
export function rewriteOne(room: Room, id: StateId, algorithm: AnyLimit['algorithm'], now: Micros, program: StateProgram): boolean {
  const slots: Slot[] = []
  const { slot } = slotted(room, { id, limit: { algorithm } as AnyLimit, cost: 0, phase: 0 }, slots)
  const made = program(read(room, slots[slot] as Slot, false, now), now)
  return made === undefined || written(room, slots, [{ slot, ...made }], now).failure === undefined
}

/**
 * Writes changed states, and removes those that equal the initial state. Returns a failure, with nothing changed, if the store has no room.
 */
function written(room: Room, slots: readonly Slot[], writes: GroupResult['writes'], now: Micros): ChangeResult {
  const kept = writes.filter(({ state }) => state !== undefined)
  if (!keep(room, slots, kept, now)) return { failure: room.full }
  for (const { slot, limit, state } of writes) {
    const { table } = (slots[slot] as Slot).known.states
    const row = rowOf(slots[slot] as Slot)
    // The new state may expire earlier than the old one. So the table must know when, or it would search for expired rows too late.
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
