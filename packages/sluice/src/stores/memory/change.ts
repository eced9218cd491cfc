import type { GroupResult } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import { type Change, type ChangeResult, StoreFailure } from '../store.ts'
import type { Room } from './room.ts'
import { isNew, keep, read, rowOf, type Slot, slotted } from './slots.ts'

type Adjust = Extract<Change, { readonly kind: 'adjust' }>

/** Makes changes in order. Neighbouring adjusts all find room, or none of them is made. */
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
    // Only a penalty adds a state, which must not begin fresh if a shared one replaced the key's own.
    const found = writes.get(slot) ?? { state: amount < 0 || !isNew(known) ? read(room, known, false, now) : undefined }
    const state = found.state === undefined ? undefined : algorithm.adopt(plan, found.state, now, phase)
    const adjusted = algorithm.adjust(plan, state, now, amount, phase, receipt)
    if (adjusted !== found.state) writes.set(slot, { slot, limit, state: adjusted })
  }
  const kept = [...writes.values()].filter(({ state }) => state !== undefined)
  if (!keep(room, slots, kept, now)) return { failure: room.full }
  for (const { slot, limit, state } of writes.values()) {
    const { table } = (slots[slot] as Slot).known.states
    const row = rowOf(slots[slot] as Slot)
    // It may end earlier than the state before it.
    if (state !== undefined) table.touched(limit.algorithm.expiresAt(limit.plan, state))
    else if (row !== -1) table.remove(row)
  }
  return {}
}

function applyOne(room: Room, change: Exclude<Change, Adjust>, now: Micros): ChangeResult {
  const { kind, id } = change
  if (kind === 'reset') room.forget(id)
  else if (kind === 'unblock') room.unblock(id)
  else if (kind !== 'block') return { failure: new StoreFailure('setup', 'no', `memory store: cannot make the change ${String(kind)}`) }
  else if (room.blockOf(id, now) === 0 && !room.makeRoom(now, () => 1)) return { failure: room.full }
  else room.block(id, now + change.micros, now)
  return {}
}
