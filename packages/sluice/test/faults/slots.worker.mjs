// One of several processes that take slots of one key, and are killed while they hold some. It runs the built package, as an application
// would. It reports each grant, and reports each release before it sends the release. After the message 'keep' it releases nothing more,
// and reports what it keeps.
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { concurrency, createLimiter } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { ioredis, redisStore } from 'sluice/redis'

/** @typedef {{ kind: 'redis' | 'postgres', url: string, limit: number, holdMs: number, callers: number }} Task */

process.on('disconnect', () => process.exit(0))
process.once('message', (/** @type {Task} */ task) => void run(task))

/** @param {Task} task */
async function run({ kind, url, limit, holdMs, callers }) {
  const ring = { deadline: 10_000 }
  const store =
    kind === 'redis'
      ? redisStore({ client: ioredis(new Redis(url)), ring })
      : postgresStore({ client: pg(new pgDriver.Pool({ connectionString: url, max: 2 })), ring })
  const limiter = createLimiter({ limit: concurrency({ limit, holdMs }), store })
  let keeps = false
  process.on('message', (message) => (keeps ||= message === 'keep'))
  await limiter.ready()
  const caller = async () => {
    for (;;) {
      const { allowed, atMicros, hold } = await limiter.check('k')
      if (!allowed) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        continue
      }
      process.send({ id: hold.id, from: atMicros, until: hold.expiresAt * 1_000, fence: hold.fence })
      await new Promise((resolve) => setTimeout(resolve, 10 * Math.random()))
      if (keeps) return void process.send({ id: hold.id, kept: true })
      // The report is written before the release is sent. So a kill between the two cannot lose the report.
      await new Promise((resolve) => process.send({ id: hold.id, given: Date.now() * 1_000 }, resolve))
      await limiter.release('k', hold.id)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}
