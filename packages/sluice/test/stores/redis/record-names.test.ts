import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { recordOf } from '../../../src/limiter/held-group.ts'
import { redisStore } from '../../../src/redis.ts'
import { ioredis } from '../../../src/stores/redis/index.ts'
import { keySlot } from '../../../src/stores/redis/key-slot.ts'
import { plainLayout } from '../../../src/stores/redis/layout.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const scope = { text: 'api:perUser:tb:' }

describe('the name of a hold’s record in Redis', () => {
  it('has the hash tag of its key and a digest, and at most 44 characters', () => {
    const name = plainName('sluice:', recordOf('api', 'user:42', 'i'.repeat(128)))
    expect(name).toMatch(/^sluice:\{2Zn\}ho:[\w-]{22}$/)
    expect(name.length).toBeLessThanOrEqual(44)
    expect(plainName('sluice:', { scope, key: 'user:42' })).toBe('sluice:{2Zn}api:perUser:tb:user:42')
  })

  it.each([
    ['short', 'user:42'],
    ['escaped', 'a {b}'],
    ['replaced by its digest', 'k'.repeat(300)],
    ['like a scope', ':ho:'],
  ])('has the slot of the limits of its key, which is %s', (_, key) => {
    const { slotOf } = plainLayout('sluice:')
    const record = recordOf('api', key, 'order-1')
    const tag = /\{(.*)\}/.exec(plainName('sluice:', record))?.[1] ?? ''
    expect(keySlot(tag)).toBe(slotOf(record))
    expect(slotOf(record)).toBe(slotOf({ scope, key }))
  })

  it('differs by limiter, key and id', () => {
    const texts = ['a', 'b', 'a:b', ':', 'ho', 'a:ho', '1', 'k'.repeat(300)]
    const ids = texts.flatMap((limiter) => texts.flatMap((key) => texts.map((id) => recordOf(limiter, key, id))))
    expect(new Set(ids.map((id) => plainName('', id))).size).toBe(texts.length ** 3)
    // Also when each was named before.
    const many = Array.from({ length: 1_500 }, (_, index) => recordOf('api', 'user:42', String(index)))
    const names = many.map((id) => plainName('', id))
    expect(new Set(names).size).toBe(1_500)
    expect(many.map((id) => plainName('', id))).toEqual(names)
  })
})

describe.skipIf(url === undefined)('the memory of a hold’s record in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const prefix = `rec-${process.pid % 1_000}:`
  beforeAll(() => redis.connect())
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })

  it.each([
    [1, 250, undefined],
    [10, 130, undefined],
    [10, 146, 20],
  ])('with %i open on a key at most %i bytes each, maxHolds %s', async (count, most, maxHolds) => {
    const own = `${prefix}${count}${maxHolds ?? ''}:`
    const store = redisStore({ client: ioredis(redis), prefix: own })
    const limit = tokenBucket({ rate: '100000/min', burst: 100_000 })
    const limiter = createLimiter({ name: 'api', limit, store, deadlineMs: 10_000, ...(maxHolds === undefined ? {} : { maxHolds }) })
    const holds = await Promise.all(Array.from({ length: count }, () => limiter.reserve('user:42', { cost: 4_000 })))
    expect(holds.map(({ decision }) => decision.outcome)).toEqual(Array.from({ length: count }, () => 'allowed'))
    const records = await redis.keys(`${own}*}ho:*`)
    expect(records).toHaveLength(count)
    const bytes = await Promise.all(records.map((name) => redis.memory('USAGE', name)))
    expect(Math.max(...bytes.map(Number))).toBeLessThanOrEqual(most)
    for (const { settle } of holds) expect((await settle(1_000)).status).toBe('settled')
  })
})
