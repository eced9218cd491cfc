// One of several processes whose callers wait for one key. It runs the built package, as an application would.
// It answers a Task with 'ready' once it is connected. It answers the next message with when its callers started.
import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { createLimiter, fixedWindow, tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { ioredis, redisStore } from 'sluice/redis'
import { remoteStore } from 'sluice/remote'

// The parent ends this process once it has everything.
process.on('disconnect', () => process.exit(0))
process.once('message', (task) => void run(task))

async function run({ kind, url, space, waiters, limit }) {
  const { store: bare, end } = kind === 'redis' ? overRedis(url, space) : overPostgres(url, space)
  const count = { calls: 0, batches: 0 }
  // The deadline is long, because on two cores four busy processes may take long to answer. Only answered calls count here.
  const ring = remoteStore(
    counting(bare, () => (count.batches += 1)),
    { deadline: 10_000 },
  )
  const limiter = createLimiter({
    limit: 'rate' in limit ? tokenBucket(limit) : fixedWindow(limit),
    store: counting(ring, (groups) => (count.calls += groups)),
  })
  await limiter.ready()
  const go = new Promise((resolve) => process.once('message', resolve))
  process.send('ready')
  await go

  const report = { instants: [], refused: 0, early: 0, ...count }
  const waiter = async () => {
    const { outcome, atMicros } = await limiter.wait('k', { maxWaitMs: 60_000 })
    // Counts callers that started too early. The server has the clock of this machine, in microseconds. `Date.now` drops the part of a
    // millisecond, so one is added.
    if ((Date.now() + 1) * 1_000 <= atMicros) report.early += 1
    if (outcome === 'allowed') report.instants.push(atMicros)
    else report.refused += 1
  }
  await Promise.all(Array.from({ length: waiters }, waiter))
  Object.assign(report, count)
  await limiter.close()
  await end()
  process.send(report)
}

function counting(store, count) {
  const decide = (groups, options) => {
    count(groups.length)
    return store.decide(groups, options)
  }
  // A remembered denial is no call.
  return { ...store, decide }
}

function overRedis(url, prefix) {
  const client = new Redis(url)
  return { store: redisStore({ client: ioredis(client), prefix, ring: false }), end: () => client.quit() }
}

function overPostgres(url, schema) {
  const pool = new pgDriver.Pool({ connectionString: url, max: 4, options: `-c search_path=${schema}` })
  return { store: postgresStore({ client: pg(pool), ring: false }), end: () => pool.end() }
}
