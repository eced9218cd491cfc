// One of several processes that lose the same server. It has many stores, each with a client of its own, and runs the built package, as an
// application would. It answers a Task with 'ready' once all are connected. It answers the next message with what happened.
import { Redis } from 'ioredis'
import { tokenBucket } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'

/** @typedef {{ port: number, stores: number, deadlineMs: number, pauseMs: number }} Task */

// The parent ends this process once it has everything.
process.on('disconnect', () => process.exit(0))
process.once('message', (/** @type {Task} */ task) => void run(task))
const refused = []
process.on('unhandledRejection', (reason) => refused.push(String(reason)))

/** @param {Task} task */
async function run({ port, stores, deadlineMs, pauseMs }) {
  const limit = tokenBucket({ rate: '1000000/s', burst: 1_000_000 })
  const open = Array.from({ length: stores }, () => {
    const client = new Redis(port, '127.0.0.1', {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 500,
      // Full jitter, so that many do not come at once.
      retryStrategy: () => 10 + Math.random() * 190,
    })
    client.on('error', () => {})
    return { client, store: redisStore({ client: ioredis(client), ring: false }) }
  })
  await Promise.all(open.map(({ client }) => new Promise((resolve) => client.once('ready', resolve))))
  await Promise.all(open.map(({ store }) => store.ready()))
  const state = { running: true }
  let [answered, denied, held, look] = [0, 0, 0, performance.now()]
  const meter = setInterval(() => {
    const now = performance.now()
    held = Math.max(held, now - look - 1)
    look = now
  }, 1)
  const callers = open.map(async ({ store }, index) => {
    const seen = { failures: 0, recoveredAt: 0, latest: 0 }
    let inARow = 0
    const calls = [{ id: { scope: { text: 'recover:' }, key: `${process.pid}-${index}` }, limit, cost: 1_000_000, phase: 0 }]
    while (state.running) {
      const began = performance.now()
      try {
        const [{ failure, outcome }] = await store.decide([{ calls }], { deadline: began + deadlineMs })
        if (failure !== undefined) throw failure
        answered += 1
        if (outcome !== 'allowed') denied += 1
        // A single late answer is no outage.
        if (inARow >= 5) seen.recoveredAt = Date.now()
        inARow = 0
      } catch {
        seen.failures += 1
        inARow += 1
      }
      seen.latest = Math.max(seen.latest, performance.now() - began - deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    return seen
  })
  const told = new Promise((resolve) => process.once('message', resolve))
  process.send('ready')
  await told
  state.running = false
  const seen = await Promise.all(callers)
  clearInterval(meter)
  open.forEach(({ client }) => client.disconnect())
  process.send({ seen, answered, denied, held, refused })
}
