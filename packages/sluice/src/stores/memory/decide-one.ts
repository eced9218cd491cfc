import type { Micros } from '../../time/micros.ts'
import type { Call, GroupVerdict } from '../store.ts'
import type { Room } from './room.ts'

/**
 * Decides one call of a key that is not blocked, as `applyGroup` does for a group of one, but without allocating lasting objects: the
 * verdict is valid until the next call. Undefined if there is no room for a new state, or if the state does not begin fresh; nothing has
 * changed then.
 */
export function decideOne(room: Room, { id, limit, cost, phase }: Call, now: Micros): GroupVerdict | undefined {
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
  const { verdict } = known
  verdict.outcome = step.outcome
  verdict.allowed = step.outcome === 'allowed'
  verdict.at = now
  verdict.retryAfter = step.outcome === 'denied' ? step.retryAfter : undefined
  return verdict
}
