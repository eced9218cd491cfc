import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, fixedWindow, memoryStore, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { bundleBench, requestOf, bare } from '../engine/bundle-bench.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import type { FailurePolicy, Store } from '../../src/stores/store.ts'
import { resilient } from '../../src/remote.ts'
import { manualClock } from '../../src/time/manual.ts'
import { draws } from '../draws.ts'

const { redis: url } = inject('engines')
const prefix = `on-full-${process.pid}:`
const FLOOD = draws(500, 40)
const SLOW = tokenBucket({ rate: '1/h', burst: 3 })

type Option = 'allow' | 'deny' | 'shared' | undefined
/** Opens a store in which three keys of a limit find room. During the test no room is made for others. */
type Open = (onFull: Option) => Store

const ROOM = 3

/** Of a flood of new keys, how many pass. */
const byLimiter = async (store: Store, onStoreFailure: FailurePolicy, limit = SLOW): Promise<number> => {
  const limiter = createLimiter({ name: 'flood', limit, store, onStoreFailure, deadlineMs: 10_000 })
  for (let index = 0; index < ROOM; index += 1) await limiter.check(`known${index}`)
  const seen = await Promise.all(Array.from({ length: FLOOD }, (_, index) => limiter.check(`new${index}`)))
  const known = await limiter.check('known0')
  expect(known, 'a key that is there').toMatchObject({ outcome: 'allowed', source: 'store' })
  return seen.filter(({ allowed }) => allowed).length
}

const byEngine = async (store: Store, onStoreFailure: FailurePolicy): Promise<number> => {
  const policy = parsePolicy(`version: 1
failure: { deadline: 10s }
rules: [{ name: flood, key: ["ip:address"], rate: 1/h, burst: 3, onStoreFailure: ${onStoreFailure} }]`)
  const engine = createEngine({ policy, store })
  const decide = (ip: string) => engine.decide({ method: 'GET', path: '/', headers: {}, ip })
  for (let index = 0; index < ROOM; index += 1) await decide(`192.0.2.${index}`)
  const seen = await Promise.all(Array.from({ length: FLOOD }, (_, index) => decide(`198.51.${index >> 8}.${index & 255}`)))
  expect(await decide('192.0.2.0'), 'a key that is there').toMatchObject({ outcome: 'allowed', source: 'store' })
  return seen.filter(({ allowed }) => allowed).length
}

const CASES: readonly (readonly [Option, FailurePolicy, number])[] = [
  ['deny', 'allow', 0],
  ['deny', 'local', 0],
  ['deny', 'deny', 0],
  ['allow', 'deny', FLOOD],
  ['allow', 'local', FLOOD],
  ['shared', 'allow', 0],
  ['shared', 'deny', 0],
  [undefined, 'allow', FLOOD],
  [undefined, 'deny', 0],
]

const suite = (open: Open): void => {
  it.each(CASES)(
    'with %s and a failure policy of %s lets %i new keys of a flood pass, by limiter',
    async (onFull, onStoreFailure, passed) => {
      expect(await byLimiter(open(onFull), onStoreFailure)).toBe(passed)
    },
  )

  it.each(CASES)(
    'with %s and a failure policy of %s lets %i new keys of a flood pass, by engine',
    async (onFull, onStoreFailure, passed) => {
      expect(await byEngine(open(onFull), onStoreFailure)).toBe(passed)
    },
  )

  it('is the answer of the store itself: undecided, marked, and not charged', async () => {
    const limiter = createLimiter({ limit: SLOW, store: open('deny'), onStoreFailure: 'allow', deadlineMs: 10_000 })
    for (let index = 0; index < ROOM; index += 1) await limiter.check(`known${index}`)
    const seen = await limiter.peek('new')
    expect(seen).toMatchObject({ outcome: 'undecided', allowed: false, source: 'store', degraded: { kind: 'memory', executed: 'no' } })
    const { outcome, allowed, limits, source, degraded } = await limiter.check('new')
    expect(seen).toMatchObject({ outcome, allowed, limits, source, degraded })
  })

  it('denies the keys of logs under shared, which have no shared states', async () => {
    const limit = slidingWindowLog({ limit: 3, window: '1h' })
    const limiter = createLimiter({
      limits: { limit, other: fixedWindow({ limit: 9, window: '1h' }) },
      store: open('shared'),
      onStoreFailure: 'allow',
    })
    for (let index = 0; index < ROOM; index += 1) await limiter.check(`known${index}`)
    expect(await limiter.check('new')).toMatchObject({ outcome: 'undecided', allowed: false })
  })
}

describe('R5: onFull decides for new keys where there is no room, and no failure policy overrides it', () => {
  describe.each([
    ['memory', (store: Store) => store],
    ['memory, resilient', (store: Store) => resilient(store)],
  ] as const)('%s', (_, wrap) => {
    suite((onFull) => wrap(memoryStore({ maxKeys: ROOM, ...(onFull === undefined ? {} : { onFull }) })))
  })

  it('lets new keys pass in the dialect of Fairvisor where the table is full, as there', async () => {
    const store = memoryStore({ maxKeys: 1 })
    const { engine } = bundleBench(bare({ tokens_per_second: 1, burst: 1 }, { limit_keys: ['ip:address'] }), { store })
    const decide = (index: number) => engine.decide(requestOf({ ip: `198.51.${index >> 8}.${index & 255}` }))
    await decide(FLOOD)
    const flood = await Promise.all(Array.from({ length: FLOOD }, (_, index) => decide(index)))
    expect(flood.every(({ outcome, allowed }) => outcome === 'undecided' && allowed)).toBe(true)
  })

  describe.skipIf(url === undefined)('Redis', () => {
    const redis = new Redis(url ?? '', { lazyConnect: true })
    beforeAll(() => redis.connect())
    afterEach(async () => {
      const keys = await redis.keys(`${prefix}*`)
      if (keys.length > 0) await redis.del(keys)
    })
    afterAll(async () => {
      await redis.quit()
    })
    const open: Open = (onFull) => {
      // Its clock stops: no further key may be made.
      const options = { client: ioredis(redis), prefix, clock: manualClock(), maxNewKeys: ROOM }
      return bareRedisStore({ ...options, ...(onFull === undefined ? {} : { onFull }) })
    }
    describe.each([
      ['plain', (store: Store) => store],
      ['resilient', (store: Store) => resilient(store, { deadline: 10_000 })],
    ] as const)('%s', (_, wrap) => {
      suite((onFull) => wrap(open(onFull)))
    })
  })
})
