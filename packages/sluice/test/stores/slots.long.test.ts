import { Redis } from 'ioredis'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { concurrency, createLimiter } from '../../src/index.ts'
import { barePostgresStore, pg } from '../../src/stores/postgres/index.ts'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import { remoteStore } from '../../src/remote.ts'
import type { Store } from '../../src/stores/store.ts'
import { seeded } from '../../src/testing/random.ts'
import { ownStore } from '../conformance/postgres-rows.ts'
import { HeldSpans } from './held-spans.ts'

const { redis: redisUrl, postgres: postgresUrl } = inject('engines')
/** `SLUICE_SLOT_CALLS=50000` takes a minute or two on PostgreSQL. */
const CALLS = Number(process.env['SLUICE_SLOT_CALLS'] ?? 10_000)
const WORKERS = 64
const LIMIT = 20
const HOLD_MS = 1_000
const KEYS = ['a', 'b', 'c', 'd']
const redis = new Redis(redisUrl ?? '', { lazyConnect: true })
afterAll(async () => {
  if (redis.status === 'ready') await redis.quit()
})

const stores: readonly [name: string, there: boolean, open: () => Promise<{ store: Store; close?: () => Promise<void> }>][] = [
  ['Redis', redisUrl !== undefined, async () => ({ store: bareRedisStore({ client: ioredis(redis), prefix: `slots-${process.pid}:` }) })],
  [
    'PostgreSQL',
    postgresUrl !== undefined,
    async () => {
      const { pool, open, close } = ownStore(postgresUrl, 6)
      await open()
      const store = barePostgresStore({ client: pg(pool) })
      await store.migrate()
      return { store, close }
    },
  ],
]

describe.each(stores)('%s', (_, there, open) => {
  it.skipIf(!there)(
    'live holders are never above the limit at any store instant, and none is left one hold after the end, though 5 % of them die',
    async () => {
      const { store: bare, close } = await open()
      const store = remoteStore(bare, { deadline: 30_000 })
      const limiter = createLimiter({ limit: concurrency({ limit: LIMIT, holdMs: HOLD_MS }), store })
      const random = seeded(20_261_123)
      const held = new Map(KEYS.map((key) => [key, new HeldSpans()]))
      const counts = { allowed: 0, denied: 0, died: 0 }
      const fences = new Map<string, Set<number>>(KEYS.map((key) => [key, new Set()]))
      let left = CALLS
      const work = async (): Promise<void> => {
        while ((left -= 1) >= 0) {
          // Half of all have one key, which is full then.
          const key = KEYS[Math.floor(random() ** 2 * KEYS.length)] as string
          const decision = await limiter.check(key)
          expect(decision.source).toBe('store')
          if (!decision.allowed) {
            expect(decision.reason).toBe('concurrency')
            counts.denied += 1
            continue
          }
          const { id = '', expiresAt = 0, fence = 0 } = decision.hold ?? {}
          counts.allowed += 1
          fences.get(key)?.add(fence)
          const releasing = held.get(key)?.granted(fence, expiresAt * 1_000)
          if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, 5 * random()))
          if (random() < 0.05) {
            counts.died += 1
            continue
          }
          releasing?.()
          await limiter.release(key, id)
        }
      }
      await Promise.all(Array.from({ length: WORKERS }, work))
      for (const [key, spans] of held) {
        expect(spans.most()).toBeLessThanOrEqual(LIMIT)
        // Every grant has a fencing number of its own.
        expect(fences.get(key)?.size).toBe(spans.grants)
      }
      expect(held.get('a')?.most()).toBeGreaterThan(LIMIT / 2)
      expect(counts.allowed + counts.denied).toBe(CALLS)
      expect(Math.min(counts.allowed, counts.died)).toBeGreaterThan(CALLS / 1_000)
      for (const key of KEYS) await expect.poll(async () => (await limiter.peek(key)).limits[0]?.remaining).toBe(LIMIT)
      await store.close()
      await close?.()
    },
    3_600_000,
  )
})
