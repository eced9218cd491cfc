import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { Redis } from 'ioredis'
import { perSecondOf, type Quota, windowOf } from '../src/contestants/contestant.ts'
import { emptyJoined } from '../src/contestants/floors.ts'
import { auditGrant } from '../src/redis/grants.ts'
import { groupsUnder } from '../src/contestants/groups.ts'
import { type Way, wayOf } from '../src/redis/ways.ts'

const { redis: url } = inject('engines')

/** Three, and the next comes tomorrow. */
const QUOTA: Quota = { tokens: 3, per: '1d', burst: 3 }

describe('a quota', () => {
  it.each<[Quota, number, number]>([
    [QUOTA, 3 / 86_400, 86_400],
    [{ tokens: 10, per: '1s', burst: 10 }, 10, 1],
    [{ tokens: 1_000_000, per: '1s', burst: 10_000_000 }, 1_000_000, 10],
  ])('%o: %d a second, a window of %d s', (quota, perSecond, window) => {
    expect(perSecondOf(quota)).toBe(perSecond)
    expect(windowOf(quota)).toBeCloseTo(window, 9)
  })

  it.each<[Way, string | undefined]>([
    ['rate-limit-lua', 'client'],
    ['zset-log', 'client'],
    ['two-counters', 'client'],
    ['lua-clojure', 'client'],
    ['incr-expire', 'server'],
    ['lua', 'client'],
    ['lua-server-time', 'server'],
    ['sluice', undefined],
  ])('is kept by the clock that decides: %s, %s', (way, clock) => expect(wayOf(way).clock).toBe(clock))

  it('is what each library promises: a sliding window is a counter, a bucket in steps is a window', () => {
    expect([wayOf('upstash').promise, wayOf('upstash-bucket').promise]).toEqual(['counter', 'window'])
  })

  it('is called on a store as a limiter calls it', () => {
    const { calls } = groupsUnder(QUOTA)('user:1')
    expect(calls).toMatchObject([{ id: { scope: { text: 'bench:default:tb:' }, key: 'user:1' }, cost: 1_000_000, phase: 0 }])
    expect(calls[0]?.limit.capacity).toBe(3)
  })
})

describe.skipIf(url === undefined)('ways are limiters', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  afterAll(() => client.disconnect())

  const LIMITING: readonly Way[] = [
    'lua',
    'lua-article',
    'lua-clojure',
    'lua-pipelined',
    'lua-last-time',
    'lua-server-time',
    'multi-command',
    'multi-command-printed',
    'multi-command-allowed-only',
    'watch',
    'flexible',
    'flexible-blocking',
    'express-store',
    'fastify-plugin',
    'upstash',
    'upstash-bucket',
    'sluice',
    'bare',
    'coalescing',
    'denied-cache',
    'leases',
    'coalescing-store',
    'denied-cache-store',
    'leases-store',
    'fixed-window',
    'fixed-window-bare',
    'log',
    'log-bare',
    'counter',
    'counter-bare',
    'memory',
    'memory-window',
    'rate-limit-lua',
    'incr-expire',
    'zset-log',
    'two-counters',
    'get-incr',
    'in-process',
  ]

  it.each(LIMITING)('%s: three of a burst of three, then none, each key for itself; nothing stays', async (way) => {
    const keys = ['a', 'b'].map((name) => `bench-test:${process.pid}:${way}:${name}`)
    const issued = async () => {
      const running = await wayOf(way).open(url ?? '', QUOTA, { callers: 1, note: true })
      const answers: boolean[] = []
      try {
        for (const at of [0, 1, 0, 0, 0, 1]) answers.push(running.passed(await running.invoke(keys[at] as string, 0)))
      } finally {
        await running.close(keys)
      }
      return { running, answers }
    }
    // Ours have the default deadline, which a call may pass where other tests have the processors: then all again, on fresh keys.
    let attempt = issued()
    for (let again = 0; again < 20; again += 1) attempt = attempt.catch(issued)
    const { running, answers } = await attempt
    expect(answers).toEqual([true, true, true, true, false, true])
    expect(running.admitted).toHaveLength(5)
    const [seconds] = await client.time()
    for (const { at } of running.admitted ?? []) expect(Math.abs(at / 1e6 - (seconds ?? 0))).toBeLessThan(60)
    expect(await client.keys(`*bench-test:${process.pid}:${way}:*`)).toEqual([])
  })

  it.each(['upstash', 'upstash-bucket'] as const)('%s: one call of Redis for each request that its cache does not deny', async (way) => {
    const running = await wayOf(way).open(url ?? '', { tokens: 1_000, per: '1d', burst: 1_000 }, { callers: 1 })
    const key = `bench-test:${process.pid}:${way}:calls`
    onTestFinished(() => running.close([key]))
    await running.invoke(key, 0)
    const before = running.wire.sent().calls
    for (let call = 0; call < 10; call += 1) expect(running.passed(await running.invoke(key, 0))).toBe(true)
    expect(running.wire.sent().calls - before).toBe(10)
  })

  it('the floor: one call for all that wait, and everybody may pass', async () => {
    const running = await emptyJoined.open(url ?? '', QUOTA, { callers: 300 })
    onTestFinished(() => running.close([]))
    const before = running.wire.sent().calls
    const answers = await Promise.all(Array.from({ length: 300 }, (_, caller) => running.invoke(`key:${caller % 7}`, caller)))
    expect(answers).not.toContain(false)
    expect(running.wire.sent().calls - before).toBe(3)
  })

  it.each<[Way, number, boolean]>([
    ['multi-command', 64, true],
    ['multi-command', 1, false],
    ['sluice', 64, false],
    ['flexible', 64, false],
    ['upstash', 64, false],
    ['upstash-bucket', 64, false],
  ])('the audit of %s with %i callers: over the limit is %s', async (way, callers, over) => {
    const grant = await auditGrant({ url: url ?? '', seconds: 0.5, way, callers })
    expect(grant.overGrantPercent > 0).toBe(over)
    // On a busy machine the first answers may come too late for anybody to be let through, and a single caller may call a few times only.
    expect(grant.allowed + grant.errors).toBeGreaterThanOrEqual(Math.min(10, grant.total))
  })
})
