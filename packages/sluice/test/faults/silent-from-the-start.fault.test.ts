import { once } from 'node:events'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Store } from '../../src/index.ts'
import { pg, postgresStore } from '../../src/postgres.ts'
import { DistributedRateLimiter, ioredis, nodeRedis, redisStore } from '../../src/redis.ts'
import { withTimer, excessOf, startLoad } from './load.ts'
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

/**
 * This process may be stopped between the start of a call and the setting of its deadline. The timer of the test does not see that, so the
 * test is repeated. An answer that is late for another reason is late each time.
 */
const AGAIN = { retry: 2 }

/**
 * Makes calls one after the other, and expects that none is decided. Each answer must be as punctual as a timer of the same deadline. Or it
 * must be punctual once the time is subtracted for which the event loop was blocked.
 */
async function expectUndecided(name: string, deadlineMs: number, calls: number, undecided: () => Promise<boolean>): Promise<void> {
  const load = startLoad(createLimiter({ limit: plenty }), { callers: 1, deadlineMs: 1_000, pauseMs: 5 })
  const samples = []
  for (let round = 0; round < calls; round += 1) samples.push(await withTimer(deadlineMs, undecided))
  await load.stop()
  const late = samples.map(({ started, ended }) => ended - started - deadlineMs)
  const lag = Math.max(...samples.map(({ started, ended }) => load.held(started, ended).longest))
  const own = samples.map(({ started, ended }) => ended - started - deadlineMs - load.held(started, ended).all)
  const excess = Math.max(...samples.map((sample, index) => Math.min(excessOf(sample, deadlineMs, load), own[index] as number)))
  report('silent from the start', { name, deadlineMs, first: late[0], latest: Math.max(...late), lag, excess })
  expect(samples.map(({ decision }) => decision)).toEqual(samples.map(() => true))
  expect(excess).toBeLessThanOrEqual(GRACE_MS)
}

describe.each(STORES)('R4: the first calls on a silent store, by %s', (name, open) => {
  it.each(DEADLINES)('are answered within %s ms, where the call says so', AGAIN, async (deadlineMs) => {
    const limiter = createLimiter({ limit: plenty, store: open(await silent()) })
    await expectUndecided(name, deadlineMs, 4, async () => (await limiter.check('key', { deadlineMs })).outcome === 'undecided')
  })
})

describe('R4: DistributedRateLimiter on a silent server', () => {
  it('answers its first consume within the deadline that it was given', AGAIN, async () => {
    const client = new Redis(await silent(), '127.0.0.1', OPTIONS)
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const limiter = new DistributedRateLimiter(client, { deadlineMs: 50 })
    onTestFinished(() => limiter.close())
    await expectUndecided('DistributedRateLimiter', 50, 1, async () => (await limiter.consume('key', 10, 1)).degraded !== undefined)
  })
})
