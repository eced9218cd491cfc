import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../../src/index.ts'
import { Overflow } from '../../../src/stores/memory/overflow.ts'
import { manualClock } from '../../../src/time/manual.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

/** Of so many keys, at least one has the state of a given key, of 1,024 that are chosen at random: none has it once in 10^6 times. */
const MANY = 16_000

describe('a peek at a store without room', () => {
  it.each([undefined, 'deny', 'allow', 'shared'] as const)('with onFull %s sees what a check would be answered', async (onFull) => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, clock, ...(onFull === undefined ? {} : { onFull }) })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 2 }), store, clock })
    await limiter.check('first')
    const seen = await limiter.peek('second')
    expect(await limiter.check('second')).toEqual(seen)
    expect(seen.outcome).toBe(onFull === 'shared' ? 'denied' : 'undecided')
    expect(store.size).toBe(1)
  })
})

describe('limits of many plans on one store', () => {
  it('find their plans by what they are: the last of 5,000 costs what the first does', () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const limiters = Array.from({ length: 5_000 }, (_, index) =>
      createLimiter({ name: `plan${index}`, limit: tokenBucket({ rate: `${index + 1}/h`, burst: 10 }), store, clock }),
    )
    // One assertion checks all limiters, because an assertion takes longer than a check.
    expect(limiters.filter((limiter) => limiter.checkSync('one').outcome !== 'allowed')).toHaveLength(0)
    expect(limiters.filter((limiter) => limiter.checkSync('two', { cost: 10 }).limits[0]?.remaining !== 0)).toHaveLength(0)
    expect(store.size).toBe(10_000)
    expect(limiters.filter((limiter) => limiter.checkSync('one').limits[0]?.remaining !== 8)).toHaveLength(0)
  })

  it('penalties over several limits find room for all, or take nothing', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 3, clock })
    const limits = { one: tokenBucket({ rate: '1/h', burst: 10 }), two: tokenBucket({ rate: '2/h', burst: 10 }) }
    const limiter = createLimiter({ limits, store, clock })
    await limiter.penalize('a')
    await expect(limiter.penalize('b')).rejects.toMatchObject({ kind: 'memory', executed: 'no' })
    expect(store.size).toBe(2)
  })
})

describe('a group over a key that is known and one that there is no room for', () => {
  const limit = tokenBucket({ rate: '1/h', burst: 10 })
  const call = (key: string, cost: number) => ({ id: { scope: { text: 'p:tb:' }, key }, limit, cost: cost * 1e6, phase: 0 })

  it('charges the state of the one and the shared state of the other, or neither', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock })
    await verbs.decide(store, [{ calls: [call('known', 9)] }])
    // The overflow state that `unknown` shares starts empty. Six hours later it has six tokens.
    await verbs.decide(store, [{ calls: [call('unknown', 1)] }])
    clock.advance(6 * 3_600_000)
    const group = [{ calls: [call('known', 4), call('unknown', 2)] }]
    const [seen] = await verbs.peek(store, group)
    const [charged] = await verbs.decide(store, group)
    expect(seen).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 7 }, { remaining: 6 }] })
    expect(charged).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 3 }, { remaining: 4 }] })
    const [denied] = await verbs.decide(store, [{ calls: [call('known', 1), call('unknown', 5)] }])
    expect(denied).toMatchObject({ outcome: 'denied', reason: 'overflow', calls: [{ remaining: 3 }, { remaining: 4 }] })
    expect((await verbs.decide(store, [{ calls: [call('known', 4), call('unknown', 1)] }]))[0]).toMatchObject({ outcome: 'denied' })
    expect((await verbs.decide(store, [{ calls: [call('known', 3), call('unknown', 4)] }]))[0]).toMatchObject({
      outcome: 'allowed',
      calls: [{ remaining: 0 }, { remaining: 0 }],
    })
    expect(store.size).toBe(1)
  })

  it('is seen by a peek as a check finds it where a spent state of the group makes room for another of it', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock })
    await verbs.decide(store, [{ calls: [call('spent', 1)] }])
    await verbs.decide(store, [{ calls: [call('unknown', 1)] }])
    clock.advance(6 * 3_600_000)
    const group = [{ calls: [call('spent', 4), call('unknown', 2)] }]
    const [seen] = await verbs.peek(store, group)
    // In rare cases both keys share one overflow state. Then only the outcome is compared: the numbers of a peek do not contain the charge
    // of the other call.
    expect((await verbs.decide(store, group))[0]).toEqual(seen?.outcome === 'allowed' ? { ...seen, calls: expect.anything() } : seen)
  })

  it('charges the one shared state for both keys where two without room meet in it', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock })
    await verbs.decide(store, [{ calls: [call('known', 10)] }])
    const decide = async (...calls: readonly ReturnType<typeof call>[]) => (await verbs.decide(store, [{ calls }]))[0]
    const keys = Array.from({ length: MANY }, (_, index) => `key ${index}`)
    // Each shared state begins empty, and has six tokens after six hours. The key `one` then takes all six of its shared state.
    for (const key of ['one', ...keys]) await decide(call(key, 1))
    clock.advance(6 * 3_600_000)
    expect(await decide(call('one', 6))).toMatchObject({ outcome: 'allowed' })
    let other: string | undefined
    for (const key of keys) if ((await verbs.peek(store, [{ calls: [call(key, 1)] }]))[0]?.outcome === 'denied') other = key
    if (other === undefined) throw new Error(`none of ${MANY} keys has the shared state of the first`)
    clock.advance(6 * 3_600_000)
    expect(await decide(call('one', 4), call(other, 3))).toMatchObject({ outcome: 'denied', reason: 'overflow' })
    expect(await decide(call('one', 4), call(other, 2))).toMatchObject({
      outcome: 'allowed',
      calls: [{ remaining: 2 }, { remaining: 0 }],
    })
    expect(await decide(call(other, 1))).toMatchObject({ outcome: 'denied' })
  })
})

