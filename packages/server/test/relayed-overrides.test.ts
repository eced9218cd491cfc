import fc from 'fast-check'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { memoryStore } from 'sluice'
import { createEngine, type Engine, type KeyTarget, parsePolicy, type Policy } from 'sluice/policy'
import { describe, expect, it } from 'vitest'
import { applyOverrides, holdOverrides } from '../src/policy/held-overrides.ts'
import type { HeldPolicy } from '../src/policy/held-policy.ts'
import type { RelayedOverride, RelayedPolicy, Removed, ToWorker } from '../src/workers/messages.ts'
import { createOverrideOrder, createPolicyOrder, relayPolicies } from '../src/workers/shared-state.ts'
import { channel } from './channel.ts'

const rulesNamed = (...names: string[]): string =>
  `version: 1\nrules:\n${names.map((name) => `  - { name: ${name}, key: ["header:x-user", "method:"], rate: 1/h, burst: 2 }\n`).join('')}`
const [USER, OTHER, BOTH] = [rulesNamed('user'), rulesNamed('other'), rulesNamed('user', 'other')]

type Up =
  | { readonly id: number; readonly changes: readonly RelayedOverride[]; readonly target: KeyTarget | undefined }
  | { readonly policy: RelayedPolicy }
type Down = ToWorker | { readonly id: number; readonly removed: Removed }

/** Takes in policies one after the other, each only when `finish` is called. */
function slowPolicy(engine: Engine) {
  const waiting: (() => void)[] = []
  let before = Promise.resolve(engine.policy)
  const take = async (text: string): Promise<Policy> => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    engine.reload(parsePolicy(text))
    return engine.policy
  }
  const replace: HeldPolicy['replace'] = ({ text }) => (before = before.then(() => take(text as string)))
  const held: HeldPolicy = { current: engine.policy, rejected: 0, loaded: 1, replace }
  return { held, finish: () => waiting.shift()?.() }
}

/** Several workers and their primary. The test decides when a message arrives, and when a worker has loaded a policy. */
function workersOf(count: number) {
  const numbers = Array.from({ length: count }, (_, index) => index)
  const toWorkers: ReturnType<typeof channel<Down>>[] = []
  const send = (worker: number, message: ToWorker): void => toWorkers[worker]?.send(message)
  const order = createOverrideOrder(numbers, send, () => 0)
  const policies = createPolicyOrder(numbers, send)
  const toPrimary = numbers.map((index) =>
    channel((message: Up) => {
      if ('policy' in message) policies.add(index, message.policy)
      else toWorkers[index]?.send({ id: message.id, removed: order.add(index, message.changes, message.target).removed })
    }),
  )
  const workers = numbers.map((index) => {
    const engine = createEngine({ policy: parsePolicy(USER), store: memoryStore() })
    const relayed = applyOverrides(engine, () => {})
    const slow = slowPolicy(engine)
    const sendPolicy = (policy: RelayedPolicy): void => toPrimary[index]?.send({ policy })
    const refused = (error: unknown): void => expect.unreachable(String(error))
    const policy = relayPolicies(slow.held, sendPolicy, refused, undefined, relayed.policyLoaded)
    const waiting = new Map<number, (removed: Removed) => void>()
    let last = 0
    toWorkers.push(
      channel((message) => {
        if ('removed' in message) waiting.get(message.id)?.(message.removed)
        else if (message.kind === 'policy') policy.relayed(message.policy)
        else if (message.kind === 'ordered') policy.ordered()
        else if (message.kind === 'overrides') relayed.add(message.changes, policy.isIdle())
      }),
    )
    const overrides = holdOverrides(engine, (changes, target) => {
      last += 1
      const id = last
      toPrimary[index]?.send({ id, changes, target })
      return new Promise((resolve) => waiting.set(id, resolve))
    })
    const putPolicy = (text: string): void => void policy.put({ text, filename: 'body' })
    return { engine, ...overrides, putPolicy, finish: slow.finish, applied: relayed.applied }
  })
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3;) {
      const moved = [...toPrimary, ...toWorkers].map(({ deliver }) => deliver())
      for (const { finish } of workers) finish()
      await nextTurn()
      quiet = moved.includes(true) ? 0 : quiet + 1
    }
  }
  return { workers, toPrimary, toWorkers, settle, order }
}

const fields = (name: string, burst: number, rule = 'user') => ({ rule, key: [name, 'GET'], rate: '1/h', burst })

/** The overrides under the rules of the policy. */
const held = (engine: Engine): unknown =>
  engine
    .overrides()
    .filter(({ rule }) => engine.policy.rules.some(({ name }) => name === rule))
    .map(({ rule, values, limit }) => `${rule === 'user' ? '' : `${rule} `}${values.join(' ')} ${limit.capacity}`)
    .sort()

