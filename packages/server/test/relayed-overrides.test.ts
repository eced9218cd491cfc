import fc from 'fast-check'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { memoryStore } from 'sluice'
import { createEngine, type Engine, parsePolicy } from 'sluice/policy'
import { describe, expect, it } from 'vitest'
import { holdOverrides, takeOverride } from '../src/policy/held-overrides.ts'
import type { RelayedOverride } from '../src/workers/messages.ts'
import { createOverrideOrder } from '../src/workers/shared-state.ts'
import { channel } from './channel.ts'

const POLICY = parsePolicy('version: 1\nrules:\n  - { name: user, key: ["header:x-user", "method:"], rate: 1/h, burst: 2 }\n')

type Down = { readonly changes: readonly RelayedOverride[] } | { readonly id: number; readonly removed: number }

/** Several workers and their primary. The test decides when a message arrives. */
function workersOf(count: number) {
  const numbers = Array.from({ length: count }, (_, index) => index)
  const toWorkers: ReturnType<typeof channel<Down>>[] = []
  const order = createOverrideOrder(
    numbers,
    (worker, message) => (message.kind === 'override' ? toWorkers[worker]?.send(message) : undefined),
    () => 0,
  )
  const toPrimary = numbers.map((index) =>
    channel(({ id, changes }: { id: number; changes: readonly RelayedOverride[] }) =>
      toWorkers[index]?.send({ id, removed: order.add(changes) }),
    ),
  )
  const workers = numbers.map((index) => {
    const engine = createEngine({ policy: POLICY, store: memoryStore() })
    const waiting = new Map<number, (removed: number) => void>()
    let last = 0
    toWorkers.push(
      channel((message) => {
        if ('id' in message) return waiting.get(message.id)?.(message.removed)
        for (const change of message.changes) takeOverride(engine, change)
      }),
    )
    const overrides = holdOverrides(engine, (changes) => {
      last += 1
      const id = last
      toPrimary[index]?.send({ id, changes })
      return new Promise((resolve) => waiting.set(id, resolve))
    })
    return { engine, ...overrides }
  })
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3;) {
      const moved = [...toPrimary, ...toWorkers].map(({ deliver }) => deliver())
      await nextTurn()
      quiet = moved.includes(true) ? 0 : quiet + 1
    }
  }
  return { workers, toPrimary, toWorkers, settle, order }
}

const fields = (name: string, burst: number) => ({ rule: 'user', key: [name, 'GET'], rate: '1/h', burst })

const held = (engine: Engine): unknown =>
  engine
    .overrides()
    .map(({ values, limit }) => `${values.join(' ')} ${limit.capacity}`)
    .sort()

describe('overrides of several workers', () => {
  it('end as one, also for a worker that begins then, and each is withdrawn at most once', async () => {
    const step = fc.record({
      kind: fc.constantFrom('put' as const, 'withdraw' as const, 'up' as const, 'up' as const, 'down' as const, 'down' as const),
      worker: fc.nat(2),
      name: fc.constantFrom('a', 'b'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), async (steps) => {
        const { workers, toPrimary, toWorkers, settle, order } = workersOf(3)
        const counts: Promise<number>[] = []
        let puts = 0
        for (const [index, { kind, worker, name }] of steps.entries()) {
          const one = workers[worker] as (typeof workers)[number]
          if (kind === 'put') void one.set(fields(name, index + 1))
          if (kind === 'put') puts += 1
          if (kind === 'withdraw') counts.push(one.withdraw({ key: name }))
          if (kind === 'up') toPrimary[worker]?.deliver()
          if (kind === 'down') toWorkers[worker]?.deliver()
          await nextTurn()
        }
        await settle()
        const later = createEngine({ policy: POLICY, store: memoryStore() })
        for (const change of order.list()) takeOverride(later, change)
        const [first, ...others] = [...workers.map(({ engine }) => held(engine)), held(later)]
        for (const other of others) expect(other).toEqual(first)
        const withdrawn = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
        expect(withdrawn).toBeLessThanOrEqual(puts)
      }),
      { numRuns: 200 },
    )
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

  it('count once if two workers withdraw them at once', async () => {
    const { workers, settle } = workersOf(2)
    void workers[0]?.set(fields('a', 5))
    await settle()
    const counts = workers.map(({ withdraw }) => withdraw({ key: 'a' }))
    await settle()
    expect(new Set(await Promise.all(counts))).toEqual(new Set([0, 1]))
  })
})