describe('states that keys share', () => {
  const limit = tokenBucket({ rate: '1/h', burst: 10 })
  const now = 1_763_692_800_000_000

  it('are there for 256 limits; of more, the one that has them longest begins with empty ones', () => {
    const overflow = new Overflow()
    expect(overflow.trace('scope0', 7)).toBeUndefined()
    for (let scope = 0; scope < 256; scope += 1) overflow.write(`scope${scope}`, 7, scope)
    for (let scope = 0; scope < 256; scope += 1) expect(overflow.trace(`scope${scope}`, 7)).toBe(scope)
    overflow.write('scope0', 8, 'again')
    expect([overflow.trace('scope0', 7), overflow.trace('scope1', 7)]).toEqual([0, 1])
    overflow.write('scope256', 7, 256)
    expect(['scope0', 'scope1', 'scope256'].map((scope) => overflow.trace(scope, 7))).toEqual([undefined, 1, 256])
    expect(overflow.trace('scope0', 8)).toBeUndefined()
  })

  it('are 1,024 of a limit, and start with nothing', () => {
    const overflow = new Overflow()
    const empty = overflow.read('scope', 7, limit, now, 0, false)
    expect(limit.algorithm.view(limit.plan, empty as never, now, 0)).toMatchObject({ remaining: 0, resetAfter: 36_000_000_000 })
    expect(overflow.read('scope', 7 + 1_024, limit, now + 5, 0, false)).toBe(empty)
    expect(overflow.trace('scope', 6)).toBeUndefined()
    expect(overflow.trace('scope', 7 + 1_023)).toBeUndefined()
  })
})

describe('R6: the shared states of a process', () => {
  const hour = 3_600_000
  /** The keys, of so many, whose shared state is the victim's. */
  const meeting = async (): Promise<string[]> => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 10 }), store, clock })
    await limiter.check('first', { cost: 10 })
    const keys = Array.from({ length: MANY }, (_, index) => `aimed${index}`)
    for (const key of [...keys, 'victim']) limiter.checkSync(key)
    clock.advance(hour)
    // Each shared state has one token now, and the victim takes the token of its own. A key that is denied after that shares the victim's
    // state.
    expect(limiter.checkSync('victim')).toMatchObject({ outcome: 'allowed' })
    const met: string[] = []
    for (const key of keys) if ((await limiter.peek(key)).outcome === 'denied') met.push(key)
    return met
  }

  it('are chosen by a hash that is seeded in each process: nobody outside can aim at one', async () => {
    const [one, two] = [await meeting(), await meeting()]
    expect(one.length).toBeGreaterThan(0)
    expect(two.filter((key) => one.includes(key)).length).toBeLessThan(one.length)
  })
})

describe('a full store', () => {
  const limit = tokenBucket({ rate: '1/h', burst: 10 })

  it('moves a block that is there, finds no room for another, and is empty once it was closed', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, clock })
    const limiter = createLimiter({ limit, store, clock })
    await limiter.block('a', 1_000)
    await limiter.block('a', 60_000)
    await expect(limiter.block('b', 1_000)).rejects.toMatchObject({ kind: 'memory' })
    const blocked = await limiter.check('a')
    expect(blocked).toMatchObject({ outcome: 'denied', reason: 'blocked', retryAfterMs: 60_000 })
    expect(blocked).not.toHaveProperty('degraded')
    const [verdict] = await verbs.decide(store, [
      { calls: [{ id: { scope: { text: 'default:default:tb:' }, key: 'a' }, limit, cost: 1e6, phase: 0 }] },
    ])
    expect(verdict).not.toHaveProperty('reason')
    await store.close()
    expect(store.size).toBe(0)
    expect(await limiter.check('a')).toMatchObject({ outcome: 'allowed' })
  })

  it.each([
    ['allow', { onFull: 'allow' }],
    ['deny', { onFull: 'deny' }],
    [undefined, {}],
  ] as const)('with onFull %s fails a group, and says %o', async (onFull, said) => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, clock, ...(onFull === undefined ? {} : { onFull }) })
    const call = (key: string) => ({ id: { scope: { text: 'f:tb:' }, key }, limit, cost: 1e6, phase: 0 })
    const failed = { failure: expect.objectContaining({ kind: 'memory', executed: 'no' }), ...said }
    const groups = [{ calls: [call('a'), call('b')] }]
    expect(await store.decide(groups, { charge: false })).toEqual([failed])
    expect(await store.decide(groups)).toEqual([failed])
    expect(store.size).toBe(0)
  })
})
