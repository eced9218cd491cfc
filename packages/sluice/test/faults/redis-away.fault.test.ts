import type { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Limiter, type Store } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/stores/redis/index.ts'
import { type Load, punctuality, startLoad } from './load.ts'
import { advised, noRedis, privateRedis, type PrivateRedis } from './private-redis.ts'
import { noProcesses, stopTree } from './process-tree.ts'
import { CALLERS, DEADLINE_MS, expectPunctual, plenty, report } from './stopped.ts'

async function connected(server: PrivateRedis): Promise<{ client: Redis; store: Store }> {
  const client = advised(server.port)
  onTestFinished(() => client.disconnect())
  await new Promise((resolve) => client.once('ready', resolve))
  return { client, store: redisStore({ client: ioredis(client) }) }
}

async function loaded(store: Store): Promise<{ limiter: Limiter; load: Load }> {
  const limiter = createLimiter({ limit: plenty, store, deadlineMs: DEADLINE_MS })
  const load = startLoad(limiter, CALLERS)
  onTestFinished(() => load.stop())
  await load.recovery()
  return { limiter, load }
}

async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

describe.skipIf(noRedis)('a Redis that goes away under load', () => {
  it('killed and started again on its port: punctual all the time, never denied, back within a second of the connection', async () => {
    const first = await privateRedis()
    onTestFinished(first.stop)
    const { client, store } = await connected(first)
    const { load } = await loaded(store)

    const killed = performance.now()
    first.signal('SIGKILL')
    await wait(1_000)
    const second = await privateRedis([], first.port)
    onTestFinished(second.stop)
    if (client.status !== 'ready') await new Promise((resolve) => client.once('ready', resolve))
    const recovery = await load.recovery()
    const back = performance.now()
    await load.stop()

    const figures = punctuality(load, killed, back, DEADLINE_MS)
    report('killed', { ...figures, recovery })
    const degraded = load.samples.flatMap(({ decision }) => (decision.degraded === undefined ? [] : [decision]))
    expect(degraded.length).toBeGreaterThan(CALLERS)
    expect(new Set(degraded.map(({ outcome, allowed }) => `${outcome} ${allowed}`))).toEqual(new Set(['undecided false']))
    expect(['connection', 'timeout']).toEqual(expect.arrayContaining([...new Set(degraded.map((decision) => decision.degraded?.kind))]))
    expect(load.samples.some(({ decision }) => decision.outcome === 'denied')).toBe(false)
    expectPunctual(figures)
    expect(recovery - load.held(back - recovery, back).all).toBeLessThanOrEqual(1_000)
  })

  it('its script cache emptied, again and again: nobody notices', async () => {
    const server = await privateRedis()
    onTestFinished(server.stop)
    const { client, store } = await connected(server)
    const { load } = await loaded(store)
    const from = performance.now()
    for (let round = 0; round < 40; round += 1) {
      await client.script('FLUSH')
      await wait(20)
    }
    await load.stop()
    const asked = load.samples.filter(({ started }) => started >= from)
    report('script flush', { calls: asked.length, lag: load.held(from, performance.now()).longest })
    // A call can be late because this process was; it cannot fail for want of a script.
    const degraded = asked.filter(({ decision }) => decision.degraded !== undefined && decision.degraded.kind !== 'timeout')
    expect(degraded).toEqual([])
    expect(asked.filter(({ decision }) => decision.outcome === 'allowed').length).toBeGreaterThan(CALLERS * 40)
  })

  it.skipIf(noProcesses)(
    'stopped with no more calls let in than the bound: the next is refused at once, unsent, until it is back',
    async () => {
      const server = await privateRedis()
      onTestFinished(server.stop)
      const client = advised(server.port)
      onTestFinished(() => client.disconnect())
      await new Promise((resolve) => client.once('ready', resolve))
      const store = redisStore({ client: ioredis(client), maxInFlight: 100 })
      const limiter = createLimiter({ limit: plenty, store, deadlineMs: DEADLINE_MS })
      await stopTree(server.pid)

      const waiting = Array.from({ length: 100 }, () => limiter.check('k'))
      let settled = 0
      for (const call of waiting) void call.then(() => (settled += 1))
      expect(await limiter.check('k')).toMatchObject({
        outcome: 'undecided',
        allowed: false,
        degraded: { kind: 'overload', executed: 'no' },
      })
      expect(settled).toBe(0)
      const kinds = (await Promise.all(waiting)).map(({ outcome, degraded }) => `${outcome} ${degraded?.kind} ${degraded?.executed}`)
      expect(new Set(kinds)).toEqual(new Set(['undecided timeout unknown']))
      // Given up by their callers, they are still under way: a stopped server cannot make the process queue without end.
      expect(await limiter.check('k')).toMatchObject({ degraded: { kind: 'overload' } })

      const resumed = performance.now()
      server.signal('SIGCONT')
      let decision = await limiter.check('k')
      while (decision.degraded !== undefined && performance.now() - resumed < 5_000) {
        await wait(1)
        decision = await limiter.check('k')
      }
      report('overload', { recovery: performance.now() - resumed })
      expect(decision).toMatchObject({ outcome: 'allowed', source: 'store' })
      expect(performance.now() - resumed).toBeLessThan(1_000)
    },
  )
})
