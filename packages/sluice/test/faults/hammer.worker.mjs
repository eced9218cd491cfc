// One process of several on one key. Runs the built package, as an application would: node cannot run the sources.
// Answers a Task with 'ready' once it is connected, and the next message with every verdict it got.
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { ioredis, redisStore } from 'sluice/redis'
import { withCoalescing, withLeases } from 'sluice/wrap'

/**
 * @typedef {{
 *   kind: 'redis' | 'postgres', url: string, space: string, mode: 'exact' | 'coalesced' | 'leases', keys: number,
 *   rate: string, burst: number, callers: number, ms: number
 * }} Task
 */

// The parent ends this process once it has everything.
process.on('disconnect', () => process.exit(0))
process.once('message', (/** @type {Task} */ task) => void run(task))

/** @param {Task} task */
async function run({ kind, url, space, mode, keys, rate, burst, callers, ms }) {
  const { store: inner, end } = kind === 'redis' ? overRedis(url, space) : overPostgres(url, space)
  const store = MODES[mode](inner)
  const limit = tokenBucket({ rate, burst })
  await store.ready()
  const go = new Promise((resolve) => process.once('message', resolve))
  process.send('ready')
  await go

  const until = performance.now() + ms
  /** @type {number[][]} by key, store time in microseconds, below 0 for a denial */
  const verdicts = Array.from({ length: keys }, () => [])
  const scope = { text: 'hammer:' }
  const groups = verdicts.map((_, key) => [{ calls: [{ id: { scope, key: `k${key}` }, limit, cost: 1_000_000, phase: 0 }] }])
  const caller = async (_, index) => {
    // Each on its own way through the keys, but for one key.
    for (let step = index; performance.now() < until; step += 7) {
      const key = step % keys
      const [{ at, allowed }] = await store.consume(groups[key])
      verdicts[key].push(allowed ? at : -at)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  await store.close()
  await end()
  process.send(verdicts)
}

const MODES = {
  exact: (store) => store,
  coalesced: (store) => withCoalescing(store),
  leases: (store) => withLeases(store),
}

function overRedis(url, prefix) {
  const client = new Redis(url)
  return { store: redisStore({ client: ioredis(client), prefix }), end: () => client.quit() }
}

function overPostgres(url, schema) {
  const pool = new pgDriver.Pool({ connectionString: url, max: 4, options: `-c search_path=${schema}` })
  return { store: postgresStore({ client: pg(pool) }), end: () => pool.end() }
}
