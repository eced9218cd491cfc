import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { concurrency, tokenBucket } from '../../../src/index.ts'
import { bareRedisStore, ioredis, type RedisPort } from '../../../src/stores/redis/index.ts'
import { swapProgram } from '../../../src/stores/redis/programs.gen.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { idleLimit } from '../families/idle-window.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `swap-${process.pid}:`

describe.skipIf(url === undefined)('states of an algorithm without a program', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  let store: Store
  beforeAll(async () => {
    await redis.connect()
    store = bareRedisStore({ client: ioredis(redis), prefix })
  })
  afterAll(() => redis.quit())

  const call = (key: string, limit: AnyLimit = idleLimit(10, 60)): Call => {
    return { id: { scope: { text: `l:l:${limit.algorithm.tag}:` }, key }, limit, cost: 1_000_000, phase: 0 }
  }
  const numbersOf = async (one: Call) => readValue(await redis.getBuffer(plainName(prefix, one.id))).numbers
  const remaining = async (...calls: Call[]) => (await store.decide([{ calls }]))[0]?.calls?.map((verdict) => verdict.remaining)

  it('live until they equal the initial state, and keep negative and large numbers', async () => {
    const limit = idleLimit(10, 60)
    const { codec } = limit.algorithm
    const shifted = {
      ...codec,
      encodeState: (state: unknown) => [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -1, ...codec.encodeState(state)],
      decodeState: ([, , , ...numbers]: readonly number[]) => codec.decodeState(numbers),
    }
    const one = call('numbers', { ...limit, algorithm: { ...limit.algorithm, codec: shifted } })
    expect([await remaining(one), await remaining(one)]).toEqual([[9], [8]])
    expect((await numbersOf(one))?.slice(0, 4)).toEqual([-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -1, 2_000_000])
    const left = await redis.pttl(plainName(prefix, one.id))
    expect(left).toBeGreaterThan(50_000)
    expect(left).toBeLessThanOrEqual(60_000)
  })

  it('are blocked, unblocked and forgotten by the programs, also long ones', async () => {
    const limit = idleLimit(10, 60)
    const { codec } = limit.algorithm
    const long = { ...codec, encodeState: (state: unknown) => [...codec.encodeState(state), ...Array.from({ length: 1_000 }, () => 7)] }
    const one = call('long', { ...limit, algorithm: { ...limit.algorithm, codec: long } })
    await remaining(one)
    const before = await numbersOf(one)
    expect(before).toHaveLength(1_003)
    await store.change([{ kind: 'block', id: one.id, micros: 60_000_000 }])
    expect(await store.decide([{ calls: [one] }])).toMatchObject([{ outcome: 'denied', calls: [{ blockedFor: expect.any(Number) }] }])
    expect(await numbersOf(one)).toEqual(before)
    await store.change([{ kind: 'unblock', id: one.id }])
    expect(await remaining(one)).toEqual([8])
    await store.change([{ kind: 'reset', id: one.id }])
    expect(await numbersOf(one)).toBeUndefined()
  })

  it('are decided in a group with a bucket of which tokens are leased', async () => {
    const bucket = call('leased', tokenBucket({ rate: '1/day', burst: 10 }))
    const request = { call: bucket, want: 5_000_000, holder: 7, sequence: 1, life: 60_000_000, kept: 0, returned: 0 }
    expect(await store.lease?.([request])).toMatchObject([{ granted: 5_000_000 }])
    expect(await remaining(bucket, call('leased'))).toEqual([4, 9])
    expect(await remaining(bucket)).toEqual([3])
    expect(await store.lease?.([{ ...request, sequence: 2, returned: 5_000_000, want: 0 }])).toMatchObject([{ granted: 0 }])
    expect(await remaining(bucket, call('leased'))).toEqual([7, 8])
  })

  it('of a newer version fail alone, with their groups', async () => {
    const [newer, other] = [call('newer', tokenBucket({ rate: '1/day', burst: 10 })), call('other')]
    await redis.set(plainName(prefix, newer.id), Buffer.from([1, 2, 3]), 'PX', 60_000)
    const setup = { failure: { kind: 'setup', executed: 'no' } }
    expect(await store.decide([{ calls: [other, newer] }, { calls: [other] }])).toMatchObject([setup, { calls: [{ remaining: 9 }] }])
    await redis.set(plainName(prefix, other.id), Buffer.from([1, 2, 3]), 'PX', 60_000)
    expect(await store.change([{ kind: 'adjust', call: other, amount: 1_000_000 }])).toMatchObject([setup])
    expect(await redis.getBuffer(plainName(prefix, other.id))).toEqual(Buffer.from([1, 2, 3]))
  })

  it('count as new keys', async () => {
    // Its clock stops: no further key may be made.
    const bounded = bareRedisStore({ client: ioredis(redis), prefix, clock: manualClock(), maxNewKeys: 1 })
    const decided = async (key: string) => (await bounded.decide([{ calls: [call(key)] }]))[0]
    expect(await decided('new1')).toMatchObject({ outcome: 'allowed' })
    expect(await decided('new2')).toMatchObject({ failure: { kind: 'memory', executed: 'no' } })
    expect(await decided('new1')).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 8 }] })
    expect(await numbersOf(call('new2'))).toBeUndefined()
  })

  it('are contended, with nothing charged, where others always write first; the groups of programs are decided', async () => {
    const [one, bucket] = [call('contended'), call('contended', tokenBucket({ rate: '1/day', burst: 10 }))]
    const port = ioredis(redis)
    let swaps = 0
    const evalsha: RedisPort['evalsha'] = async (sha1, keys, args) => {
      const reply = await port.evalsha(sha1, keys, args)
      if (sha1 !== swapProgram.sha1 || reply === 0 || reply === 1) return reply
      swaps += 1
      // Another process charges between the read and the write.
      await remaining(one)
      return reply
    }
    const contended = bareRedisStore({ client: { ...port, evalsha }, prefix })
    const verdicts = await contended.decide([{ calls: [one] }, { calls: [bucket] }], { onContention: 'fail' })
    expect(verdicts).toMatchObject([{ failure: { kind: 'contention', executed: 'no' } }, { calls: [{ remaining: 9 }] }])
    expect(swaps).toBe(3)
    expect(await remaining(one)).toEqual([6])
  })

  it.each([
    ['were given back', 60_000_000, true],
    ['ended', 1, false],
  ])('are not taken for unchanged where slots were taken and %s between a read and a write', async (what, micros, released) => {
    const slots = concurrency({ limit: 1, holdMs: 60_000 })
    const one = call(`slots ${what}`, { ...slots, algorithm: { ...slots.algorithm, tag: 'xx' as AlgorithmTag } })
    const grantTo = async (by: Store, id: string, hold = 60_000_000) =>
      (await verbs.decide(by, [{ calls: [one], options: { hold: { id, micros: hold } } }]))[0]?.calls[0]?.grant
    const port = ioredis(redis)
    const [fences, turns] = [[] as (number | undefined)[], 2]
    const evalsha: RedisPort['evalsha'] = async (sha1, keys, args) => {
      const reply = await port.evalsha(sha1, keys, args)
      if (sha1 !== swapProgram.sha1 || reply === 0 || reply === 1 || fences.length === turns) return reply
      const id = `other ${fences.length}`
      fences.push((await grantTo(store, id, micros))?.fence)
      if (released) await store.change([{ kind: 'release', call: one, holder: id }])
      else await new Promise((resolve) => setTimeout(resolve, 5))
      return reply
    }
    fences.push((await grantTo(bareRedisStore({ client: { ...port, evalsha }, prefix }), 'late'))?.fence)
    expect(fences).toHaveLength(turns + 1)
    expect(fences).toEqual(fences.toSorted((before, after) => (before ?? 0) - (after ?? 0)))
    await redis.del(plainName(prefix, one.id))
  })
})
