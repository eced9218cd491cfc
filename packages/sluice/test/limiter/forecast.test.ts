import { Redis } from 'ioredis'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createLimiter, fixedWindow, memoryStore, tokenBucket } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { withDividedLimit } from '../../src/remote.ts'
import { LIMITS } from '../../src/testing/limits.ts'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'
import { systemTime } from '../../src/time/system.ts'
import type { Time } from '../../src/time/time.ts'
import { remoteMemory, switchable } from '../remote-memory.ts'

const { redis: url } = inject('engines')
const HOUR_MS = 3_600_000
/** Milliseconds since 1970 by a clock. */
const wallOf = (clock: Time): number => clock.wall?.() ?? clock.now() / 1_000

describe('peek at a later instant', () => {
  it('reports outcome, wait and views of that instant, and charges nothing', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 10 }), clock })
    await limiter.check('k', { cost: 10 })
    const at = new Date(wallOf(clock) + 4_000)
    expect(await limiter.peek('k', { at })).toMatchObject({
      outcome: 'allowed',
      at: at.getTime(),
      limits: [{ remaining: 4, replenishAfterMs: 1_000, resetAfterMs: 6_000 }],
    })
    expect(await limiter.peek('k', { at: at.getTime(), cost: 6 })).toMatchObject({ outcome: 'denied', retryAfterMs: 2_000 })
    expect(await limiter.peek('k', { cost: 6 })).toMatchObject({ outcome: 'denied', retryAfterMs: 6_000, limits: [{ remaining: 0 }] })
    expect(await limiter.peek('k', { at, cost: 11 })).toMatchObject({ outcome: 'impossible' })
  })

  it.each(LIMITS.map((limit, nth) => [nth, limit] as const))('equals a peek then, limit %i', async (nth, limit) => {
    const random = seeded(nth + 1)
    const clock = manualClock()
    const store = memoryStore({ clock })
    const limiter = createLimiter({ limits: { one: limit, other: tokenBucket({ rate: '5/min', burst: 20 }) }, store, clock })
    const ticks: readonly number[] = [1, 40, 999, 30_000, 5 * HOUR_MS]
    let ahead = 0
    // The store as it is, called so much later.
    const then: typeof store = {
      ...store,
      decide: (groups, options) => store.decide(groups, { ...options, now: clock.now() + ahead * 1_000 }),
    }
    const later = createLimiter({ limits: limiter.limits, store: then, clock })
    for (let turn = 0; turn < 24; turn += 1) {
      const cost = Math.min(limit.capacity, 20, 1 + Math.floor(random() * 4))
      if (turn % 9 === 8) await limiter.penalize('k', { cost })
      else await limiter.check('k', { cost })
      if (turn % 13 === 12) await limiter.block('k', '20s')
      ahead = ticks[Math.floor(random() * ticks.length)] as number
      expect(await limiter.peek('k', { cost, at: wallOf(clock) + ahead })).toEqual(await later.peek('k', { cost }))
      if (random() < 0.6) clock.advance(ahead)
    }
  })

  it('does not depend on the clock of the process', async () => {
    const server = manualClock()
    for (const hours of [-1, 1]) {
      const clock = manualClock(server.now() + hours * HOUR_MS * 1_000)
      const store = remoteMemory(memoryStore({ clock: server }))
      const limiter = createLimiter({ limit: tokenBucket({ rate: '1/min', burst: 10 }), store, clock })
      await limiter.check('k', { cost: 10 })
      const seen = await limiter.peek('k', { at: wallOf(clock) + 5 * 60_000 })
      expect([seen.limits[0]?.remaining, seen.at]).toEqual([5, wallOf(server) + 5 * 60_000])
    }
  })

  it('drops nothing that is still needed from a full store', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock, maxKeys: 2 })
    const limiter = createLimiter({ limit: fixedWindow({ limit: 1, window: '1h' }), store, clock })
    for (const key of ['a', 'b']) await limiter.check(key)
    await limiter.peek('c', { at: wallOf(clock) + 24 * HOUR_MS })
    for (const key of ['a', 'b']) expect((await limiter.check(key)).outcome).toBe('denied')
  })

  it('is undecided where the store fails, at either of the two calls', async () => {
    const wire = switchable()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), store: wire.store })
    expect((await limiter.peek('k', { at: Date.now() + 1_000 })).outcome).toBe('undecided')
    wire.fail = false
    const { decide } = wire.store
    let calls = 0
    const half = {
      ...wire.store,
      decide: (...given: Parameters<typeof decide>) => {
        calls += 1
        wire.fail = calls === 2
        return decide(...given)
      },
    }
    const failing = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), store: half, onStoreFailure: 'local' })
    expect(await failing.peek('k', { at: Date.now() + 1_000 })).toMatchObject({ outcome: 'undecided', allowed: false })
    wire.fail = true
    calls = 2
    const local = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), store: switchable().store, onStoreFailure: 'local' })
    expect(await local.peek('k', { at: Date.now() + 1_000 })).toMatchObject({
      outcome: 'allowed',
      source: 'fallback',
      degraded: { kind: 'timeout' },
    })
  })

  it('has one deadline for both calls if somebody stated it; otherwise each has the default', async () => {
    const clock = manualClock()
    const seen: (number | undefined)[] = []
    const memory = memoryStore({ clock })
    const store = remoteMemory(memory, {
      decide(groups, options) {
        seen.push(options?.deadline)
        clock.advance(7)
        return memory.decide(groups, options)
      },
    })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), store, clock })
    await limiter.peek('k', { at: wallOf(clock) + 1_000 })
    await limiter.peek('k', { at: wallOf(clock) + 1_000, deadlineMs: 30 })
    expect(seen).toEqual([50, 57, 44, 44])
  })

  it('says of a divided local fallback among how many processes it is divided', async () => {
    const local = withDividedLimit(memoryStore(), 2)
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 4 }), store: switchable().store, onStoreFailure: local })
    const { limits, degraded } = await limiter.peek('k', { at: Date.now() + 1_000 })
    expect([limits[0]?.remaining, degraded?.nodes]).toEqual([2, 2])
  })

  it('takes an instant of the last second as now, exactly', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), clock })
    expect((await limiter.peek('k', { at: wallOf(clock) - 1_000 })).atMicros).toBe(clock.now())
    clock.shift(500)
    await expect(limiter.peek('k', { at: wallOf(clock) - 1_001 })).rejects.toThrow(`(it is ${Math.floor(wallOf(clock))})`)
  })

  it.each([
    [new Date(0), 'at is Date 0, expected a Date or milliseconds since 1970, not in the past'],
    [Date.now() - 2_000, 'not in the past'],
    [new Date(Number.NaN), 'at is Date NaN'],
    [Date.UTC(2100, 0), 'before 2100'],
    ['2030-01-01', 'at is "2030-01-01"'],
    [null, 'at is null'],
  ])('refuses %s', async (at, message) => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
    await expect(limiter.peek('k', { at: at as never })).rejects.toThrow(message)
  })

  it('takes the present instant, which has passed by the time it is read', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
    const now = new Date()
    // No timer, whose wait may be long: an instant more than a second ago is refused.
    while (Date.now() === now.getTime());
    expect((await limiter.peek('k', { at: now })).outcome).toBe('allowed')
  })

  it.skipIf(url === undefined)('on Redis, whose clock is not that of the process', async () => {
    const client = new Redis(url ?? '')
    const store = redisStore({ client: ioredis(client), prefix: `forecast-${process.pid}:` })
    // A process whose clock is an hour behind.
    const clock: Time = {
      ...systemTime,
      now: () => systemTime.now() - HOUR_MS * 1_000,
      wall: () => Date.now() - HOUR_MS,
    }
    const limits = { bucket: tokenBucket({ rate: '1/min', burst: 10 }), window: fixedWindow({ limit: 10, window: '1d', align: 'first' }) }
    const limiter = createLimiter({ limits, store, clock, deadlineMs: 10_000 })
    onTestFinished(async () => {
      await limiter.reset('k')
      await store.close()
      await client.quit()
    })
    await limiter.check('k', { cost: 10 })
    const at = (minutes: number): number => wallOf(clock) + minutes * 60_000
    expect((await limiter.peek('k', { at: at(5.5) })).limits.map(({ remaining }) => remaining)).toEqual([5, 0])
    expect((await limiter.peek('k', { at: at(26 * 60) })).limits.map(({ remaining }) => remaining)).toEqual([10, 10])
    expect((await limiter.peek('k')).limits.map(({ remaining }) => remaining)).toEqual([0, 0])
  })
})
