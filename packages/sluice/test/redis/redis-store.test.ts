import { createServer } from 'node:net'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import { DistributedRateLimiter, type RedisPort, redisStore } from '../../src/redis.ts'
import { manualClock } from '../../src/time/manual.ts'

const group = {
  calls: [{ id: { scope: { text: 'l:l:tb:' }, key: 'k' }, limit: tokenBucket({ rate: '1/s', burst: 5 }), cost: 1, phase: 0 }],
}

/** A server that refuses. */
function refusing(): { client: RedisPort; sent: () => number } {
  let sent = 0
  const evalsha = async (): Promise<unknown> => {
    sent += 1
    throw new Error('ERR no')
  }
  return { client: { evalsha, eval: evalsha }, sent: () => sent }
}

describe('redisStore', () => {
  it('has the ring, on the clock of the store', async () => {
    const { client, sent } = refusing()
    const store = redisStore({ client, clock: manualClock(), ring: { breaker: { failures: 1 } } })
    expect([store.name, store.breakerState, store.leasedTokens]).toEqual(['redis', 'closed', 0])
    expect((await store.decide([group]))[0]?.failure).toMatchObject({ kind: 'protocol' })
    expect(store.breakerState).toBe('open')
    expect((await store.decide([group]))[0]?.failure).toMatchObject({ executed: 'no' })
    expect(sent()).toBe(1)
    await store.close()
  })

  it('is the bare store with ring: false', async () => {
    const { client, sent } = refusing()
    const store = redisStore({ client, ring: false })
    for (let index = 0; index < 20; index += 1) await expect(store.decide([group])).rejects.toMatchObject({ kind: 'protocol' })
    expect([sent(), store.breakerState, store.leasedTokens]).toEqual([20, 'closed', 0])
    expect(store.decideNow).toBeUndefined()
  })

  it.each([
    [{ ring: true }, 'redisStore: ring is true'],
    [{ ring: { clock: manualClock() } }, 'redisStore: ring is'],
    [{ rings: {} }, 'unknown option rings; known are client'],
    [{ ring: { deadlines: 5 } }, 'unknown option deadlines'],
  ])('refuses %j', (options, message) => {
    const { client } = refusing()
    const make = (): unknown => redisStore({ client, ...(options as object) })
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(message) as string }))
  })
})

describe('R4: DistributedRateLimiter on a server that says nothing', () => {
  it('answers its first call by the deadline that it was given', async () => {
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const redis = new Redis({ port, enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
    redis.on('error', () => {})
    const limiter = new DistributedRateLimiter(redis, { deadlineMs: 100 })
    onTestFinished(async () => {
      redis.disconnect()
      await limiter.close()
      silent.close()
    })
    // The deadline is 100 ms. If the first call had the longer deadline of a new connection, it would take a second. A timer shows that,
    // however late both are because of other work of the machine: timers run in the order in which they are due.
    const order: string[] = []
    const timer = setTimeout(() => order.push('600 ms'), 600)
    const answer = await limiter.consume('k', 10, 1)
    clearTimeout(timer)
    expect(answer).toMatchObject({ allowed: false, degraded: 'timeout' })
    expect(order).toEqual([])
  })
})
