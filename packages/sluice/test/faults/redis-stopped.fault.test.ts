import { describe, expect, it, onTestFinished } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { advised, noRedis, privateRedis } from './private-redis.ts'
import { continueTree, noProcesses, stopTree } from './process-tree.ts'
import { redisStopped } from './redis-stopped.ts'
import { underFault, wait } from './under-fault.ts'

redisStopped(['allow', 'local'], 1_000)

describe.skipIf(noRedis || noProcesses)('a Redis that is stopped for long', () => {
  it('after five seconds it executes what nobody waits for any more: that counts as spent, and nothing is granted twice', async () => {
    const server = await privateRedis()
    onTestFinished(server.stop)
    const client = advised(server.port)
    onTestFinished(() => client.disconnect())
    await new Promise((resolve) => client.once('ready', resolve))
    const { kinds } = await underFault({ store: bareRedisStore({ client: ioredis(client) }), bound: 0 }, async () => {
      await stopTree(server.pid)
      await wait(5_000)
      continueTree(server.pid)
    })
    expect(['timeout', 'connection']).toEqual(expect.arrayContaining([...kinds]))
  })
})
