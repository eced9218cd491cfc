// A process that makes a reservation, and is killed before it settles. It runs the built package, as an application would.
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { createLimiter, tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { ioredis, redisStore } from 'sluice/redis'

/** @typedef {{ kind: 'redis' | 'postgres', url: string, space: string, name: string, holdMs: number }} Task */

process.on('disconnect', () => process.exit(0))
process.once('message', (/** @type {Task} */ task) => void run(task))

/** @param {Task} task */
async function run({ kind, url, space, name, holdMs }) {
  const store =
    kind === 'redis'
      ? redisStore({ client: ioredis(new Redis(url)), prefix: space })
      : postgresStore({ client: pg(new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${space}` })) })
  await store.ready()
  const limiter = createLimiter({ name, limit: tokenBucket({ rate: '1/d', burst: 10 }), store, deadlineMs: 5_000 })
  const { id, decision } = await limiter.reserve('k', { cost: 6, holdMs })
  process.send({ id, outcome: decision.outcome })
  // The settlement that never comes.
  setInterval(() => {}, 1_000)
}
