import type { Micros } from '../../time/micros.ts'
import type { Call, Decided } from '../store.ts'
import type { Room } from './room.ts'

/**
 * Decides one call of a key that is not blocked, as `applyGroup` does for a group of one, but allocates only the verdict. Undefined if
 * there is no room for a new state, or if the state does not begin fresh; nothing has changed then.
 */
export function decideOne(room: Room, { id, limit, cost, phase }: Call, now: Micros): Decided | undefined {
  const known = room.limits.find(id.scope, id.key, limit)
  const { states, step } = known
  const { algorithm, plan } = limit
  const row = states.find(known.lo, known.hi)
  if (row === -1 && room.overflow.trace(id.scope.text, known.lo) !== undefined) return undefined
  const stored = row === -1 ? undefined : states.read(row, known.state)
  const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
  algorithm.decide(plan, state, now, cost, phase, step)
  if (step.state !== undefined && step.state !== stored) {
    if (states.bounded && !states.fits(row, step.state)) return undefined
    if (row !== -1) known.unit = states.write(row, limit, step.state, known.unit)
    else if (room.makeRoom(1, now)) known.unit = states.add(known.lo, known.hi, limit, step.state, known.unit, now)
    else return undefined
  }
  // The step is filled again by the next call, and the verdict is the caller's to keep.
  const { outcome, retryAfter, remaining, replenishAfter, resetAfter } = step
  const call = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
  return { outcome, at: now, retryAfter: outcome === 'denied' ? retryAfter : undefined, calls: [call] }
}
