import { expect, it } from 'vitest'
import { applyGroup } from '../../src/algorithms/group.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { TENS } from '../../src/testing/limits.ts'
import { seeded } from '../../src/testing/random.ts'
import { START } from './arbitraries.ts'

it.each(Object.values(TENS))(
  'a clock that steps back over the end of a state, which is gone by then, admits one capacity more at most ($algorithm.name)',
  (limit) => {
    const { algorithm, plan, capacity } = limit
    const random = seeded(3)
    let again = 0
    for (let made = 0; made < 300; made += 1) {
      const seen: TraceEntry[] = []
      let state: unknown
      let now = START + Math.floor(random() * 1_000_000)
      const take = (): void => {
        for (let tries = 0; tries < 12; tries += 1) {
          const { outcome, writes } = applyGroup([state], [{ slot: 0, limit, cost: 1_000_000, phase: 0 }], now)
          if (writes[0] !== undefined) ({ state } = writes[0])
          seen.push({ at: now, cost: 1, allowed: outcome === 'allowed' })
        }
      }
      take()
      const [first, end] = [now, algorithm.expiresAt(plan, state as never)]
      // The clock goes back to an instant before the end of the state. The state is still there, so nothing more is admitted than the limit
      // allows.
      now = first + Math.floor(random() * (end - first))
      take()
      expect(audit(seen, limit).overGrant).toBe(0)
      // The store drops the state at its end. Then the clock goes back to an instant at which the state was still needed.
      state = undefined
      now = first + Math.floor(random() * (end - first))
      take()
      expect(audit(seen, limit).overGrant).toBeLessThanOrEqual(capacity)
      again += seen.slice(24).filter(({ allowed }) => allowed).length
    }
    expect(again).toBe(300 * capacity)
  },
)
