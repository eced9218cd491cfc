import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as working } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Limiter, type LimiterOptions, memoryStore, tokenBucket } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { seeded } from '../../src/testing/random.ts'
import { systemTime } from '../../src/time/system.ts'
import { HELD, type HeldStore } from './held-stores.ts'
import { noRedis, privateRedis } from './private-redis.ts'

const TEN = tokenBucket({ rate: '1/d', burst: 10 })
const PATIENT = { deadlineMs: 10_000 }
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Makes a limiter of ten tokens on the store. Each process of an application would make such a limiter of its own. */
function limiterOn(held: HeldStore, options: Partial<LimiterOptions> = {}): Limiter {
  return createLimiter({ name: 'faults', limit: TEN, store: held.open(), ...PATIENT, ...options })
}

async function remaining(limiter: Limiter, key = 'k'): Promise<number | undefined> {
  return (await limiter.peek(key)).limits[0]?.remaining
}

describe.each(HELD)('holds on %s', (name, make) => {
  it.skipIf(name === 'memory')(
    'SIGKILL between reserve and settle: another process settles, and what nobody settles stays spent',
    async () => {
      const held = await make()
      const limiter = limiterOn(held)
      const killed = async (holdMs: number): Promise<string> => {
        const child: ChildProcess = fork(join(import.meta.dirname, 'reserving.worker.mjs'), [], { execArgv: [] })
        onTestFinished(() => void child.kill('SIGKILL'))
        child.send({ ...held.address, name: 'faults', holdMs })
        const [{ id, outcome }] = (await once(child, 'message')) as [{ id: string; outcome: string }]
        expect(outcome).toBe('allowed')
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
        return id
      }
      const first = await killed(60_000)
      expect(await remaining(limiter)).toBe(4)
      expect(await limiter.settle('k', first, 1)).toMatchObject({ status: 'settled', repeated: false, limits: [{ held: 6, charged: 1 }] })
      expect(await remaining(limiter)).toBe(9)
      const second = await killed(300)
      await pause(400)
      expect(await limiter.settle('k', second, 0)).toMatchObject({ status: 'expired' })
      expect(await remaining(limiter)).toBe(3)
    },
  )

  it('a settlement that is repeated by everybody at once counts once', async () => {
    const held = await make()
    const [one, other] = [limiterOn(held), limiterOn(held)]
    const { id } = await one.reserve('k', { cost: 6 })
    const settled = await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one : other).settle('k', id, index % 7)))
    expect(settled.filter(({ repeated }) => !repeated)).toHaveLength(1)
    const charged = new Set(settled.map(({ limits }) => limits[0]?.charged))
    expect(charged.size).toBe(1)
    expect(await remaining(one)).toBe(10 - ([...charged][0] as number))
  })

  it('a settlement before its reservation changes nothing, and one after counts', async () => {
    const limiter = limiterOn(await make())
    expect((await limiter.settle('k', 'order 7', 0)).status).toBe('unknown')
    await limiter.reserve('k', { cost: 6, id: 'order 7' })
    expect((await limiter.settle('another', 'order 7', 0)).status).toBe('unknown')
    expect((await limiter.settle('k', 'order 8', 0)).status).toBe('unknown')
    expect(await remaining(limiter)).toBe(4)
    expect(await limiter.cancel('k', 'order 7')).toMatchObject({ status: 'settled', repeated: false })
    expect(await remaining(limiter)).toBe(10)
  })

  it('the same reservation made by everybody at once is charged once', async () => {
    const held = await make()
    const all = [limiterOn(held), limiterOn(held)]
    const made = await Promise.all(Array.from({ length: 20 }, (_, index) => (all[index % 2] as Limiter).reserve('k', { cost: 6, id: 'a' })))
    expect(new Set(made.map(({ decision }) => decision.outcome))).toEqual(new Set(['allowed']))
    expect(await remaining(all[0] as Limiter)).toBe(4)
  })

  it.skipIf(name === 'memory')('a client clock that is wrong by an hour changes nothing', async () => {
    const held = await make()
    const wrong = (hours: number) => ({ ...systemTime, now: () => systemTime.now() + hours * 3_600_000_000 })
    const [ahead, behind] = [limiterOn(held, { clock: wrong(1) }), limiterOn(held, { clock: wrong(-1) })]
    const first = await ahead.reserve('k', { cost: 6, holdMs: 60_000 })
    expect(await behind.settle('k', first.id, 1)).toMatchObject({ status: 'settled', limits: [{ charged: 1 }] })
    const second = await behind.reserve('k', { cost: 6, holdMs: 200 })
    await pause(300)
    expect((await ahead.extend('k', second.id, 1_000)).status).toBe('expired')
    expect(await remaining(ahead)).toBe(3)
  })

  it('a flood of reservations leaves no more than the limit, and nothing for longer than a hold and a minute', async () => {
    const held = await make()
    const limiter = limiterOn(held, { limit: tokenBucket({ rate: '1/d', burst: 500 }) })
    const made = await Promise.all(Array.from({ length: 1_500 }, () => limiter.reserve('k', { holdMs: 1_000 })))
    const outcomes = made.map(({ decision }) => decision.outcome)
    expect(outcomes.filter((outcome) => outcome === 'allowed')).toHaveLength(500)
    expect(outcomes.filter((outcome) => outcome === 'denied')).toHaveLength(1_000)
    expect((await limiter.check('other')).outcome).toBe('allowed')
    const { redis, address } = held
    if (redis === undefined || address === undefined) return
    const keys = await redis.keys(`${address.space}*}ho:*`)
    expect(keys).toHaveLength(500)
    const lives = await Promise.all(keys.map((key) => redis.pttl(key)))
    expect(Math.min(...lives)).toBeGreaterThan(0)
    expect(Math.max(...lives)).toBeLessThanOrEqual(61_001)
    const bytes = await Promise.all(keys.slice(0, 10).map((key) => redis.memory('USAGE', key)))
    console.log(`a record in Redis: ${Math.max(...bytes.map(Number))} bytes, swept by its own expiry`)
    expect(Math.max(...bytes.map(Number))).toBeLessThanOrEqual(250)
  })

  const SPENDERS = 64
  /** `SLUICE_SPENDER_MS=30000` lets them spend for half a minute on each store. */
  const MS = Number(process.env['SLUICE_SPENDER_MS'] ?? 5_000)

  it.each([
    ['exact estimates', 1, 0, 0.97],
    ['exact estimates, and a fifth of the clients leaves', 1, 0.2, 0.97],
    ['estimates that are twice as high', 2, 0, 0.85],
    ['estimates that are twice as high, and a fifth of the clients leaves', 2, 0.2, 0.85],
  ])(
    '64 parallel spenders on one budget, %s: nothing over, nearly all used',
    async (what, factor, leaving, share) => {
      const held = await make()
      const [rate, burst] = [2_000, 2_000]
      const limiter = limiterOn(held, { limit: tokenBucket({ rate: `${rate}/s`, burst }) })
      const random = seeded(7)
      const uses: { readonly at: number; readonly charged: number }[] = []
      const until = performance.now() + MS
      let [last, left, served, idle] = [0, 0, 0, 0]
      const spend = async (): Promise<void> => {
        while (performance.now() < until) {
          const actual = 1 + Math.floor((random() * 0.02 * burst) / factor)
          const client = new AbortController()
          const { signal } = client
          const { decision, settle } = await limiter.reserve('budget', { cost: actual * factor, signal })
          // If the machine stops all callers for over a second, the budget is full before that is over.
          if (last > 0) idle += Math.max(0, decision.atMicros - last - 900_000)
          last = Math.max(last, decision.atMicros)
          if (decision.outcome !== 'allowed') {
            await pause(Math.min(50, decision.outcome === 'denied' ? (decision.retryAfterMs ?? 5) : 5))
            continue
          }
          const ms = random() * 20
          // Not drawn: if the store is slow, there are too few holds for the share of draws to be near enough.
          served += 1
          if (Math.floor(served * leaving) > Math.floor((served - 1) * leaving)) setTimeout(() => client.abort(), ms / 2)
          const isDone = await working(ms, undefined, { signal }).then(
            () => true,
            () => false,
          )
          // A client that leaves in the middle ends the work, which has used half by then. The settlement does not depend on the client, so
          // it is made all the same.
          const { limits } = await settle(isDone ? actual : actual / 2)
          left += isDone ? 0 : 1
          uses.push({ at: decision.atMicros, charged: limits[0]?.charged ?? actual * factor })
        }
      }
      await Promise.all(Array.from({ length: SPENDERS }, spend))
      uses.sort((a, b) => a.at - b.at)
      const first = uses[0]?.at as number
      let sum = 0
      let over = 0
      for (const { at, charged } of uses) {
        sum += charged
        over = Math.max(over, sum - burst - ((at - first) / 1_000_000) * rate)
      }
      const permitted = burst + ((last - first - idle) / 1_000_000) * rate
      const percent = ((100 * sum) / permitted).toFixed(1)
      console.log(
        `${name}, ${what}: ${uses.length} holds, ${left} of clients that left, ${sum} of ${permitted.toFixed(0)} tokens used (${percent} %), ${Math.max(0, over)} over`,
      )
      expect(over).toBeLessThanOrEqual(1e-6)
      expect(left / uses.length).toBeCloseTo(leaving, 1)
      expect(sum / permitted).toBeGreaterThanOrEqual(share)
    },
    MS + 60_000,
  )
})

