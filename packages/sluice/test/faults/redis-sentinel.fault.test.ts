import { describe, expect, it, onTestFinished } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { advisedBySentinel, noRedis } from './private-redis.ts'
import { privateSentinel, SENTINEL_NAME } from './private-sentinel.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { NARROW_BURST, slow, SLOW_BURST, underFault, wait } from './under-fault.ts'
import { until } from './until.ts'

describe.skipIf(noRedis)('a Redis that Sentinel fails over', () => {
  it('with its replica cut off first: what was not replicated is granted again, at most a burst, and nobody is refused', async () => {
    let link: TcpProxy | undefined
    const servers = await privateSentinel({
      through: async (port) => {
        link = await tcpProxy(port, () => 0)
        return link.port
      },
    })
    onTestFinished(async () => {
      await servers.stop()
      await link?.stop()
    })
    const client = advisedBySentinel(servers.sentinels, SENTINEL_NAME)
    onTestFinished(() => client.disconnect())
    await new Promise((resolve) => client.once('ready', resolve))
    const store = bareRedisStore({ client: ioredis(client) })

    const { audits, kinds } = await underFault({ store, bound: SLOW_BURST }, async (also) => {
      link?.blackhole()
      await also('slow', slow).usedUp()
      await wait(500)
      servers.primary.signal('SIGKILL')
      await until('a sentinel names the replica', async () => (await servers.primaryPort()) === servers.replica.port)
    })
    // The new primary lacks the latest charges. The narrow limit has refilled before that server decides. The slow limit has not, so some of
    // its tokens are granted twice.
    expect(audits[0]?.overGrant).toBeLessThanOrEqual(NARROW_BURST)
    expect(audits[1]?.overGrant).toBeGreaterThan(0)
    expect(['timeout', 'connection', 'readonly', 'unavailable']).toEqual(expect.arrayContaining([...kinds]))
  })
})
