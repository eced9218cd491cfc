import { PGlite } from '@electric-sql/pglite'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fixedWindow, memoryStore, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { remoteStore } from '../../../src/remote.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { compareAndSwapStore } from '../../../src/stores/families/compare-and-swap.ts'
import { type BarePostgresOptions, barePostgresStore, pg, pglite } from '../../../src/stores/postgres/index.ts'
import { bareRedisStore, type BareRedisOptions, ioredis } from '../../../src/stores/redis/index.ts'
import type { Call, CallGroup, Change, Store, StoreFailure } from '../../../src/stores/store.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { systemRandom, systemTime } from '../../../src/time/system.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import { idleLimit } from './idle-window.ts'
import { memoryBackend } from './memory-backend.ts'
import { redisBackend } from './redis-backend.ts'

const { redis: redisUrl, postgres: postgresUrl } = inject('engines')
const START = 1_763_692_800_123_456
const LIMITS: readonly AnyLimit[] = [
  idleLimit(5, 2),
  idleLimit(20, 1),
  tokenBucket({ rate: '10/s', burst: 20 }),
  tokenBucket({ rate: '333/7s', burst: 8 }),
  fixedWindow({ limit: 9, window: '2s' }),
  slidingWindowCounter({ limit: 9, window: '2s' }),
  slidingWindowLog({ limit: 9, window: '2s' }),
]

const redis = new Redis(redisUrl ?? '', { lazyConnect: true })
const ports = { clock: systemTime, random: systemRandom }
const prefix = (name: string): string => `fifth-${process.pid}-${name}:`
const onRedis = (options: Partial<BareRedisOptions> = {}): Store =>
  bareRedisStore({ client: ioredis(redis), prefix: prefix(JSON.stringify(options).replaceAll(/\W/g, '')), ...options })
const onPostgres = async (options: Partial<BarePostgresOptions> = {}): Promise<Opened> => {
  const { pool, open, close } = ownStore(postgresUrl, 6)
  await open()
  const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0, ...options })
  await store.migrate()
  return { store, close }
}
const around = (store: Store): Store => remoteStore(store, { deadline: 10_000, denials: false })

interface Opened {
  readonly store: Store
  readonly close?: () => Promise<void>
}

const stores: readonly [name: string, there: boolean, open: () => Opened | Promise<Opened>][] = [
  ['memory', true, () => ({ store: memoryStore() })],
  ['compare-and-swap on a map', true, () => ({ store: compareAndSwapStore(memoryBackend(), ports) })],
  ['compare-and-swap on Redis', redisUrl !== undefined, () => ({ store: compareAndSwapStore(redisBackend(redis, prefix('cas')), ports) })],
  ['Redis', redisUrl !== undefined, () => ({ store: onRedis() })],
  ['Redis, packed', redisUrl !== undefined, () => ({ store: onRedis({ layout: 'packed', packing: { keys: 64 } }) })],
  ['Redis, new keys counted', redisUrl !== undefined, () => ({ store: onRedis({ maxNewKeys: 1_000_000 }) })],
  ['Redis in a ring', redisUrl !== undefined, () => ({ store: around(onRedis({ maxInFlight: 1_000 })) })],
  ['PostgreSQL', postgresUrl !== undefined, () => onPostgres()],
  ['PostgreSQL by compare-and-swap', postgresUrl !== undefined, () => onPostgres({ concurrency: 'compare-and-swap' })],
  ['PostgreSQL that fails on contention', postgresUrl !== undefined, () => onPostgres({ onContention: 'fail' })],
  [
    'PostgreSQL in a ring',
    postgresUrl !== undefined,
    async () => {
      const { store, ...others } = await onPostgres()
      return { ...others, store: around(store) }
    },
  ],
  [
    'PGlite',
    true,
    async () => {
      const database = await PGlite.create()
      const store = barePostgresStore({ client: pglite(database), sweepEveryMs: 0 })
      await store.migrate()
      return { store, close: () => database.close() }
    },
  ],
]

afterAll(async () => {
  if (redis.status === 'ready') await redis.quit()
})

/** One store of each kind. The other stores are variants of these, and only a run with all draws tests them. */
const KINDS = ['memory', 'compare-and-swap on a map', 'Redis', 'PostgreSQL']
const chosen = stores.filter(([name, there]) => there && (draws(1, 0) === 1 || KINDS.includes(name)))

describe.each(chosen)('an algorithm that the library does not know, on %s', (name, _, open) => {
  let opened: Opened
  let store: Store
  beforeAll(async () => {
    opened = await open()
    ;({ store } = opened)
  })
  afterAll(async () => {
    await store.close()
    await opened.close?.()
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
    for (let turn = 0; turn < draws(3_000, name.startsWith('P') ? 60 : 150); turn += 1) {
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
      else if (change.kind === 'block' || change.kind === 'unblock')
        reference.block(change.id, change.kind === 'block' ? now + change.micros : 0)
    }
    for (const outcome of ['allowed', 'denied', 'impossible']) expect(outcomes.get(outcome)).toBeGreaterThan(draws(250, 5))
  })

  it('admits no more than its limit to concurrent callers, and shares states with the programs of others', async () => {
    const call = (limit: AnyLimit): Call => {
      return { id: { scope: { text: `at-once:${limit.algorithm.tag}:` }, key: 'k' }, limit, cost: 1_000_000, phase: 0 }
    }
    const [fifth, bucket] = [call(idleLimit(15, 1_000)), call(tokenBucket({ rate: '1/day', burst: 25 }))]
    const [ours, both, theirs] = [{ calls: [fifth] }, { calls: [bucket, fifth] }, { calls: [bucket] }]
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (___, index) => [theirs, ours, both, theirs, both][index % 5] as CallGroup).map(async (group) => {
        const [verdict] = await store
          .decide([group])
          .catch((failure: unknown) => [{ failure: failure as StoreFailure, outcome: undefined }])
        // Only where callers do not wait for one another.
        if (verdict?.failure !== undefined)
          expect([name, verdict.failure.kind]).toEqual(['PostgreSQL that fails on contention', 'contention'])
        return { group, passed: verdict?.outcome === 'allowed' ? 1 : 0 }
      }),
    )
    const passed = (of: readonly CallGroup[]): number =>
      verdicts.filter(({ group }) => of.includes(group)).reduce((sum, { passed: one }) => sum + one, 0)
    expect(passed([ours, both])).toBeLessThanOrEqual(15)
    const left = async ({ calls: [first] }: CallGroup): Promise<number | undefined> => {
      const [verdict] = await store.decide([{ calls: [first as Call] }], { charge: false })
      return verdict?.calls?.[0]?.remaining
    }
    expect(await left(ours)).toBe(15 - passed([ours, both]))
    expect(await left(theirs)).toBe(25 - passed([both, theirs]))
  })
})

function same(one: Call['id'], other: Call['id']): boolean {
  return one.key === other.key && one.scope.text === other.scope.text
}
