import { performance as loop } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { advised, noRedis, privateRedis } from './private-redis.ts'
import { expectIsolated, loops, sharesOf, type Singles, startSingles, window } from './singles.ts'
import { report } from './stopped.ts'

const QUIET_MS = 1_000
const LOADED_MS = 3_000
const LIST = 1_000

async function opened(): Promise<{ store: Store; client: ReturnType<typeof advised> }> {
  const server = await privateRedis()
  onTestFinished(server.stop)
  const client = advised(server.port)
  onTestFinished(() => client.disconnect())
  await new Promise((resolve) => client.once('ready', resolve))
  const store = redisStore({ client: ioredis(client) })
  await store.ready()
  onTestFinished(() => store.close())
  return { store, client }
}

interface Processor {
  readonly at: number
  /** For how many milliseconds this process was on a processor, and for how many its event loop waited for events. */
  readonly on: number
  readonly idle: number
}

function processor(): Processor {
  const { user, system } = process.cpuUsage()
  return { at: performance.now(), on: (user + system) / 1_000, idle: loop.eventLoopUtilization().idle }
}

/** Whether other programs had the processor for at least half of the time since, while this process had work. */
function wasRobbed(since: Processor): boolean {
  const now = processor()
  const passed = now.at - since.at
  return passed - (now.idle - since.idle) - (now.on - since.on) >= passed / 2
}

const list = Array.from({ length: LIST }, (_, index) => ({ key: `list-${index}` }))

/** Other programs on the machine may disturb a measurement. So a test that misses its bound is repeated once. */
const AGAIN = { retry: 1 }

describe.skipIf(noRedis)('R3, R10, R12: callers of much at once leave single callers alone', AGAIN, () => {
  const heavy: readonly [name: string, start: (singles: Singles) => { stop(): Promise<void> }][] = [
    ['8 loops of checkMany(1000)', ({ limiter }) => loops(8, () => limiter.checkMany(list))],
    [
      '9,000 checks at once, once in half a second',
      ({ limiter }) =>
        loops(1, async () => {
          await Promise.all(Array.from({ length: 9_000 }, (_, index) => limiter.check(`at-once-${index}`)))
          await pause(500)
        }),
    ],
    ['500 loops of peek', ({ limiter }) => loops(500, (index) => limiter.peek(`peeked-${index % 7}`))],
  ]
  it.each(heavy)('%s', async (name, start) => {
    const { store } = await opened()
    const singles = await startSingles(store)
    const [quietFrom, quietTo] = await window(QUIET_MS)
    const load = start(singles)
    const [from, to] = await window(LOADED_MS)
    await load.stop()
    await singles.stop()
    expectIsolated(name, sharesOf(singles.load, quietFrom, quietTo), sharesOf(singles.load, from, to))
  })

  it('256 callers of one key: at most one call in a thousand is undecided at the default deadline', async () => {
    const { store } = await opened()
    const singles = await startSingles(store, { callers: 256, pauseMs: 0, keyOf: () => 'hot' })
    const [from, to] = await window(LOADED_MS)
    await singles.stop()
    const { calls, undecided } = sharesOf(singles.load, from, to)
    report('256 callers of one key', { calls, undecided })
    expect(undecided).toBeLessThanOrEqual(0.001)
  })

  it('R11: leases with keys of their own, 256 callers: none is undecided', async () => {
    const { client } = await opened()
    const store = redisStore({ client: ioredis(client), ring: { leases: {} } })
    onTestFinished(() => store.close())
    const singles = await startSingles(store, { callers: 4, pauseMs: 3 })
    // These callers call again in the same turn of the event loop. The callers of `startLoad` would let the loop turn between two calls.
    const counts = { calls: 0, undecided: 0, robbed: 0, refused: 0 }
    const own = loops(256, async (index) => {
      const began = processor()
      const { outcome, degraded } = await singles.limiter.check(`own-${index}`)
      counts.calls += 1
      // The breaker refuses with `unavailable`.
      if (outcome === 'undecided') counts[wasRobbed(began) ? 'robbed' : degraded?.kind === 'unavailable' ? 'refused' : 'undecided'] += 1
    })
    await window(LOADED_MS)
    await own.stop()
    await singles.stop()
    report('256 callers with leases', { ...counts, leased: store.leasedTokens })
    expect(counts.calls).toBeGreaterThan(10_000)
    expect(counts.undecided).toBe(0)
    // Calls of which other programs had the processor may open the breaker, which then refuses others.
    if (counts.robbed === 0) expect(counts.refused).toBe(0)
  })
})
