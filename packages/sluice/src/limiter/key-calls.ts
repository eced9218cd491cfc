import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { validKey } from '../keys/encode.ts'
import type { CallGroup, Scope } from '../stores/store.ts'
import type { NamedLimit } from './decision-of.ts'
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

/** Makes the calls of a key, one for each limit, until it is closed. */
export type KeyCalls = ReturnType<typeof createKeyCalls>

/** @param where for messages */
export function createKeyCalls(where: string, limits: readonly ScopedLimit[]) {
  const phased = limits.some(({ limit }) => limit.phased)
  let closed = false
  const openCalls = (): OpenCall[] => limits.map(({ scope, limit }) => ({ id: { scope, key: '' }, limit, cost: 0, phase: 0 }))
  const fill = (calls: readonly OpenCall[], key: string, cost: number | undefined): void => {
    if (closed) throw new LimiterError('CLOSED', `${where} is closed`)
    const micro = cost === undefined ? MICRO : microCost(cost)
    validKey(where, key)
    for (const call of calls) {
      call.id.key = key
      call.cost = micro
      if (phased) call.phase = phaseOf(call.limit, key)
    }
  }
  const shared = { calls: openCalls() }
  return {
    /** The same group for all keys: for a decision that keeps no reference to it. */
    sharedOf(key: string, cost: number | undefined): CallGroup {
      fill(shared.calls, key, cost)
      return shared
    },
    groupOf(key: string, cost?: number): CallGroup {
      const calls = openCalls()
      fill(calls, key, cost)
      return { calls }
    },
    /** False if it was closed before. */
    close(): boolean {
      const isFirst = !closed
      closed = true
      return isFirst
    },
  }
}
