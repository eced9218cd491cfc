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

/** Filled in again for each check. */
interface OpenCall {
  readonly id: { readonly scope: Scope; key: string }
  readonly limit: AnyLimit
  cost: MicroTokens
  phase: number
}

/** Makes one call for each limit of a key. Throws CLOSED after `close`. */
export interface KeyCalls {
  /** Reuses the same call objects, so nothing may keep a reference to them. The group has a new holder id if a limit has slots. */
  sharedOf(key: string, cost: number | undefined): CallGroup
  groupOf(key: string, cost?: number): CallGroup
  /** As `groupOf`, with a new holder id for slots. */
  heldOf(key: string, cost?: number): CallGroup
  /** @param used micro-tokens; may be 0 */
  settledOf(key: string, used: MicroTokens): readonly Call[]
  isClosed(): boolean
  close(): boolean
}

/** @param parent if it is closed, these calls count as closed too */
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
