import type { Micros } from '../../time/micros.ts'
import { type Change, type ChangeResult, StoreFailure } from '../store.ts'
import type { Room } from './room.ts'

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
  const isNew = ({ call: { id, limit }, amount }: Adjust): boolean => {
    const { states, lo, hi } = room.find(id.scope, id.key, limit)
    // Only an adjust that takes tokens writes a new state.
    return amount < 0 && states.table.find(lo, hi) === -1
  }
  const added = (): number => new Set(run.filter(isNew).map(({ call: { id } }) => `${id.scope.text} ${id.key}`)).size
  if (!room.makeRoom(now, added)) return { failure: room.full }
  for (const change of run) adjust(room, change, now)
  return {}
}

function adjust(room: Room, { call: { id, limit, phase }, amount, receipt }: Adjust, now: Micros): void {
  const known = room.find(id.scope, id.key, limit)
  const { states, lo, hi, step } = known
  const { algorithm, plan } = limit
  const row = states.table.find(lo, hi)
  // A penalty writes a state, which must not begin fresh if a shared state replaced the key's own.
  const trace = row === -1 && amount < 0 ? room.overflow.trace(id.scope.text, lo) : undefined
  const stored = row === -1 ? trace : states.read(row, step.next)
  const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
  const adjusted = algorithm.adjust(plan, state, now, amount, phase, receipt)
  if (adjusted === stored) return
  if (adjusted === undefined) {
    if (row !== -1) states.table.remove(row)
    return
  }
  known.planId = states.write(row, lo, hi, limit, adjusted, known.planId, now)
  // It may end earlier than the state before it.
  states.table.touched(algorithm.expiresAt(plan, adjusted))
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
