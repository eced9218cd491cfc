import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { validKey } from '../keys/encode.ts'
import type { Call, CallGroup, Scope } from '../stores/store.ts'
import type { NamedLimit } from './decision-of.ts'
import { type NewHolder, takesSlots } from './holders.ts'
import { phaseOf } from './phase.ts'

export interface ScopedLimit extends NamedLimit {
  readonly scope: Scope
}

/** A call object that is filled in again for each check. */
interface OpenCall {
  readonly id: { readonly scope: Scope; key: string }
  readonly limit: AnyLimit
  cost: MicroTokens
  phase: number
}

/** Makes the calls of a key, one for each limit. After `close` it throws CLOSED instead. */
export interface KeyCalls {
  /**
   * Fills in the same call objects each time, so nothing may keep a reference to them. The group has a new holder id if a limit has slots.
   */
  sharedOf(key: string, cost: number | undefined): CallGroup
  groupOf(key: string, cost?: number): CallGroup
  /** As `groupOf`, with a new holder id if a limit has slots. Used for charges. */
  heldOf(key: string, cost?: number): CallGroup
  /** The calls of a settlement. @param used their cost in micro-tokens, which may be 0 */
  settledOf(key: string, used: MicroTokens): readonly Call[]
  isClosed(): boolean
  /** Returns false if this was closed before. */
  close(): boolean
}

/**
 * @param where names the limiter in error messages
 * @param newHolder makes the id under which a group takes slots
 * @param parent if the parent is closed, these calls count as closed too
 */
export function createKeyCalls(where: string, limits: readonly ScopedLimit[], newHolder: NewHolder, parent?: KeyCalls): KeyCalls {
  const phased = limits.some(({ limit }) => limit.phased)
  const slots = limits.some(({ limit }) => takesSlots(limit))
  let closed = false
  const isClosed = (): boolean => closed || parent?.isClosed() === true
  const openCall = ({ scope, limit }: ScopedLimit): OpenCall => ({ id: { scope, key: '' }, limit, cost: 0, phase: 0 })
  const openCalls = (): OpenCall[] => limits.map(openCall)
  const fill = (calls: readonly OpenCall[], key: string, cost: number | undefined, used?: MicroTokens): void => {
    if (isClosed()) throw new LimiterError('CLOSED', `${where} is closed`)
    const micro = used ?? (cost === undefined ? MICRO : microCost(cost))
    validKey(where, key)
    for (const call of calls) {
      call.id.key = key
      call.cost = micro
      if (phased) call.phase = phaseOf(call.limit, key)
    }
  }
  const held = (group: CallGroup): CallGroup => (slots ? { ...group, options: { hold: { id: newHolder() } } } : group)
  const shared = { calls: openCalls() }
  const groupOf = (key: string, cost?: number): CallGroup => {
    const calls = openCalls()
    fill(calls, key, cost)
    return { calls }
  }
  return {
    sharedOf(key, cost) {
      fill(shared.calls, key, cost)
      return held(shared)
    },
    groupOf,
    heldOf: (key, cost) => held(groupOf(key, cost)),
    settledOf(key, used) {
      const calls = openCalls()
      fill(calls, key, undefined, used)
      return calls
    },
    isClosed,
    close() {
      const isFirst = !closed
      closed = true
      return isFirst
    },
  }
}
