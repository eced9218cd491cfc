import { applyGroup } from '../algorithms/group.ts'
import { stateName } from '../keys/encode.ts'
import type { CallGroup, GroupVerdict, StateId } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'

/** The reference driver over a plain map, in which nothing ever expires: what every store must equal. */
export class Reference {
  readonly states: Map<string, ReferenceState>

  constructor(states: ReadonlyMap<string, ReferenceState> = new Map()) {
    this.states = new Map(states)
  }

  decide({ calls }: CallGroup, now: Micros): Pick<GroupVerdict, 'outcome' | 'allowed' | 'at' | 'calls'> {
    const names = [...new Set(calls.map(({ id }) => stateName(id)))]
    const asked = calls.map(({ id, limit, cost, phase }) => ({ slot: names.indexOf(stateName(id)), limit, cost, phase }))
    const result = applyGroup(
      names.map((name) => this.states.get(name)?.state),
      asked,
      now,
    )
    for (const { slot, limit, state } of result.writes) {
      const call = calls[asked.findIndex((one) => one.slot === slot)]
      if (call !== undefined)
        this.states.set(names[slot] as string, { id: call.id, state, numbers: limit.algorithm.codec.encodeState(state) })
    }
    return { outcome: result.outcome, allowed: result.outcome === 'allowed', at: now, calls: result.calls }
  }
}

export interface ReferenceState {
  readonly id: StateId
  readonly state: unknown
  /** The codec's. */
  readonly numbers: readonly number[]
}