describe('overrides of several workers', () => {
  it('end as one, also for a worker that begins then and among new policies, and each is withdrawn at most once', async () => {
    const step = fc.record({
      kind: fc.constantFrom(...(['put', 'put', 'withdraw', 'policy', 'finish', 'up', 'up', 'down', 'down'] as const)),
      policy: fc.constantFrom(USER, OTHER, BOTH),
      rule: fc.constantFrom('user', 'other'),
      worker: fc.nat(2),
      name: fc.constantFrom('a', 'b'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), async (steps) => {
        const { workers, toPrimary, toWorkers, settle, order } = workersOf(3)
        const counts: Promise<number>[] = []
        let puts = 0
        for (const [index, { kind, worker, name, policy, rule }] of steps.entries()) {
          const one = workers[worker] as (typeof workers)[number]
          // The worker's policy may not have the rule.
          if (kind === 'put') one.set(fields(name, index + 1, rule)).catch(() => {})
          if (kind === 'put') puts += 1
          if (kind === 'withdraw') counts.push(one.withdraw({ key: name }))
          if (kind === 'policy') one.putPolicy(policy)
          if (kind === 'finish') one.finish()
          if (kind === 'up') toPrimary[worker]?.deliver()
          if (kind === 'down') toWorkers[worker]?.deliver()
          await nextTurn()
        }
        await settle()
        const later = createEngine({ policy: workers[0]?.engine.policy as Policy, store: memoryStore() })
        applyOverrides(later, () => {}).add(order.list(), true)
        const [first, ...others] = [...workers.map(({ engine }) => held(engine)), held(later)]
        for (const other of others) expect(other).toEqual(first)
        const withdrawn = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
        expect(withdrawn).toBeLessThanOrEqual(puts)
      }),
      { numRuns: 200 },
    )
  })

  it('wait for a policy with their rule that a worker still loads, and are reported as applied then', async () => {
    const { workers, toPrimary, toWorkers, settle } = workersOf(2)
    const [one, other] = workers as [(typeof workers)[number], (typeof workers)[number]]
    one.putPolicy(BOTH)
    await nextTurn()
    one.finish()
    await nextTurn()
    void one.set(fields('a', 5, 'other'))
    while (toPrimary[0]?.deliver()) await nextTurn()
    while (toWorkers[1]?.deliver()) await nextTurn()
    let isApplied = false
    void other.applied().then(() => (isApplied = true))
    await nextTurn()
    expect(isApplied).toBe(false)
    await settle()
    expect([isApplied, held(one.engine), held(other.engine)]).toEqual([true, ['other a GET 5'], ['other a GET 5']])
  })

  it('are withdrawn by a worker that has not yet got them', async () => {
    const { workers, toPrimary, settle } = workersOf(2)
    const [one, other] = workers as [(typeof workers)[number], (typeof workers)[number]]
    void one.set(fields('a', 5))
    toPrimary[0]?.deliver()
    expect([held(one.engine), held(other.engine)]).toEqual([['a GET 5'], []])
    const withdrawn = other.withdraw({ key: 'a' })
    await settle()
    expect([await withdrawn, held(one.engine), held(other.engine)]).toEqual([1, [], []])
  })

  it('are withdrawn by a worker that lost its own, under the rule that the administrator names', async () => {
    const { workers, settle } = workersOf(2)
    const [one, other] = workers as [(typeof workers)[number], (typeof workers)[number]]
    one.putPolicy(BOTH)
    await settle()
    for (const rule of ['user', 'other']) void one.set(fields('a', 5, rule))
    void one.set(fields('b', 5))
    await settle()
    for (const { rule, values } of other.engine.overrides()) other.engine.withdraw({ rule, values })
    const withdrawn = other.withdraw({ key: 'a', limit: 'user' })
    await settle()
    expect([await withdrawn, held(one.engine)]).toEqual([1, ['b GET 5', 'other a GET 5']])
  })

  it('that end before they arrive replace an earlier one, without an error', () => {
    const engine = createEngine({ policy: parsePolicy(USER), store: memoryStore() })
    const { add } = applyOverrides(engine, (error) => expect.unreachable(String(error)))
    const change = (more: object) => ({ rule: 'user', key: ['a', 'GET'], fields: { ...fields('a', 5), ...more } })
    add([change({})], true)
    expect(held(engine)).toEqual(['a GET 5'])
    add([change({ until: '2001-01-01T00:00:00Z' })], true)
    expect(held(engine)).toEqual([])
  })

  it('at the most: of two that two workers set at once, the later one is refused, and both have the earlier one', async () => {
    const { workers, order, settle } = workersOf(2)
    const [one, other] = workers as [(typeof workers)[number], (typeof workers)[number]]
    for (let key = 0; key < 9_999; key += 1) {
      const change = { rule: 'user', key: [`k${key}`, 'GET'], fields: fields(`k${key}`, 5) }
      order.add(0, [change])
    }
    await settle()
    const results = Promise.allSettled([one.set(fields('a', 5)), other.set(fields('b', 5))])
    await settle()
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    const last = [one, other].map(({ engine }) => engine.overrides().length)
    expect([last, order.list().length]).toEqual([[10_000, 10_000], 10_000])
    for (const { engine } of [one, other]) expect(engine.overridesOfKey({ key: 'a' })).toHaveLength(1)
  })

  it('count once if two workers withdraw them at once', async () => {
    const { workers, settle } = workersOf(2)
    void workers[0]?.set(fields('a', 5))
    await settle()
    const counts = workers.map(({ withdraw }) => withdraw({ key: 'a' }))
    await settle()
    expect(new Set(await Promise.all(counts))).toEqual(new Set([0, 1]))
  })
})
