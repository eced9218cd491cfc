import { applyGroup } from '../../../src/algorithms/group.ts'
import { grantLease, type LeasedState, leasing, resetLeased } from '../../../src/algorithms/leased-bucket.ts'
import { stateName } from '../../../src/keys/encode.ts'
import { callsOf } from '../../../src/stores/group-options.ts'
import { createRemoteCalls } from '../../../src/stores/remote-calls.ts'
import {
  type Call,
  type CallGroup,
  type CallOptions,
  type Change,
  type Decided,
  type LeaseAnswer,
  type LeaseRequest,
  type Store,
  verdictOf,
} from '../../../src/stores/store.ts'
import type { Time } from '../../../src/time/time.ts'

export interface LeasingStore extends Store {
  readonly lease: NonNullable<Store['lease']>
  /** As stored, leases included. */
  stateOf(id: Call['id']): unknown
  /** How often `decide` was called, not counting peeks, and how often `lease`. A call with several groups counts once. */
  readonly asked: { decide: number; lease: number }
}

/**
 * A store that leases tokens to several holders. It uses the pure functions that programs on servers must match. It answers in a later
 * microtask, which is the fastest that a server could be.
 */
export function leasingStore(clock: Time): LeasingStore {
  const states = new Map<string, unknown>()
  const blocks = new Map<string, number>()
  const asked = { decide: 0, lease: 0 }
  const calls = createRemoteCalls('leasing', clock, { maxInFlight: 10_000 })
  const answering = <T>(options: CallOptions | undefined, answer: (now: number) => T): Promise<T> =>
    calls.run(
      async () => answer(options?.now ?? clock.now()),
      options,
      (error) => {
        throw error
      },
    )
  const write = (id: Call['id'], state: unknown): void => {
    if (state === undefined) states.delete(stateName(id))
    else states.set(stateName(id), state)
  }
  const decide = (group: CallGroup, now: number, look: boolean): Decided => {
    const own = callsOf(group)
    const names = [...new Set(own.map(({ id }) => stateName(id)))]
    const result = applyGroup(
      names.map((name) => states.get(name)),
      own.map(({ id, limit, cost, phase }) => ({ slot: names.indexOf(stateName(id)), limit: leasing(limit), cost, phase })),
      now,
      names.map((name) => blocks.get(name) ?? 0),
      look,
    )
    for (const { slot, state } of result.writes) states.set(names[slot] as string, state)
    return verdictOf(result, now)
  }
  const adopted = ({ id, limit, phase }: Call, now: number): unknown => {
    const state = states.get(stateName(id))
    const { algorithm, plan } = leasing(limit)
    return state === undefined ? undefined : algorithm.adopt(plan, state, now, phase)
  }
  const grant = (request: LeaseRequest, now: number): LeaseAnswer => {
    const { call, ...ask } = request
    const wait = (blocks.get(stateName(call.id)) ?? 0) - now
    const want = wait > 0 ? 0 : ask.want
    const { granted, state, ...seen } = grantLease(call.limit.plan, adopted(call, now) as LeasedState | undefined, now, {
      ...ask,
      want,
      cost: call.cost,
    })
    write(call.id, state)
    const { outcome, retryAfter, remaining, replenishAfter, resetAfter } = seen
    const verdict = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
    if (wait <= 0) return { granted, at: now, verdict }
    return { granted, at: now, verdict: { ...verdict, outcome: 'denied', retryAfter: Math.max(wait, retryAfter), blockedFor: wait } }
  }
  const change = (one: Change, now: number): void => {
    if (one.kind === 'adjust') {
      const { call, amount, receipt } = one
      const { algorithm, plan } = leasing(call.limit)
      write(call.id, algorithm.adjust(plan, adopted(call, now), now, amount, call.phase, receipt))
    } else if (one.kind === 'block') blocks.set(stateName(one.id), now + one.micros)
    else if (one.kind === 'unblock') blocks.delete(stateName(one.id))
    else if (one.kind === 'reset') {
      const state = states.get(stateName(one.id)) as LeasedState | undefined
      write(one.id, state?.leases === undefined ? undefined : resetLeased(state, now))
    }
  }
  return {
    name: 'leasing',
    capabilities: { clock: 'server', atomicBatch: 'any', changes: ['adjust', 'block', 'unblock', 'reset'], sync: false },
    asked,
    stateOf: (id) => states.get(stateName(id)),
    decide(groups, options) {
      if (options?.charge !== false) {
        asked.decide += 1
        return answering(options, (now) => groups.map((group) => decide(group, now, false)))
      }
      return answering(options, (now) => {
        const before = new Map(states)
        const verdicts = groups.map((group) => decide(group, now, true))
        states.clear()
        for (const [name, state] of before) states.set(name, state)
        return verdicts
      })
    },
    lease(requests, options) {
      asked.lease += 1
      return answering(options, (now) => requests.map((request) => grant(request, now)))
    },
    async change(changes, options) {
      return changes.map((one) => {
        change(one, options?.now ?? clock.now())
        return {}
      })
    },
    ready: async () => {},
    close: async () => {},
  }
}
