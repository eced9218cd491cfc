import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { compareAndSwapStore } from '../../../src/stores/families/compare-and-swap.ts'
import { pg, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { Call, CallGroup, Change, Store } from '../../../src/stores/store.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { systemRandom, systemTime } from '../../../src/time/system.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import { idleLimit } from './idle-window.ts'
import { memoryBackend } from './memory-backend.ts'
import { redisBackend } from './redis-backend.ts'

const { redis: redisUrl, postgres: postgresUrl } = inject('engines')
const START = 1_763_692_800_123_456
const LIMITS: readonly AnyLimit[] = [idleLimit(5, 2), idleLimit(20, 1), tokenBucket({ rate: '10/s', burst: 20 })]

const redis = new Redis(redisUrl ?? '', { lazyConnect: true })
const postgres = ownStore(postgresUrl, 2)
const ports = { clock: systemTime, random: systemRandom }
const stores: readonly [string, boolean, () => Store][] = [
  ['a map', true, () => compareAndSwapStore(memoryBackend(), ports)],
  ['Redis', redisUrl !== undefined, () => compareAndSwapStore(redisBackend(redis, `fifth-${process.pid}:`), ports)],
  [
    'PostgreSQL',
    postgresUrl !== undefined,
    () => barePostgresStore({ client: pg(postgres.pool), concurrency: 'compare-and-swap', sweepEveryMs: 0 }),
  ],
]

describe.each(stores.filter(([, there]) => there))('an algorithm that the library does not know, on %s', (name, _, open) => {
  const store = open()
  beforeAll(async () => {
    if (name !== 'PostgreSQL') return
    await postgres.open()
    await (store as ReturnType<typeof barePostgresStore>).migrate()
  })
  afterAll(async () => {
    if (name === 'PostgreSQL') await postgres.close()
    if (name === 'Redis') await redis.quit()
  })

  it('is decided, peeked at and changed as by the reference driver, alone and in groups with others', async () => {
    const random = seeded(20_261_122)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
    const reference = new Reference()
    const call = (): Call => {
      const limit = pick(LIMITS)
      const key = pick(['a', 'b', 'c'])
      return { id: { scope: { text: `fifth:${limit.algorithm.tag}:` }, key }, limit, cost: pick([1, 1, 2, 5, 21]) * 1_000_000, phase: 0 }
    }
    const outcomes = new Map<string, number>()
    let now = START
    for (let turn = 0; turn < draws(3_000, 400); turn += 1) {
      now += Math.floor(random() ** 4 * 3_000_000)
      const groups = Array.from({ length: 1 + Math.floor(random() * 3) }, (): CallGroup => {
        const calls = Array.from({ length: 1 + Math.floor(random() * 3) }, call)
        // Calls of one state have one limit.
        return { calls: calls.map((one) => ({ ...one, limit: calls.find(({ id }) => same(id, one.id))?.limit ?? one.limit })) }
      })
      const uniform = groups.map(({ calls }) => ({
        calls: calls.map((one) => ({
          ...one,
          limit: groups.flatMap((group) => group.calls).find(({ id }) => same(id, one.id))?.limit ?? one.limit,
        })),
      }))
      const charge = random() < 0.8
      const target = charge ? reference : new Reference(reference)
      const expected = uniform.map((group) => target.decide(group, now, !charge))
      expect(await store.decide(uniform, { now, charge })).toEqual(expected)
      for (const { outcome } of expected) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      if (random() > 0.3) continue
      const changed = call()
      const change = pick<Change>([
        { kind: 'adjust', call: changed, amount: pick([-3, 2, 30]) * 1_000_000 },
        { kind: 'block', id: changed.id, micros: 500_000 },
        { kind: 'unblock', id: changed.id },
        { kind: 'reset', id: changed.id },
      ])
      expect(await store.change([change], { now })).toEqual([{}])
      if (change.kind === 'adjust') reference.adjust([change.call], [change.amount], { now })
      else if (change.kind === 'reset') reference.reset(change.id)
      else reference.block(change.id, change.kind === 'block' ? now + change.micros : 0)
    }
    for (const outcome of ['allowed', 'denied', 'impossible']) expect(outcomes.get(outcome)).toBeGreaterThan(draws(300, 30))
  })

  it('admits no more than its limit to callers that ask at once', async () => {
    const limit = idleLimit(10, 1_000)
    const one: Call = { id: { scope: { text: 'fifth:iw:' }, key: 'at once' }, limit, cost: 1_000_000, phase: 0 }
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => verbs.decide(store, [{ calls: [one] }])))
    expect(verdicts.flat().filter(({ outcome }) => outcome === 'allowed')).toHaveLength(10)
  })
})

function same(one: Call['id'], other: Call['id']): boolean {
  return one.key === other.key && one.scope.text === other.scope.text
}
