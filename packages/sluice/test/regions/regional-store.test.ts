import { describe, expect, it } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  type Limiter,
  memoryStore,
  slidingWindowCounter,
  slidingWindowLog,
  StoreFailure,
  tokenBucket,
} from '../../src/index.ts'
import { manualClock } from '../../src/clock.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { type RegionalStore, regionalStore } from '../../src/regions.ts'
import { remoteStore } from '../../src/remote.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { seeded } from '../../src/testing/random.ts'
import { farStore } from '../stores/remote/far-store.ts'

const LIMITS = {
  bucket: tokenBucket({ rate: '10/s', burst: 20 }),
  window: fixedWindow({ limit: 20, window: '1s' }),
  counter: slidingWindowCounter({ limit: 20, window: '1s' }),
  log: slidingWindowLog({ limit: 20, window: '1s' }),
}
const store = (self: string, peers: readonly string[], inner = memoryStore()): RegionalStore => regionalStore({ store: inner, self, peers })

describe('regionalStore', () => {
  it('grants a region its part of every limit, by equal weights or by those of its own', async () => {
    const limiter = createLimiter({ limits: LIMITS, store: store('us', ['eu', 'ap']) })
    const first = await limiter.check('k', { cost: 6 })
    expect(first.limits.map(({ limit, remaining }) => [limit, remaining])).toEqual(Object.keys(LIMITS).map(() => [20, 0]))
    expect((await limiter.check('k', { cost: 0.7 })).outcome).toBe('denied')
    expect(store('us', ['eu', 'ap']).weights).toEqual({ ap: 334, eu: 333, us: 333 })
    const weighted = regionalStore({ store: memoryStore(), self: 'eu', weights: { eu: 750, us: 250 } })
    expect([weighted.self, weighted.name, weighted.weights]).toEqual(['eu', 'memory', { eu: 750, us: 250 }])
    expect((await createLimiter({ limits: LIMITS, store: weighted }).check('k', { cost: 15 })).outcome).toBe('allowed')
  })

  it.each(Object.entries(LIMITS))('admits over all regions at most what a %s admits, over every interval', async (_, limit) => {
    for (const names of [['eu'], ['eu', 'us'], ['ap', 'eu', 'us']]) {
      const clock = manualClock(1_763_692_800_123)
      const random = seeded(20_261_123)
      const limiters = names.map((self) => {
        const inner = regionalStore({ store: memoryStore({ clock }), self, peers: names.filter((name) => name !== self) })
        return createLimiter({ limit, store: inner, clock })
      })
      const seen: TraceEntry[] = []
      for (let call = 0; call < 300; call += 1) {
        clock.advance(random() < 0.9 ? Math.floor(random() * 20) : Math.floor(random() * 2_000))
        const cost = Math.max(1, Math.round(random() * 3_000)) / 1_000
        const { allowed } = (limiters[Math.floor(random() * names.length)] as Limiter).checkSync('k', { cost })
        seen.push({ at: clock.now(), cost, allowed })
      }
      expect(audit(seen, limit).overGrant).toBe(0)
      // After 10 s all parts are full, and together they are the limit. A part may keep a remainder of less than 0.1 tokens, the cost of a
      // call.
      clock.advance(10_000)
      const left = limiters.map((limiter) => {
        let taken = 0
        while (limiter.checkSync('k', { cost: 0.1 }).allowed) taken += 1
        return taken
      })
      expect(left.reduce((sum, taken) => sum + taken, 0)).toBeGreaterThanOrEqual(200 - names.length)
    }
  })

  it('denies a cost that only the whole limit could grant, without a wait, and what none could is impossible', async () => {
    const inner = store('eu', ['us'])
    const limiter = createLimiter({ limits: { bucket: LIMITS.bucket, other: LIMITS.log }, store: inner })
    for (const call of [limiter.check('k', { cost: 11 }), limiter.peek('k', { cost: 11 }), limiter.wait('k', { cost: 11, maxWaitMs: 0 })]) {
      const decision = await call
      expect(decision).toMatchObject({ outcome: 'denied', limitName: 'bucket', reason: 'quota' })
      expect(decision).not.toHaveProperty('retryAfterMs')
      expect(decision.limits.map(({ remaining }) => remaining)).toEqual([10, 10])
    }
    expect(await limiter.check('k', { cost: 21 })).toMatchObject({ outcome: 'impossible', reason: 'capacity' })
    expect(createLimiter({ limit: LIMITS.bucket, store: inner }).checkSync('l', { cost: 11 })).toMatchObject({ outcome: 'denied' })
    expect(createLimiter({ limit: LIMITS.bucket, store: inner }).checkSync('l', { cost: 21 })).toMatchObject({ outcome: 'impossible' })
  })

  it('a caller that waits for more than the part is denied at once, and holds up nobody behind it', async () => {
    const clock = manualClock(1_763_692_800_000)
    for (const limit of [LIMITS.window, LIMITS.counter, LIMITS.log]) {
      const limiter = createLimiter({ limit, store: store('eu', ['us'], memoryStore({ clock })), clock })
      const large = limiter.wait('k', { cost: 15, maxWaitMs: 60_000 })
      const small = limiter.wait('k', { cost: 5, maxWaitMs: 60_000 })
      expect((await large).outcome).toBe('denied')
      expect((await small).outcome).toBe('allowed')
    }
  }, 5_000)

  it('makes changes, holds and waits on the part', async () => {
    const clock = manualClock(1_763_692_800_000)
    const limiter = createLimiter({ limit: LIMITS.bucket, store: store('eu', ['us'], memoryStore({ clock })), clock })
    const held = await limiter.reserve('k', { cost: 8, holdMs: 10_000 })
    expect((await limiter.check('k', { cost: 3 })).outcome).toBe('denied')
    await held.settle(2)
    expect(limiter.checkSync('k', { cost: 8 }).limits).toMatchObject([{ remaining: 0 }])
    await limiter.refund('k', { cost: 20 })
    expect((await limiter.peek('k')).limits).toMatchObject([{ remaining: 10 }])
    await limiter.penalize('k', { cost: 10 })
    const waited = limiter.wait('k', { cost: 1, maxWaitMs: 1_000 })
    clock.advance(200)
    expect((await waited).outcome).toBe('allowed')
    await limiter.block('k', 1_000)
    expect((await limiter.check('k')).reason).toBe('blocked')
    await limiter.reset('k')
    const slots = createLimiter({ limit: concurrency({ limit: 4, holdMs: 1_000 }), store: store('eu', ['us']) })
    expect([1, 2, 3].map(() => slots.checkSync('k').outcome)).toEqual(['allowed', 'allowed', 'denied'])
  })

  it('refuses a limit whose part cannot grant a call, and one that has no exact parts, when it is made and in a policy', () => {
    const small = tokenBucket({ rate: '1/day', burst: 1 })
    expect(() => createLimiter({ name: 'api', limits: { daily: small }, store: store('eu', ['us']) })).toThrow(
      expect.objectContaining({
        code: 'NOT_SUPPORTED',
        message:
          'limiter api: limit daily: the part of region eu, 500 of 1000 units, is at most 0.5 of 1 tokens: less than a call costs. Raise it, or give it to one region',
      }),
    )
    const whole = regionalStore({ store: memoryStore(), self: 'eu', weights: { eu: 1000, us: 0 } })
    expect(createLimiter({ limit: small, store: whole }).checkSync('k').allowed).toBe(true)
    const slow = tokenBucket({ rate: '0.000001/1000s', burst: 1 })
    expect(() =>
      createLimiter({ limit: slow, store: regionalStore({ store: memoryStore(), self: 'us', weights: { eu: 3, us: 900 } }) }),
    ).toThrow('limit default: the part of region eu, 3 of 1000 units, cannot be represented exactly')
    const policy = parsePolicy('{ version: 1, rules: [{ name: login, key: [], algorithm: sliding-window-log, limit: 1, window: 1h }] }')
    expect(() => createEngine({ policy, store: store('eu', ['us']) })).toThrow('rule login: the part of region eu, 500 of 1000 units')
    const overridden = parsePolicy(`version: 1
rules: [{ name: user, key: ["header:x-user"], rate: 100/s, burst: 2000 }]
overrides: [{ rule: user, key: partner, algorithm: concurrency, limit: 1, hold: 10s }]`)
    expect(() => createEngine({ policy: overridden, store: store('eu', ['us']) })).toThrow(
      'overrides[0] of rule user: the part of region eu, 500 of 1000 units',
    )
    const ramp = fixedWindow({ limit: '99999.999999', window: '2d', ramp: '99999999999us' })
    const third = regionalStore({ store: memoryStore(), self: 'eu', weights: { eu: 333 } })
    expect(() => createLimiter({ limit: ramp, store: third })).toThrow('333 of 1000 units, cannot be represented exactly')
  })

  it('fails a group with a limit that was refused, and decides the others', async () => {
    const inner = store('eu', ['us'])
    const call = (limit: typeof LIMITS.bucket) => ({ id: { scope: { text: 's:tb:' }, key: 'k' }, limit, cost: 1_000_000, phase: 0 })
    const groups = [{ calls: [call(tokenBucket({ rate: '1/s', burst: 1 }))] }, { calls: [call(LIMITS.bucket)] }]
    const failure = { failure: { kind: 'unavailable', executed: 'no' } }
    expect(await inner.decide(groups)).toMatchObject([failure, { outcome: 'allowed' }])
    expect(inner.decideNow?.(groups[0] as (typeof groups)[0])).toMatchObject(failure)
    expect(inner.decideNow?.({ calls: groups.flatMap(({ calls }) => calls) })).toMatchObject(failure)
  })

  it('takes one set of regions, each named once', () => {
    const make = (options: object) => () => regionalStore({ store: memoryStore(), self: 'eu', ...options })
    const cases: readonly (readonly [object, string])[] = [
      [{}, 'regionalStore: give either peers or weights, and not both'],
      [{ peers: ['us'], weights: { eu: 1 } }, 'give either peers or weights'],
      [{ peers: ['us', 'us'] }, 'peers are ["us","us"], expected the names of the other regions, each once'],
      [{ peers: ['eu'] }, 'expected the names of the other regions'],
      [{ peers: [''] }, 'peers is "", expected a name'],
      [{ self: '', peers: [] }, 'self is "", expected a name'],
      [{ weights: { eu: 600, us: 500 } }, 'weights are 1100 together, expected at most 1000'],
      [{ weights: { eu: 0.5 } }, 'weights.eu is 0.5, expected a whole number from 0 to 1000'],
      [{ weights: { us: 500 } }, 'weights.eu is undefined, expected at least 1'],
      [{ weights: { eu: 0, us: 500 } }, 'weights.eu is 0, expected at least 1'],
      [{ peers: ['us'], region: 'eu' }, 'unknown option region; known are store, self, peers, weights'],
    ]
    for (const [options, message] of cases) expect(make(options)).toThrow(message)
  })

  it('keeps to the part in the local fallback too', async () => {
    const away = { ...farStore(memoryStore()), decide: () => Promise.reject(new StoreFailure('unavailable', 'no', 'away')) }
    const inner = regionalStore({ store: away, self: 'eu', peers: ['us'] })
    const limiter = createLimiter({ limit: LIMITS.bucket, store: inner, onStoreFailure: 'local' })
    const decision = await limiter.check('k', { cost: 10 })
    expect([decision.outcome, decision.source, decision.limits[0]?.remaining]).toEqual(['allowed', 'fallback', 0])
    await limiter.close()
  })

  it('is over a store with a ring, or inside one', async () => {
    for (const made of [
      regionalStore({ store: remoteStore(farStore(memoryStore())), self: 'eu', peers: ['us'] }),
      remoteStore(regionalStore({ store: farStore(memoryStore()), self: 'eu', peers: ['us'] })),
    ]) {
      const limiter = createLimiter({ limit: LIMITS.bucket, store: made })
      const decisions = await Promise.all(Array.from({ length: 12 }, () => limiter.check('k')))
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
      expect(await limiter.check('j', { cost: 11 })).toMatchObject({ outcome: 'denied' })
      expect(await limiter.check('j', { cost: 10 })).toMatchObject({ outcome: 'allowed' })
      await limiter.close()
    }
  })
})
