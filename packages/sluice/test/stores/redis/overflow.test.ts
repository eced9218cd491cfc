import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { hash32 } from '../../../src/decision/jitter.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../../src/algorithms/sliding-window-counter.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, type RedisPort, bareRedisStore, type BareRedisOptions } from '../../../src/stores/redis/index.ts'
import type { CallGroup, Decided, GroupVerdict, Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

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
  /** A store that makes no further keys: its clock stops. */
  const open = async (
    options: Partial<BareRedisOptions> = {},
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
    const store = bareRedisStore({ client: counted, prefix, clock: manualClock(), maxNewKeys: 1, onFull: 'shared', ...options })
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
  const decide = (store: Store, batch: readonly CallGroup[]): Promise<readonly Decided[]> => verbs.decide(store, batch)
  const passed = (verdicts: readonly GroupVerdict[]): number => verdicts.filter(({ outcome }) => outcome === 'allowed').length

  it.each(['decide', 'peek'])('cost one call more for a whole batch of them (%s)', async (verb) => {
    const { store, calls } = await open()
    expect(passed(await decide(store, groups('known', 1)))).toBe(1)
    // The salt is fetched once.
    await decide(store, groups('first', 1))
    calls()
    const flood = await (verb === 'peek' ? verbs.peek : verbs.decide)(store, [...groups('new', 200), ...groups('known', 1)])
    expect(calls()).toBe(2)
    expect(flood.slice(0, 200).every(({ outcome, reason }) => outcome === 'denied' && reason === 'overflow')).toBe(true)
    // A peek reports what is there, uncharged.
    expect(flood[200]).toMatchObject({ outcome: 'allowed', calls: [{ remaining: verb === 'peek' ? 2 : 1 }] })
    expect(flood[200]).not.toHaveProperty('degraded')
  })

  it.each(LIMITS)('share states that start empty, also where many calls meet them at once: $algorithm.name', async (limit) => {
    const { store } = await open()
    await decide(store, groups('known', 1, limit))
    const flood = await Promise.all(Array.from({ length: 20 }, (_, index) => decide(store, groups(`new${index}-`, 50, limit))))
    expect(passed(flood.flat())).toBe(0)
  })

  it('cost no call more while their shared states are empty, and report the wait as it is then', async () => {
    const clock = manualClock()
    const { store, calls } = await open({ clock })
    await decide(store, groups('known', 1))
    const [first] = await decide(store, groups('new', 100))
    calls()
    clock.advance(100)
    const [again] = await decide(store, [...groups('new', 100), ...groups('known', 1)])
    expect(calls()).toBe(1)
    expect(again).toMatchObject({ outcome: 'denied', reason: 'overflow', degraded: { kind: 'memory' } })
    expect(again?.calls[0]?.retryAfter).toBe((first?.calls[0]?.retryAfter ?? 0) - 100_000)
    expect(again?.retryAfter).toBe((first?.retryAfter ?? 0) - 100_000)
    expect(again?.at).toBe((first?.at ?? 0) + 100_000)
    // A remembered denial does not answer a call of another cost, whose wait may differ. Neither does it answer a peek.
    await decide(store, groups('new', 1, SLOW, 2))
    expect(calls()).toBe(2)
    await verbs.peek(store, groups('new', 1))
    expect(calls()).toBe(2)
    // A second has passed, so the store may make keys again. One more call reads the shared state of the other key.
    clock.advance(900)
    await decide(store, [...groups('other', 1), ...groups('new', 1)])
    expect(calls()).toBeGreaterThan(0)
  })

  it('are decided by the store again once waiting was enough', async () => {
    const quick = tokenBucket({ rate: '100/s', burst: 10 })
    const clock = manualClock()
    const { store } = await open({ clock })
    await decide(store, groups('known', 1, quick))
    expect(passed(await decide(store, groups('new', 1, quick)))).toBe(0)
    const end = Date.now() + 5_000
    let allowed = 0
    while (allowed === 0 && Date.now() < end) {
      clock.advance(1)
      allowed = passed(await decide(store, groups('new', 1, quick)))
      await redis.ping()
    }
    expect(allowed).toBe(1)
  })

  it('lie in states that a salt in the store chooses: the same in every process, and not to be aimed at', async () => {
    const stateOf = async (store: Store, key: string): Promise<string> => {
      const before = new Set(await redis.keys(`${prefix}*$overflow:*`))
      await verbs.decide(store, [{ calls: [{ id: { scope: { text: 'l:l:tb:' }, key }, limit: SLOW, cost: 1e6, phase: 0 }] }])
      return (await redis.keys(`${prefix}*$overflow:*`)).find((name) => !before.has(name)) ?? 'known'
    }
    const { store: one } = await open()
    const { store: two } = await open()
    for (const store of [one, two]) await decide(store, groups(store === one ? 'a' : 'b', 1))
    const place = await stateOf(one, 'victim')
    expect(await stateOf(two, 'victim')).toBe('known')
    expect(place).toContain('$overflow:')
    const salt = await redis.get(`${prefix}$salt`)
    expect(salt).toMatch(/^[0-9a-f]{16}$/)
    expect(await redis.pttl(`${prefix}$salt`)).toBe(-1)
    // Keys that meet under a hash without a salt.
    const meeting: string[] = []
    for (let index = 0; meeting.length < 6; index += 1)
      if (hash32(`aimed${index}`) % 1_024 === hash32('victim') % 1_024) meeting.push(`aimed${index}`)
    const places = new Set<string>()
    for (const key of meeting) places.add(await stateOf(one, key))
    expect(places.size).toBeGreaterThan(2)
  })

  it('lose nothing of a shared state when another process begins to use it', async () => {
    const quick = tokenBucket({ rate: '1/s', burst: 10 })
    const now = 1_763_692_800_000_000
    const decideNew = async (store: Store, at: number, cost: number) =>
      (await verbs.decide(store, groups('new', 1, quick, cost), { now: at }))[0]
    const { store: one } = await open()
    await verbs.decide(one, groups('known', 1, quick), { now })
    expect(await decideNew(one, now, 1)).toMatchObject({ outcome: 'denied', reason: 'overflow' })
    expect(await decideNew(one, now + 5_000_000, 1)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 4 }] })
    const { store: other } = await open()
    await verbs.decide(other, groups('own', 1, quick), { now })
    expect(await decideNew(other, now + 5_000_000, 1)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 3 }] })
  })

  it('are not bounded themselves: shared states are made beyond maxNewKeys', async () => {
    const { store } = await open()
    await decide(store, groups('known', 1))
    const flood = [...(await decide(store, groups('a', 300))), ...(await decide(store, groups('b', 300)))]
    expect(flood.every(({ outcome }) => outcome === 'denied')).toBe(true)
  })

  it('fail alone where the call for them fails: keys that are there keep their answers', async () => {
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
    const [known, fresh] = await store.decide([...groups('known', 1), ...groups('new', 1)])
    expect(known).toMatchObject({ outcome: 'allowed' })
    expect(fresh).toMatchObject({ failure: { kind: 'unavailable' } })
    expect(fresh).not.toHaveProperty('onFull')
  })
})
