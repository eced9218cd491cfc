import { applyGroup } from '../../../src/algorithms/group.ts'
import { grantLease, type LeasedState, leasing, resetLeased } from '../../../src/algorithms/leased-bucket.ts'
import { stateName } from '../../../src/keys/encode.ts'
import { createRemoteCalls } from '../../../src/stores/remote-calls.ts'
import type { Call, CallGroup, CallOptions, GroupVerdict, LeaseAnswer, LeaseRequest, Store } from '../../../src/stores/store.ts'
import { verdictOf } from '../../../src/stores/verdict-of.ts'
import type { Time } from '../../../src/time/time.ts'

export interface LeasingStore extends Store {
  readonly lease: NonNullable<Store['lease']>
  readonly adjust: NonNullable<Store['adjust']>
  readonly block: NonNullable<Store['block']>
  /** As stored, leases included. */
  stateOf(id: Call['id']): unknown
  /** Calls of consume and lease so far, in store calls and not in groups. */
  readonly asked: { consume: number; lease: number }
}

/**
 * A store for several holders, straight from the pure functions: what a program must replay. It answers in a later microtask, as a
 * server would at best.
 */
export function leasingStore(clock: Time): LeasingStore {
  const states = new Map<string, unknown>()
  const blocks = new Map<string, number>()
  const asked = { consume: 0, lease: 0 }
  const timeOf = (options?: CallOptions): number => options?.now ?? clock.now()
  const calls = createRemoteCalls('leasing', clock, { maxInFlight: 10_000 })
  const answering = <T>(options: CallOptions | undefined, answer: (now: number) => T): Promise<T> =>
    calls.run(
      async () => answer(timeOf(options)),
      options,
      (error) => {
        throw error
      },
    )
  const write = (id: Call['id'], state: unknown): void => {
    if (state === undefined) states.delete(stateName(id))
    else states.set(stateName(id), state)
  }
  const decide = ({ calls: asking }: CallGroup, now: number, look = false): GroupVerdict => {
    const names = [...new Set(asking.map(({ id }) => stateName(id)))]
    const result = applyGroup(
      names.map((name) => states.get(name)),
      asking.map(({ id, limit, cost, phase }) => ({ slot: names.indexOf(stateName(id)), limit: leasing(limit), cost, phase })),
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
    return { granted, at: now, verdict: { ...verdict, outcome: 'denied', retryAfter: Math.max(wait, retryAfter), blocked: true } }
  }
  return {
    name: 'leasing',
    capabilities: { clock: 'server', atomicBatch: 'any', sync: false },
    asked,
    stateOf: (id) => states.get(stateName(id)),
    consume: (groups, options) => {
      asked.consume += 1
      return answering(options, (now) => groups.map((group) => decide(group, now)))
    },
    peek: (groups, options) =>
      answering(options, (now) => {
        const before = new Map(states)
        const verdicts = groups.map((group) => decide(group, now, true))
        states.clear()
        for (const [name, state] of before) states.set(name, state)
        return verdicts
      }),
    lease: (requests, options) => {
      asked.lease += 1
      return answering(options, (now) => requests.map((request) => grant(request, now)))
    },
    adjust: async (charged, amounts, options) => {
      const now = timeOf(options)
      charged.forEach((call, index) => {
        const { algorithm, plan } = leasing(call.limit)
        write(call.id, algorithm.adjust(plan, adopted(call, now), now, amounts[index] as number, call.phase, options?.receipt))
      })
    },
    block: async (ids, duration, options) => {
      for (const id of ids) {
        if (duration === null) blocks.delete(stateName(id))
        else blocks.set(stateName(id), timeOf(options) + duration)
      }
    },
    reset: async (ids, options) => {
      for (const id of ids) {
        const state = states.get(stateName(id)) as LeasedState | undefined
        write(id, state?.leases === undefined ? undefined : resetLeased(state, timeOf(options)))
      }
    },
    ready: async () => {},
    close: async () => {},
  }
}
