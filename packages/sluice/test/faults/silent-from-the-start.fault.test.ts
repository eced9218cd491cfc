import { once } from 'node:events'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Store } from '../../src/index.ts'
import { pg, postgresStore } from '../../src/postgres.ts'
import { DistributedRateLimiter, ioredis, nodeRedis, redisStore } from '../../src/redis.ts'
import { startLoad } from './load.ts'
import { plenty, report } from './stopped.ts'

const GRACE_MS = 5
const DEADLINES = [5, 20, 200]

/** Accepts connections and says nothing, ever. */
async function silent(): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

const OPTIONS = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, retryStrategy: () => 50 }

const STORES: readonly [name: string, open: (port: number) => Store][] = [
  [
    'ioredis',
    (port) => {
      const client = new Redis(port, '127.0.0.1', OPTIONS)
      client.on('error', () => {})
      onTestFinished(() => client.disconnect())
      return redisStore({ client: ioredis(client) })
    },
  ],
  [
    'node-redis',
    (port) => {
      const client = createClient({ url: `redis://127.0.0.1:${port}`, disableOfflineQueue: true })
      client.on('error', () => {})
      client.connect().catch(() => {})
      onTestFinished(() => client.destroy())
      return redisStore({ client: nodeRedis(client) })
    },
  ],
  [
    'pg',
    (port) => {
      const pool = new pgDriver.Pool({ connectionString: `postgres://a@127.0.0.1:${port}/a`, max: 4, connectionTimeoutMillis: 500 })
      pool.on('error', () => {})
      return postgresStore({ client: pg(pool), onWarning: () => {} })
    },
  ],
]

describe.each(STORES)('R4: the first calls on a silent store, by %s', (name, open) => {
  it.each(DEADLINES)('are answered within %s ms, where the call says so', async (deadlineMs) => {
    const limiter = createLimiter({ limit: plenty, store: open(await silent()) })
    const lag = startLoad(createLimiter({ limit: plenty }), { callers: 1, deadlineMs: 1_000, pauseMs: 5 })
    const late: number[] = []
    for (let round = 0; round < 4; round += 1) {
      const started = performance.now()
      const { outcome } = await limiter.check('key', { deadlineMs })
      const ended = performance.now()
      expect(outcome).toBe('undecided')
      late.push(ended - started - deadlineMs - lag.held(started, ended).all)
    }
    await lag.stop()
    report('silent from the start', { name, deadlineMs, first: late[0], latest: Math.max(...late) })
    expect(Math.max(...late)).toBeLessThanOrEqual(GRACE_MS)
  })
})

describe('R4: DistributedRateLimiter on a silent server', () => {
  it('answers its first consume within the deadline that it was given', async () => {
    const client = new Redis(await silent(), '127.0.0.1', OPTIONS)
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const limiter = new DistributedRateLimiter(client, { deadlineMs: 50 })
    const lag = startLoad(createLimiter({ limit: plenty }), { callers: 1, deadlineMs: 1_000, pauseMs: 5 })
    const started = performance.now()
    const { degraded } = await limiter.consume('key', 10, 1)
    const ended = performance.now()
    await lag.stop()
    expect(degraded).toBeDefined()
    expect(ended - started - 50 - lag.held(started, ended).all).toBeLessThanOrEqual(GRACE_MS)
    await limiter.close()
  })
})
