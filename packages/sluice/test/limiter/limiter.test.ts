import { describe, expect, it } from 'vitest'
import { createLimiter, LimiterError, memoryStore, type Store, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { manualClock } from '../../src/time/manual.ts'
import { draws } from '../draws.ts'
import { failingStore, remoteMemory } from '../remote-memory.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const limit = tokenBucket({ rate: '10/s', burst: 20 })

describe('createLimiter', () => {
  it('answers as the first five minutes of the README say', async () => {
    const limiter = createLimiter({ name: 'api', limits: { perUser: limit }, clock: manualClock() })
    expect(await limiter.check('user:42', { cost: 5 })).toEqual({
      outcome: 'allowed',
      allowed: true,
      at: 1_700_000_000_000,
      atMicros: 1_700_000_000_000_000,
      source: 'store',
      limits: [{ name: 'perUser', limit: 20, remaining: 15, replenishAfterMs: 100, resetAfterMs: 500, windowMs: 2_000 }],
    })
    const denied = await limiter.check('user:42', { cost: 16 })
    expect(denied).toMatchObject({
      outcome: 'denied',
      limitName: 'perUser',
      reason: 'quota',
      retryAfterMs: 100,
      limits: [{ remaining: 15 }],
    })
    expect(await limiter.check('user:42', { cost: 21 })).toMatchObject({ outcome: 'impossible', reason: 'capacity', limitName: 'perUser' })
  })

  it('lets the store decide now, and calls it only where it cannot', async () => {
    const memory = memoryStore({ clock: manualClock() })
    const calls: string[] = []
    let known = true
    const store = remoteMemory(memory, {
      decideNow: (group) => (calls.push('now'), known ? { ...verbs.decideNow(memory, group), source: 'lease' } : undefined),
      decide: (groups, options) => (calls.push('call'), memory.decide(groups, options)),
    })
    const limiter = createLimiter({ limit, store })
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed', source: 'lease', limits: [{ remaining: 19 }] })
    known = false
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed', source: 'store', limits: [{ remaining: 18 }] })
    expect(calls).toEqual(['now', 'now', 'call'])
    await expect(limiter.check('k', { deadlineMs: 0 })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
    await expect(limiter.check('')).rejects.toMatchObject({ code: 'INVALID_KEY' })
    expect(calls).toHaveLength(3)
    const engine = createEngine({
      policy: parsePolicy('version: 1\nrules: [{ name: all, key: [], rate: 10/s, burst: 20 }]\n'),
      store,
    })
    calls.length = 0
    known = true
    expect(await engine.decideKey({ key: 'x' })).toMatchObject({ outcome: 'allowed', source: 'lease' })
    known = false
    expect(await engine.decideKey({ key: 'x' })).toMatchObject({ outcome: 'allowed', source: 'store' })
    expect(calls).toEqual(['now', 'now', 'call'])
  })

  it.each([
    ['memory', () => memoryStore()],
    ['remote', () => remoteMemory()],
    ['remote, decides now', () => remoteMemory(memoryStore(), { decideNow: (group) => memoryStore().decideNow(group) })],
  ] as const)('does not charge a caller that has aborted (%s)', async (_, open) => {
    const [store, local] = [open(), memoryStore()]
    const limiter = createLimiter({ limit, store, onStoreFailure: local })
    const signal = AbortSignal.abort()
    const aborted = { outcome: 'undecided', allowed: false, degraded: { kind: 'aborted', executed: 'no' } }
    expect(await limiter.check('k', { signal })).toMatchObject(aborted)
    expect(await limiter.checkMany([{ key: 'k' }], { signal })).toMatchObject([aborted])
    const engine = createEngine({ policy: parsePolicy('version: 1\nrules: [{ name: all, key: [], rate: 10/s, burst: 20 }]\n'), store })
    expect(await engine.decideKey({ key: 'k' }, { signal })).toMatchObject(aborted)
    await expect(limiter.penalize('k', { signal })).rejects.toMatchObject({ kind: 'aborted', executed: 'no' })
    expect((await limiter.peek('k')).limits[0]?.remaining).toBe(20)
    expect(local.size).toBe(0)
  })

  it('charges several limits together or not at all, and names the one with the latest retry', async () => {
    const limits = { second: tokenBucket({ rate: '2/s', burst: 2 }), minute: tokenBucket({ rate: '2/min', burst: 2 }) }
    const limiter = createLimiter({ limits, clock: manualClock() })
    await limiter.check('k', { cost: 2 })
    expect(await limiter.check('k')).toMatchObject({ outcome: 'denied', limitName: 'minute', retryAfterMs: 30_000 })
  })

  it.each([-5, 0, Number.NaN, Number.POSITIVE_INFINITY, 1e309, 0.0000001, 2 ** 53, '5' as unknown as number])(
    'refuses a cost of %s before the store',
    async (cost) => {
      const limiter = createLimiter({ limit, store: failingStore() })
      await expect(limiter.check('k', { cost })).rejects.toMatchObject({ name: 'LimiterError', code: 'INVALID_COST' })
    },
  )

  it('takes costs of six decimals exactly', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 1 }), clock: manualClock() })
    for (let index = 0; index < 10; index += 1) expect((await limiter.check('k', { cost: 0.1 })).allowed).toBe(true)
    expect((await limiter.check('k', { cost: 0.000001 })).allowed).toBe(false)
  })

  it.each(['', 7 as unknown as string, undefined as unknown as string])('refuses %j as a key', async (key) => {
    await expect(createLimiter({ limit }).check(key)).rejects.toMatchObject({ code: 'INVALID_KEY' })
  })

  it('never lets two limiters, limits or keys share a bucket', async () => {
    const store = memoryStore()
    const one = tokenBucket({ rate: '1/day', burst: 1 })
    const names = [
      ['a', 'b:c', 'd'],
      ['a:b', 'c', 'd'],
      ['a', 'b', 'c:d'],
      ['a', 'b', 'c%003ad'],
      ['a', 'b', '{c}d'],
      ['a', 'b', '\ud800'],
      ['a', 'b', '\ud801'],
      ['a', 'b', '__proto__'],
      ['a', 'b', `${'x'.repeat(100_000)}1`],
      ['a', 'b', `${'x'.repeat(100_000)}2`],
    ]
    for (const [name, limitName, key] of names as [string, string, string][]) {
      const limiter = createLimiter({ name, limits: { [limitName]: one }, store })
      expect((await limiter.check(key)).allowed).toBe(true)
      expect((await limiter.check(key)).allowed).toBe(false)
    }
  })

  it('checks many in one call, each on its own', async () => {
    const limiter = createLimiter({ limit, clock: manualClock() })
    const decisions = await limiter.checkMany([{ key: 'a', cost: 20 }, { key: 'a' }, { key: 'b' }])
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'allowed'])
  })

  it('peeks, resets and closes', async () => {
    const limiter = createLimiter({ limit, clock: manualClock() })
    limiter.checkSync('k', { cost: 20 })
    expect((await limiter.peek('k')).outcome).toBe('denied')
    await limiter.reset('k')
    expect((await limiter.peek('k', { cost: 20 })).outcome).toBe('allowed')
    await limiter.close()
    await expect(limiter.check('k')).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('reports decisions to observers, and survives what they throw', async () => {
    const seen: string[] = []
    const observers = [
      {
        onDecision: () => {
          throw new Error('broken observer')
        },
      },
      { onDecision: (event: { decision: { outcome: string } }) => void seen.push(event.decision.outcome) },
    ]
    const limiter = createLimiter({ limit, observers, clock: manualClock() })
    await limiter.check('k', { cost: 20 })
    await limiter.check('k')
    expect(seen).toEqual(['allowed', 'denied'])
  })

  it.each<[object, string]>([
    [{ limit, limits: { a: limit } }, 'either limit or limits'],
    [{ limit, max: 5 }, 'unknown option max'],
    [{ limit, deadlineMs: 0 }, 'deadlineMs is 0'],
    [{ limit, onStoreFailure: 'open' }, 'onStoreFailure is "open", expected allow, deny, local or a store in this process'],
    [{ limits: {} }, 'no limit given'],
    [{ limit: { rate: '1/s' } }, 'is not a limit'],
    [{ limit, store: {} }, 'store is {}, expected a store, such as memoryStore()'],
    ...(['name', 'decide', 'decideNow', 'change', 'ready', 'close', 'capabilities'] as const).map((member): [object, string] => [
      { limit, store: { ...memoryStore(), [member]: undefined } },
      'expected a store, such as memoryStore()',
    ]),
    [{ limit, store: { ...memoryStore(), capabilities: { sync: true } } }, 'expected a store, such as memoryStore()'],
  ])('refuses %j', (options, message) => {
    expect(() => createLimiter(options as never)).toThrow(message)
    expect(() => createLimiter(options as never)).toThrow(LimiterError)
  })
})

