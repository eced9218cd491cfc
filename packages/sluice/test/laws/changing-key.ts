import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { applyGroup } from './driver.ts'
import { MIDNIGHT } from './traces/trace.ts'

const S = 1_000_000

/** A key that is called under different limits in turn. As soon as its state is expired, it is dropped. */
export function keyOf(phase = 0) {
  let state: unknown
  let expiresAt = 0
  return {
    decide: (limit: AnyLimit, seconds: number, cost: number) => {
      const now = MIDNIGHT + Math.round(seconds * S)
      if (now >= expiresAt) state = undefined
      const result = applyGroup([state], [{ slot: 0, limit, cost, phase }], now)
      for (const write of result.writes) ({ state, expiresAt } = write)
      const [call] = result.calls
      return { outcome: result.outcome, remaining: call?.remaining, retry: (call?.retryAfter ?? 0) / S, written: result.writes.length }
    },
    get state() {
      return state
    },
  }
}
