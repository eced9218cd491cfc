import type { Micros } from '../../time/micros.ts'
import { type Change, type ChangeResult, StoreFailure } from '../store.ts'
import { makesRoom, type Room } from './room.ts'

type Adjust = Extract<Change, { readonly kind: 'adjust' }>

const MADE: ChangeResult = {}

/** Makes changes in order. Neighbouring adjusts all find room, or none of them is made. */
export function applyChanges(room: Room, changes: readonly Change[], now: Micros): ChangeResult[] {
  const results: ChangeResult[] = []
  while (results.length < changes.length) {
    const run = adjustsFrom(changes, results.length)
    if (run.length === 0) results.push(applyOne(room, changes[results.length] as Exclude<Change, Adjust>, now))
    else {
      const made = makesRoom(room, () => addedBy(room, run), 0, now)
      for (const change of run) {
        if (made) adjust(room, change, now)
        results.push(made ? MADE : { failure: room.full })
      }
    }
  }
  return results
}

function adjustsFrom(changes: readonly Change[], from: number): Adjust[] {
  const run: Adjust[] = []
  for (let change = changes[from]; change?.kind === 'adjust'; change = changes[from + run.length]) run.push(change)
  return run
}

/** How many states the adjusts add: only those that take tokens write a new state. */
function addedBy(room: Room, run: readonly Adjust[]): number {
  const added = run.filter(({ amount, call: { id, limit } }) => amount < 0 && room.isNew(id, limit))
  return new Set(added.map(({ call: { id } }) => `${id.scope.text} ${id.key}`)).size
}

function adjust(room: Room, { call: { id, limit, phase }, amount, receipt }: Adjust, now: Micros): void {
  const { states, lo, hi, step } = room.limits.find(id.scope, id.key, limit)
  const { algorithm, plan } = limit
  const row = states.find(lo, hi)
  // A penalty writes a state, which must not begin fresh if a shared state replaced the key's own.
  const trace = row === -1 && amount < 0 ? room.overflow.trace(id.scope.text, lo) : undefined
  const stored = row === -1 ? trace : states.read(row, step.next)
  const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
  const adjusted = algorithm.adjust(plan, state, now, amount, phase, receipt)
  if (adjusted === stored) return
  if (adjusted === undefined) {
    if (row !== -1) states.remove(row)
  } else if (row !== -1) states.replace(row, limit, adjusted)
  else {
    states.find(lo, hi)
    states.add(lo, hi, limit, adjusted, 0, now)
  }
}

function applyOne(room: Room, change: Exclude<Change, Adjust>, now: Micros): ChangeResult {
  const { kind, id } = change
  if (kind === 'reset') room.forget(id)
  else if (kind === 'unblock') room.lift(id)
  else if (kind !== 'block') return { failure: new StoreFailure('setup', 'no', `memory store: cannot make the change ${String(kind)}`) }
  else if (room.blockOf(id, now) === 0 && !room.makeRoom(1, now)) return { failure: room.full }
  else room.block(id, now + change.micros, now)
  return MADE
}
