import type { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Store } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { expectInTime } from './in-time.ts'
import { startLoad } from './load.ts'
import { advised, noRedis, privateRedis, type PrivateRedis } from './private-redis.ts'
import { noProcesses, stopTree } from './process-tree.ts'
import { CALLERS, DEADLINE_MS, plenty, report } from './stopped.ts'
import { slow, SLOW_BURST, underFault, wait } from './under-fault.ts'

async function connected(server: PrivateRedis): Promise<{ client: Redis; store: Store }> {
  const client = advised(server.port)
  onTestFinished(() => client.disconnect())
  await new Promise((resolve) => client.once('ready', resolve))
  return { client, store: bareRedisStore({ client: ioredis(client) }) }
}

describe.skipIf(noRedis)('a Redis that goes away under load', () => {
  it('killed and started again, empty: what it knew is granted again, at most a burst, and nobody is refused', async () => {
    const first = await privateRedis()
    onTestFinished(first.stop)
    const { store } = await connected(first)
    const { audits, degraded, kinds } = await underFault({ store, bound: SLOW_BURST }, async (also) => {
      await also('slow', slow).usedUp()
      first.signal('SIGKILL')
      await wait(1_000)
      const second = await privateRedis([], first.port)
      onTestFinished(second.stop)
    })
    expect(degraded).toBeGreaterThan(CALLERS)
    expect(['connection', 'timeout']).toEqual(expect.arrayContaining([...kinds]))
    expect(audits[1]?.overGrant).toBeGreaterThan(0)
  })

  it('its script cache emptied, again and again: nobody notices', async () => {
    const server = await privateRedis()
    onTestFinished(server.stop)
    const { client, store } = await connected(server)
    const { kinds, calls } = await underFault({ store, bound: 0 }, async () => {
      for (let round = 0; round < 40; round += 1) {
        await client.script('FLUSH')
        await wait(20)
      }
    })
    // Timeouts are the only failures: a call can be late because this process was. No call may fail because the server does not know the
    // script.
    expect(['timeout']).toEqual(expect.arrayContaining([...kinds]))
    expect(calls).toBeGreaterThan(CALLERS * 40)
  })

  it.skipIf(noProcesses)(
    'stopped with no more calls let in than the bound: the next is refused at once, unsent, until it is back',
    async () => {
      const server = await privateRedis()
      onTestFinished(server.stop)
      const client = advised(server.port)
      onTestFinished(() => client.disconnect())
      await new Promise((resolve) => client.once('ready', resolve))
      const store = bareRedisStore({ client: ioredis(client), maxInFlight: 100 })
      const limiter = createLimiter({ limit: plenty, store, deadlineMs: DEADLINE_MS })
      // Only its record of when the event loop was blocked is used.
      const load = startLoad(createLimiter({ limit: plenty }), { callers: 1, deadlineMs: DEADLINE_MS, pauseMs: 5 })
      onTestFinished(() => load.stop())
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
      // The callers have given up, but their calls still count as under way. So calls to a stopped server cannot queue without end in this
      // process.
      expect(await limiter.check('k')).toMatchObject({ degraded: { kind: 'overload' } })

      const resumed = performance.now()
      server.signal('SIGCONT')
      let decision = await limiter.check('k')
      while (decision.degraded !== undefined && performance.now() - resumed < 5_000) {
        await wait(1)
        decision = await limiter.check('k')
      }
      const back = performance.now()
      await load.stop()
      const recovery = back - resumed - load.held(resumed, back).all
      report('overload', { recovery })
      expect(decision).toMatchObject({ outcome: 'allowed', source: 'store' })
      expectInTime('the recovery', recovery, 1_000)
    },
  )
})
