import { describe, it, onTestFinished } from 'vitest'
import type { FailurePolicy } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { advised, noRedis, privateRedis } from './private-redis.ts'
import { noProcesses } from './process-tree.ts'
import { stopUnderLoad } from './stopped.ts'

/** Registers a test: while a Redis under load is stopped (SIGSTOP), each call is answered by its deadline. */
export function redisStopped(policies: readonly FailurePolicy[], stoppedMs: number): void {
  describe.skipIf(noRedis || noProcesses)('a Redis that is stopped under load', () => {
    it.each(policies)(
      `every call answers by its deadline, and the store is back within a second: %s for ${stoppedMs} ms`,
      async (policy) => {
        const server = await privateRedis()
        onTestFinished(server.stop)
        const client = advised(server.port)
        onTestFinished(() => client.disconnect())
        await new Promise((resolve) => client.once('ready', resolve))
        await stopUnderLoad(bareRedisStore({ client: ioredis(client) }), { policy, pid: server.pid, stoppedMs })
      },
    )
  })
}
