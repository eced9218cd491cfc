// One of several processes that call the same keys. It runs the built package, as an application would, because Node cannot run the
// sources. It answers a Task with 'ready' once it is connected. It answers the next message with what passed.
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { ioredis, redisStore } from 'sluice/redis'
import { remoteStore, withCoalescing } from 'sluice/remote'

/**
 * @typedef {{ kind: 'redis' | 'postgres', mode: 'exact' | 'coalesced' | 'leases', url: string, space: string, rate: string, burst: number,
 *   callers: number, keys: number, ms: number }} Task
 */

/** The deadline. On two cores, four busy processes may take long to answer. Only answered calls count here, so it is long. */
const PATIENCE_MS = 10_000

// The parent ends this process once it has everything.
process.on('disconnect', () => process.exit(0))
process.once('message', (/** @type {Task} */ task) => void run(task))

/** @type {Record<Task['mode'], (store: import('sluice').Store) => import('sluice').Store>} */
const MODES = {
  exact: (store) => store,
  coalesced: (store) => withCoalescing(store),
  leases: (store) => remoteStore(store, { breaker: false, denials: false, leases: {} }),
}

/** @param {Task} task */
async function run({ kind, mode, url, space, rate, burst, callers, keys, ms }) {
  const { store: bare, end } = kind === 'redis' ? overRedis(url, space) : overPostgres(url, space)
  const store = MODES[mode](bare)
  const limit = tokenBucket({ rate, burst })
  await store.ready()
  const go = new Promise((resolve) => process.once('message', resolve))
  process.send('ready')
  await go

  const until = performance.now() + ms
  const seen = Array.from({ length: keys }, () => ({ admitted: [], denied: [] }))
  const groups = seen.map((_, index) => [
    { calls: [{ id: { scope: { text: 'hammer:' }, key: `key${index}` }, limit, cost: 1_000_000, phase: 0 }] },
  ])
  const sources = {}
  const caller = async (_, index) => {
    for (let turn = index; performance.now() < until; turn += 7) {
      const key = turn % keys
      const [{ failure, at, outcome, source = 'store' }] = await store.decide(groups[key], { deadline: performance.now() + PATIENCE_MS })
      if (failure !== undefined) throw failure
      const allowed = outcome === 'allowed'
      sources[source] = (sources[source] ?? 0) + 1
      if (allowed) seen[key].admitted.push(at)
      else if (mode === 'exact' && keys === 1) seen[key].denied.push(at)
      if (!allowed && source !== 'store') await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  await store.close()
  await end()
  process.send({ seen, sources })
}

function overRedis(url, prefix) {
  const client = new Redis(url)
  return { store: redisStore({ client: ioredis(client), prefix, ring: false }), end: () => client.quit() }
}

function overPostgres(url, schema) {
  const pool = new pgDriver.Pool({ connectionString: url, max: 4, options: `-c search_path=${schema}` })
  return { store: postgresStore({ client: pg(pool), ring: false }), end: () => pool.end() }
}
