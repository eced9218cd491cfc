import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { microCost } from '../../src/algorithms/decimal.ts'
import { applyGroup as driver, type GroupResult } from '../../src/algorithms/group.ts'

interface DriverCall {
  readonly slot: number
  readonly limit: AnyLimit
  /** Tokens. */
  readonly cost: number
  readonly phase?: number
}

/**
 * Decides a group by the reference driver (algorithms/group.ts), with costs in tokens. Also returns, for each state that it writes, the
 * instant from which the state may be dropped.
 */
export function applyGroup(states: readonly unknown[], calls: readonly DriverCall[], now: number) {
  const exact = calls.map((call) => ({ phase: 0, ...call, cost: microCost(call.cost) }))
  const result: GroupResult = driver(states, exact, now)
  const writes = result.writes.map((write) => ({
    ...write,
    expiresAt: write.limit.algorithm.expiresAt(write.limit.plan, write.state) as number,
  }))
  return { ...result, writes }
}
