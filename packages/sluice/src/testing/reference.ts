import { applyGroup } from '../algorithms/group.ts'
import type { CallGroup, GroupVerdict } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'

/** The reference driver over a plain map, in which nothing ever expires: what every store must equal. */
export class Reference {
  readonly states: Map<string, unknown>

  constructor(states: ReadonlyMap<string, unknown> = new Map()) {
    this.states = new Map(states)
  }

  decide({ calls }: CallGroup, now: Micros): Pick<GroupVerdict, 'outcome' | 'allowed' | 'at' | 'calls'> {
    const ids = [...new Set(calls.map(({ id }) => id.scope + id.key))]
    const asked = calls.map(({ id, limit, cost }) => ({ slot: ids.indexOf(id.scope + id.key), limit, cost }))
    const result = applyGroup(
      ids.map((id) => this.states.get(id)),
      asked,
      now,
    )
    for (const { slot, state } of result.writes) this.states.set(ids[slot] as string, state)
    return { outcome: result.outcome, allowed: result.outcome === 'allowed', at: now, calls: result.calls }
  }
}