describe('a store that fails', () => {
  it.each([
    ['deny', { outcome: 'undecided', allowed: false, limits: [] }],
    ['allow', { outcome: 'undecided', allowed: true, limits: [] }],
    ['local', { outcome: 'allowed', allowed: true, source: 'fallback' }],
  ] as const)('policy %s', async (onStoreFailure, expected) => {
    const limiter = createLimiter({ limit, store: failingStore('timeout', 'unknown'), onStoreFailure })
    expect(await limiter.check('k')).toMatchObject({ ...expected, degraded: { kind: 'timeout', executed: 'unknown' } })
  })

  it('local keeps the limit in this process', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 3 }), store: failingStore(), onStoreFailure: 'local' })
    const outcomes = await Promise.all([1, 2, 3, 4].map(async () => (await limiter.check('k')).outcome))
    expect(outcomes).toEqual(['allowed', 'allowed', 'allowed', 'denied'])
  })

  it('a memory store finds every spent state, and never holds more than it may', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1_000, clock })
    const slow = createLimiter({ name: 'slow', limit: tokenBucket({ rate: '1/day', burst: 1 }), clock, store })
    const quick = createLimiter({ name: 'quick', limit: tokenBucket({ rate: '10/s', burst: 1 }), clock, store })
    for (let key = 0; key < 999; key += 1) await slow.check(`k${key}`)
    await quick.check('one')
    expect((await quick.check('two')).outcome).toBe('undecided')
    clock.advance(100)
    expect((await quick.check('two')).outcome).toBe('allowed')
    expect((await slow.check('k0')).outcome).toBe('denied')
    expect(store.size).toBe(1_000)
  })

  it('stays within its bound and its memory, whatever is charged, forgotten and waited', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 50, clock })
    const limiters = ['10/s', '1/s', '1/min', '7/h'].map((rate) =>
      createLimiter({ name: rate, limit: tokenBucket({ rate, burst: 5 }), clock, store }),
    )
    let seed = 7
    const next = (most: number): number => (seed = (seed * 48_271) % 2_147_483_647) % most
    const spent = new Map<string, number>()
    for (let turn = 0; turn < draws(20_000, 5_000); turn += 1) {
      const limiter = limiters[next(4)] as (typeof limiters)[number]
      const key = `k${next(40)}`
      if (next(10) === 0) {
        await limiter.reset(key)
        spent.delete(limiter.name + key)
      } else {
        const decision = await limiter.check(key, { cost: 1 + next(5) })
        const alive = [...spent].filter(([id, at]) => at > clock.now() && id !== limiter.name + key).length
        // The store refuses a key for lack of room only if every place has a state that still counts.
        if (decision.outcome === 'undecided') expect(alive).toBe(50)
        else if (decision.outcome === 'allowed')
          spent.set(limiter.name + key, clock.now() + (decision.limits[0]?.resetAfterMs ?? 0) * 1_000)
      }
      expect(store.size).toBeLessThanOrEqual(50)
      clock.advance(next(200))
    }
  })

  it('a group whose own spent state goes to make room is counted whole', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 2, clock })
    const quick = { limit: tokenBucket({ rate: '10/s', burst: 1 }), cost: 1_000_000, phase: 0 }
    const slow = { limit: tokenBucket({ rate: '1/day', burst: 1 }), cost: 1_000_000, phase: 0 }
    const id = (key: string) => ({ id: { scope: { text: 's:' }, key } })
    store.decideNow({
      calls: [
        { ...id('a'), ...quick },
        { ...id('b'), ...slow },
      ],
    })
    clock.advance(100)
    expect(
      store.decideNow({
        calls: [
          { ...id('a'), ...quick },
          { ...id('c'), ...quick },
        ],
      }),
    ).toMatchObject({ failure: { kind: 'memory', executed: 'no' } })
    expect(store.size).toBeLessThanOrEqual(2)
  })

  it('may be an instance of a class: its methods are called on it, not copied', async () => {
    class Own implements Store {
      readonly #inner = memoryStore()
      readonly name = 'own'
      get capabilities(): Store['capabilities'] {
        return { clock: 'server', atomicBatch: 'any', changes: [], sync: false }
      }
      decide(...args: Parameters<Store['decide']>): ReturnType<Store['decide']> {
        return this.#inner.decide(...args)
      }
      decideNow(): undefined {
        expect(this.#inner.size).toBe(0)
      }
      change(...args: Parameters<Store['change']>): ReturnType<Store['change']> {
        return this.#inner.change(...args)
      }
      ready(): Promise<void> {
        return this.#inner.ready()
      }
      close(): Promise<void> {
        return this.#inner.close()
      }
    }
    expect(await createLimiter({ limit, store: new Own() }).check('k')).toMatchObject({ outcome: 'allowed', source: 'store' })
  })

  it.each([Number.NaN, 0, -1, 60_001, Number.POSITIVE_INFINITY])('a deadline of %s is refused before it is sent', async (deadlineMs) => {
    const limiter = createLimiter({ limit, store: failingStore() })
    await expect(limiter.check('k', { deadlineMs })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
  })

  it('a full memory store is undecided, not denied, and spent states make room', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit, clock, store: memoryStore({ maxKeys: 3, clock }) })
    for (const key of ['a', 'b', 'c']) expect((await limiter.check(key)).outcome).toBe('allowed')
    expect(await limiter.check('d')).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'memory' } })
    expect((await limiter.check('a')).outcome).toBe('allowed')
    clock.advance(100)
    expect((await limiter.check('d')).outcome).toBe('allowed')
  })
})
