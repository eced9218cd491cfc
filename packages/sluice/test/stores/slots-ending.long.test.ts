import { Redis } from 'ioredis'
import { afterAll, describe, expect, inject, it } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../src/algorithms/algorithm.ts'
import { concurrency, memoryStore } from '../../src/index.ts'
import { type BarePostgresOptions, barePostgresStore, pg } from '../../src/stores/postgres/index.ts'
import { bareRedisStore, type BareRedisOptions, ioredis } from '../../src/stores/redis/index.ts'
import { type Call, type CallGroup, type Decided, type Store, StoreFailure } from '../../src/stores/store.ts'
import { seeded } from '../../src/testing/random.ts'
import * as verbs from '../../src/testing/store-verbs.ts'
import { ownStore } from '../conformance/postgres-rows.ts'
import { HeldSpans } from './held-spans.ts'

const { redis: redisUrl, postgres: postgresUrl } = inject('engines')
const CALLS = Number(process.env['SLUICE_ENDING_CALLS'] ?? 2_000)
const WORKERS = 24
const LIMIT = 3
const KEYS = ['a', 'b']

interface Opened {
  readonly store: Store
  readonly limit?: AnyLimit
  readonly close?: () => Promise<void>
}

const slots = concurrency({ limit: LIMIT, holdMs: 1 })
/** The same algorithm under a name that has no programs. So the store decides it by compare-and-swap. */
const unprogrammed: AnyLimit = { ...slots, algorithm: { ...slots.algorithm, tag: 'xx' as AlgorithmTag } }

const redis = new Redis(redisUrl ?? '', { lazyConnect: true })
afterAll(async () => {
  if (redis.status === 'ready') await redis.quit()
})
const onRedis = (name: string, options: Partial<BareRedisOptions> = {}): Store =>
  bareRedisStore({ client: ioredis(redis), prefix: `ending-${process.pid}-${name}:`, ...options })
const onPostgres = async (options: Partial<BarePostgresOptions> = {}): Promise<Opened> => {
  const { pool, open, close } = ownStore(postgresUrl, 6)
  await open()
  const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 20, ...options })
  await store.migrate()
  return { store, close }
}

const stores: readonly [name: string, there: boolean, open: () => Opened | Promise<Opened>][] = [
  ['memory', true, () => ({ store: memoryStore({ maxKeys: 1 }) })],
  ['Redis', redisUrl !== undefined, () => ({ store: onRedis('plain') })],
  ['Redis, packed', redisUrl !== undefined, () => ({ store: onRedis('packed', { layout: 'packed', packing: { keys: 64 } }) })],
  ['Redis by compare-and-swap', redisUrl !== undefined, () => ({ store: onRedis('swap'), limit: unprogrammed })],
  ['PostgreSQL', postgresUrl !== undefined, () => onPostgres()],
  ['PostgreSQL by compare-and-swap', postgresUrl !== undefined, () => onPostgres({ concurrency: 'compare-and-swap' })],
]

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Holds last up to 8 ms of the store's own clock, and most are never given back. So states end, expire and are made again all the time. A
 * tenth of all answers is lost, and these calls are sent again. So are calls that fail by contention, which they do after three attempts.
 */
describe.each(stores)('slots that end, in %s', (_, there, open) => {
  it.skipIf(!there)(
    'are never held by more than the limit, also when answers are lost and when states expire',
    async () => {
      const { store, limit = slots, close } = await open()
      const random = seeded(37)
      const held = new Map(KEYS.map((key) => [key, new HeldSpans()]))
      const fences = new Set<string>()
      let granted = 0
      const callOf = (key: string): Call => ({ id: { scope: { text: 'ending:' }, key }, limit, cost: 1_000_000, phase: 0 })
      const sent = async (group: CallGroup): Promise<Decided | undefined> => {
        for (;;) {
          try {
            const [verdict] = await verbs.decide(store, [group], { onContention: 'fail' })
            if (random() >= 0.1) return verdict
          } catch (error) {
            if (!(error instanceof StoreFailure)) throw error
            if (error.kind === 'memory') return undefined
            // On a busy server, a call may also wait until it times out.
            expect(['contention', 'timeout']).toContain(error.kind)
          }
        }
      }
      let made = 0
      const work = async (): Promise<void> => {
        while (made < CALLS) {
          made += 1
          const [key, id] = [KEYS[Math.floor(random() * KEYS.length)] as string, `${made}`]
          const call = callOf(key)
          const micros = 1 + Math.floor(random() * 8_000)
          const verdict = await sent({ calls: [call], options: { hold: { id, micros } } })
          const grant = verdict?.calls[0]?.grant
          if (grant === undefined) {
            await pause(4 * random())
            continue
          }
          granted += 1
          fences.add(`${key} ${grant.fence}`)
          const releasing = (held.get(key) as HeldSpans).granted(grant.fence, grant.until)
          if (random() < 0.6) continue
          await pause(4 * random())
          releasing()
          while ((await store.change([{ kind: 'release', call, holder: id }])).some(({ failure }) => failure !== undefined));
        }
      }
      await Promise.all(Array.from({ length: WORKERS }, work))
      for (const spans of held.values()) expect(spans.most()).toBeLessThanOrEqual(LIMIT)
      expect(fences.size).toBe(granted)
      expect(granted).toBeGreaterThan(CALLS / 50)
      await close?.()
    },
    3_600_000,
  )
})
