import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { withBreaker } from '../../src/remote.ts'
import { expectInTime } from './in-time.ts'
import { startLoad } from './load.ts'
import { advised, noRedis, privateRedis, type PrivateRedis } from './private-redis.ts'
import { continueTree, noProcesses, stopTree } from './process-tree.ts'
import { CALLERS, DEADLINE_MS, plenty, report } from './stopped.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { wait } from './under-fault.ts'

interface Away {
  begin(server: PrivateRedis, proxy: TcpProxy): Promise<void>
  end(server: PrivateRedis, proxy: TcpProxy): Promise<void>
}

const WAYS: readonly (readonly [string, Away])[] = [
  ['stopped', { begin: (server) => stopTree(server.pid), end: async (server) => continueTree(server.pid) }],
  ['in a hole', { begin: async (_, proxy) => proxy.blackhole(), end: async (_, proxy) => proxy.heal() }],
  [
    'killed',
    {
      begin: async (server) => server.signal('SIGKILL'),
      end: async (server) => onTestFinished((await privateRedis([], server.port)).stop),
    },
  ],
]

describe.skipIf(noRedis || noProcesses).each(WAYS)('a breaker before a Redis that is %s', (_, away) => {
  it('opens within 400 ms, refuses within 2 ms, and is closed within a second of its return', async () => {
    const server = await privateRedis()
    onTestFinished(server.stop)
    const proxy = await tcpProxy(server.port, () => 0)
    onTestFinished(proxy.stop)
    const client = advised(proxy.port)
    onTestFinished(() => client.disconnect())
    await new Promise((resolve) => client.once('ready', resolve))
    const store = withBreaker(bareRedisStore({ client: ioredis(client) }))
    const limiter = createLimiter({ limit: plenty, store, deadlineMs: DEADLINE_MS })
    const load = startLoad(limiter, { callers: CALLERS, deadlineMs: DEADLINE_MS, pauseMs: 2 })
    try {
      await load.recovery()
      await away.begin(server, proxy)
      const began = performance.now()
      while (store.breakerState !== 'open') await new Promise((resolve) => setImmediate(resolve))
      const opened = performance.now()
      // Calls that were in flight when the breaker opened are answered by their own deadlines. The test waits for these first.
      await wait(DEADLINE_MS + 50)
      const refusing = performance.now()
      await wait(900)
      const ended = performance.now()
      const refused = load.samples.filter((sample) => sample.started > refusing && sample.ended < ended)
      await away.end(server, proxy)
      const back = performance.now()
      const recovery = await load.recovery()
      await load.stop()

      const held = (from: number, to: number): number => load.held(from, to).all
      const slowest = refused.reduce((most, one) => Math.max(most, one.ended - one.started - held(one.started, one.ended)), 0)
      report('breaker', { opened: opened - began, refused: refused.length, slowest, recovery, held: load.held(began, back).longest })
      // The breaker opens when half of the calls in its window of 200 ms have failed. Earlier successes must leave that window first, and
      // calls in flight fail only at their deadlines.
      expectInTime('the opening', opened - began - held(began, opened), 400)
      expect(new Set(refused.map(({ decision }) => `${decision.outcome} ${decision.degraded?.kind}`))).toEqual(
        new Set(['undecided unavailable']),
      )
      expectInTime('the slowest refusal', slowest, 2)
      expectInTime('the recovery', recovery - held(back, back + recovery), 1_000)
      expect(load.samples.filter(({ decision }) => decision.outcome === 'denied')).toEqual([])
    } finally {
      continueTree(server.pid)
      await load.stop()
      await limiter.close()
      await store.close()
    }
  })
})
