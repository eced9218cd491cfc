import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../../src/algorithms/sliding-window-counter.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, type RedisPort, redisStore, type RedisStoreOptions } from '../../../src/stores/redis/index.ts'
import type { CallGroup, GroupVerdict, Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'

const { redis: url } = inject('engines')
const prefix = `overflow-${process.pid}:`
const SLOW = tokenBucket({ rate: '1/h', burst: 3 })
/** Of which nothing comes back while a test runs. */
const LIMITS = [SLOW, fixedWindow({ limit: 3, window: '300d' }), slidingWindowCounter({ limit: 3, window: '300d' })]

interface Counted {
  readonly store: Store
  /** Programs that were run since it was last read. */
  calls(): number
}

describe.skipIf(url === undefined)('R6: new keys without room, under shared', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  beforeAll(() => redis.connect())
  afterEach(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
  })
  afterAll(async () => {
    await redis.quit()
  })
  /** A store that makes no further keys: its clock stands. */
  const open = async (
    options: Partial<RedisStoreOptions> = {},
    change: (port: RedisPort) => RedisPort = (port) => port,
  ): Promise<Counted> => {
    let calls = 0
    const port = change(ioredis(redis))
    const counted: RedisPort = {
      ...port,
      evalsha: (...args) => {
        calls += 1
        return port.evalsha(...args)
      },
    }
    const store = redisStore({ client: counted, prefix, clock: manualClock(), maxNewKeys: 1, onFull: 'shared', ...options })
    await store.ready()
    calls = 0
    return {
      store,
      calls: () => {
        const made = calls
        calls = 0
        return made
      },
    }
  }
  const groups = (name: string, size: number, limit: AnyLimit = SLOW, cost = 1): CallGroup[] =>
    Array.from({ length: size }, (_, index) => ({
      calls: [{ id: { scope: { text: `l:l:${limit.algorithm.tag}:` }, key: `${name}${index}` }, limit, cost: cost * 1e6, phase: 0 }],
    }))
  const decide = (store: Store, asked: readonly CallGroup[]): Promise<readonly GroupVerdict[]> => store.consume(asked)
  const passed = (verdicts: readonly GroupVerdict[]): number => verdicts.filter(({ allowed }) => allowed).length

  it.each(['consume', 'peek'] as const)('cost one call more for a whole batch of them (%s)', async (verb) => {
    const { store, calls } = await open()
    expect(passed(await decide(store, groups('known', 1)))).toBe(1)
    // The salt is fetched once.
    await decide(store, groups('first', 1))
    calls()
    const flood = await store[verb]([...groups('new', 200), ...groups('known', 1)])
    expect(calls()).toBe(2)
    expect(flood.slice(0, 200).every(({ outcome, reason }) => outcome === 'denied' && reason === 'overflow')).toBe(true)
    expect(flood[200]).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 1 }] })
    expect(flood[200]).not.toHaveProperty('degraded')
  })

  it.each(LIMITS)('share states that start empty, also where many calls meet them at once: $algorithm.name', async (limit) => {
    const { store } = await open()
    await decide(store, groups('known', 1, limit))
    const flood = await Promise.all(Array.from({ length: 20 }, (_, index) => decide(store, groups(`new${index}-`, 50, limit))))
    expect(passed(flood.flat())).toBe(0)
  })

  it('lose nothing of a shared state when another process begins to use it', async () => {
    const quick = tokenBucket({ rate: '1/s', burst: 10 })
    const now = 1_763_692_800_000_000
    const ask = async (store: Store, at: number, cost: number) => (await store.consume(groups('new', 1, quick, cost), { now: at }))[0]
    const { store: one } = await open()
    await one.consume(groups('known', 1, quick), { now })
    expect(await ask(one, now, 1)).toMatchObject({ outcome: 'denied', reason: 'overflow' })
    expect(await ask(one, now + 5_000_000, 1)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 4 }] })
    const { store: other } = await open()
    await other.consume(groups('own', 1, quick), { now })
    expect(await ask(other, now + 5_000_000, 1)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 3 }] })
  })

  it('are not bounded themselves: shared states are made beyond maxNewKeys', async () => {
    const { store } = await open()
    await decide(store, groups('known', 1))
    const flood = [...(await decide(store, groups('a', 300))), ...(await decide(store, groups('b', 300)))]
    expect(flood.every(({ outcome }) => outcome === 'denied')).toBe(true)
  })

  it('are undecided by themselves where the call for them fails: keys that are there keep their answers', async () => {
    let failing = false
    let sent = 0
    const { store } = await open({}, (port) => ({
      ...port,
      evalsha: (...args) => {
        sent += 1
        return failing && sent > 1 ? Promise.reject(new Error('LOADING Redis is loading')) : port.evalsha(...args)
      },
    }))
    await decide(store, groups('known', 1))
    await decide(store, groups('first', 1))
    failing = true
    sent = 0
    const [known, fresh] = await decide(store, [...groups('known', 1), ...groups('new', 1)])
    expect(known).toMatchObject({ outcome: 'allowed' })
    expect(fresh).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'unavailable' } })
    expect(fresh).not.toHaveProperty('onFull')
  })
})