describe('holds in a store that loses its states', () => {
  it.skipIf(noRedis)('failover between reserve and settle: the hold is unknown, and nothing is granted', async () => {
    const server = await privateRedis()
    const client = new Redis(server.port, '127.0.0.1', { retryStrategy: () => 50 })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const limiter = createLimiter({ limit: TEN, store: redisStore({ client: ioredis(client) }), ...PATIENT })
    const { settle } = await limiter.reserve('k', { cost: 6 })
    await server.stop()
    const next = await privateRedis([], server.port)
    onTestFinished(() => next.stop())
    await expect.poll(async () => (await limiter.check('k')).outcome).toBe('allowed')
    const before = await remaining(limiter)
    expect((await settle(0)).status).toBe('unknown')
    expect(await remaining(limiter)).toBe(before)
  })

  it('in memory: no more holds than maxHolds, and other calls go on', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/d', burst: 10_000 }), store: memoryStore({ maxHolds: 1_000 }) })
    const made = await Promise.all(Array.from({ length: 5_000 }, (_, index) => limiter.reserve(`k${index % 50}`)))
    expect(made.filter(({ decision }) => decision.outcome === 'allowed')).toHaveLength(1_000)
    expect(made.at(-1)?.decision).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'memory', executed: 'no' } })
    expect((await limiter.check('k0')).outcome).toBe('allowed')
  })
})
