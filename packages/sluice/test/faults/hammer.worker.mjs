// One process of several on one key. Runs the built package, as an application would: node cannot run the sources.
// Answers a Task with 'ready' once it is connected, and the next message with every verdict it got.
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { ioredis, redisStore } from 'sluice/redis'

/** @typedef {{ kind: 'redis' | 'postgres', url: string, space: string, rate: string, burst: number, callers: number, ms: number }} Task */

// The parent ends this process once it has everything.
process.on('disconnect', () => process.exit(0))
process.once('message', (/** @type {Task} */ task) => void run(task))

/** @param {Task} task */
async function run({ kind, url, space, rate, burst, callers, ms }) {
  const { store, end } = kind === 'redis' ? overRedis(url, space) : overPostgres(url, space)
  const limit = tokenBucket({ rate, burst })
  await store.ready()
  const go = new Promise((resolve) => process.once('message', resolve))
  process.send('ready')
  await go

  const until = performance.now() + ms
  /** @type {number[]} store time in microseconds, below 0 for a denial */
  const verdicts = []
  const caller = async () => {
    while (performance.now() < until) {
      const [{ at, allowed }] = await store.consume([
        { calls: [{ id: { scope: { text: 'hammer:' }, key: 'one' }, limit, cost: 1_000_000, phase: 0 }] },
      ])
      verdicts.push(allowed ? at : -at)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  await end()
  process.send(verdicts)
}

function overRedis(url, prefix) {
  const client = new Redis(url)
  return { store: redisStore({ client: ioredis(client), prefix }), end: () => client.quit() }
}

function overPostgres(url, schema) {
  const pool = new pgDriver.Pool({ connectionString: url, max: 4, options: `-c search_path=${schema}` })
  return { store: postgresStore({ client: pg(pool) }), end: () => pool.end() }
}
