import type { Algorithm, AnyLimit, CompiledLimit, Step, View } from '../../../src/algorithms/algorithm.ts'
import type { Micros } from '../../../src/time/micros.ts'

/** An algorithm for tests: `limit` tokens until nothing was charged for `idle` microseconds. Denied calls do not prolong the wait. */
interface Plan {
  readonly limit: number
  readonly idle: Micros
}

interface State {
  count: number
  /** The latest charge. */
  last: Micros
  idle: Micros
}

const MICRO = 1_000_000

function live(state: State | undefined, now: Micros): State | undefined {
  return state === undefined || now >= state.last + state.idle ? undefined : state
}

function viewOf({ limit }: Plan, state: State | undefined, now: Micros): View {
  if (state === undefined) return { remaining: Math.floor(limit / MICRO), replenishAfter: 0, resetAfter: 0 }
  const wait = state.last + state.idle - now
  return { remaining: Math.max(0, Math.floor((limit - state.count) / MICRO)), replenishAfter: wait, resetAfter: wait }
}

const idleWindow: Algorithm<Plan, State> = {
  name: 'idle-window' as never,
  tag: 'iw' as never,
  step: () => ({
    outcome: 'allowed',
    retryAfter: 0,
    remaining: 0,
    replenishAfter: 0,
    resetAfter: 0,
    state: undefined,
    next: { count: 0, last: 0, idle: 0 },
  }),
  decide(plan, stored, now, cost, _phase, into): Step<State> {
    const state = live(stored, now)
    const count = (state?.count ?? 0) + cost
    const step = into ?? this.step()
    step.outcome = cost > plan.limit ? 'impossible' : count > plan.limit ? 'denied' : 'allowed'
    if (step.outcome === 'allowed') step.state = Object.assign(step.next, { count, last: Math.max(now, state?.last ?? 0), idle: plan.idle })
    else step.state = stored
    step.retryAfter = step.outcome === 'denied' ? (state as State).last + (state as State).idle - now : 0
    return Object.assign(step, viewOf(plan, live(step.state, now), now))
  },
  adopt(plan, stored, now) {
    const state = live(stored, now)
    return state === undefined || state.idle === plan.idle ? state : { ...state, idle: plan.idle }
  },
  adjust(plan, stored, now, amount) {
    const state = live(stored, now)
    const before = state?.count ?? 0
    const count = Math.min(Math.max(2 * plan.limit, before), Math.max(0, before - amount))
    if (count === before) return stored
    return count === 0 ? undefined : { count, last: state?.last ?? now, idle: plan.idle }
  },
  view: (plan, state, now) => viewOf(plan, live(state, now), now),
  expiresAt: (_, { last, idle }) => last + idle,
  envelope: ({ limit, idle }) => ({ n: limit, m: idle, burst: limit }),
  codec: {
    encodePlan: ({ limit, idle }) => [limit, idle],
    encodeState: ({ count, last, idle }) => [count, last, idle],
    decodeState: ([count = 0, last = 0, idle = 0]) => ({ count, last, idle }),
  },
  cells: {
    width: 2,
    save: ({ count, last }, cells, at) => void ([cells[at], cells[at + 1]] = [count, last]),
    load({ idle }, cells, at, into) {
      Object.assign(into, { count: cells[at], last: cells[at + 1], idle })
    },
    samePlan: (one, other) => one.idle === other.idle,
    planNumbers: ({ idle }) => [idle],
  },
}

/** @param idle seconds */
export function idleLimit(tokens: number, idle: number): AnyLimit {
  const plan = { limit: tokens * MICRO, idle: idle * MICRO }
  return { algorithm: idleWindow, plan, capacity: tokens, windowMs: idle * 1_000, phased: false } satisfies CompiledLimit<Plan, State>
}
