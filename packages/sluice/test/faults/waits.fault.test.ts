import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { concurrency, createLimiter, fixedWindow, memoryStore, type Store, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'
import { systemTime } from '../../src/time/system.ts'
import { expectInTime } from './in-time.ts'
import { heap } from './under-fault.ts'

const WAITERS = 10_000
const PER_SECOND = 1_000
/**
 * From this waiter on, they wait a second or longer. The first ones wait for milliseconds. If this process pauses while it makes them, the
 * tokens are there before the waiters: then one that need not wait starts before the timers of others run, and all instants are later.
 */
const SETTLED = 1_000
/** What a waiter may cost, all in all. */
const MAX_BYTES = 500

describe('10,000 waiters on one key, 1,000 a second', () => {
  it('start in order, none early, the last one in time, with one store call and few bytes each', async () => {
    const store = memoryStore()
    let calls = 0
    const counted: Store = {
      ...store,
      decide(groups, options) {
        calls += groups.length
        return store.decide(groups, options)
      },
      decideNow(group, now) {
        calls += 1
        return store.decideNow(group, now)
      },
    }
    const limiter = createLimiter({ limit: tokenBucket({ rate: `${PER_SECOND}/s`, burst: 1 }), store: counted })
    const wait = (): ReturnType<typeof limiter.wait> => limiter.wait('k', { maxWaitMs: 60_000 })
    // What is made once is not a waiter's.
    await Promise.all(Array.from({ length: 50 }, wait))
    const waiting: ReturnType<typeof wait>[] = Array.from({ length: WAITERS })
    calls = 0
    const before = heap()
    for (let index = 0; index < WAITERS; index += 1) waiting[index] = wait()
    await new Promise((resolve) => setImmediate(resolve))
    const bytes = (heap() - before) / WAITERS

    const order: number[] = []
    const instants: number[] = []
    let early = 0
    let base = Infinity
    let last = { atMs: 0, lateMs: 0 }
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    await Promise.all(
      waiting.map(async (one, index) => {
        const { atMicros, outcome } = await one
        const now = systemTime.now()
        expect(outcome).toBe('allowed')
        order.push(index)
        instants[index] = atMicros
        if (now < atMicros) early += 1
        if (index === SETTLED) base = atMicros
        if (index === WAITERS - 1) last = { atMs: (atMicros - base) / 1_000, lateMs: (now - atMicros) / 1_000 }
      }),
    )
    delay.disable()
    const lagMs = delay.max / 1e6
    console.log(
      `${WAITERS} waiters in process: ${bytes.toFixed(0)} bytes each, ${calls} store calls, ${early} early, the last ` +
        `${last.lateMs.toFixed(2)} ms late after ${last.atMs.toFixed(0)} ms (longest loop lag ${lagMs.toFixed(2)} ms)`,
    )
    expect(order.filter((index) => index >= SETTLED)).toEqual(Array.from({ length: WAITERS - SETTLED }, (_, index) => SETTLED + index))
    expect(instants).toEqual(instants.toSorted((one, other) => one - other))
    expect([early, calls]).toEqual([0, WAITERS])
    expect(last.atMs).toBe((WAITERS - 1 - SETTLED) * (1_000 / PER_SECOND))
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
    expectInTime('the last waiter', last.lateMs, last.atMs / 100 + 5 + lagMs)
  })
})

const GONE = 10_000
/** Room for what the engine compiles meanwhile; a caller that stayed in memory took thousands of bytes. */
const MAX_BYTES_OF_GONE = 100

describe.each([
  ['a fixed window', fixedWindow({ limit: 1, window: '1m' })],
  ['slots', concurrency({ limit: 1, holdMs: 60_000 })],
])('callers that leave the line for %s', (_, limit) => {
  it('leave nothing in memory, while the first one still waits', async () => {
    const limiter = createLimiter({ limit, clock: manualClock() })
    await limiter.check('k')
    void limiter.wait('k')
    const leave = async (callers: number): Promise<void> => {
      for (let index = 0; index < callers; index += 1) {
        const controller = new AbortController()
        const left = limiter.wait('k', { signal: controller.signal }).catch((error: unknown) => error)
        controller.abort()
        await left
      }
    }
    await leave(GONE)
    const before = heap()
    await leave(GONE)
    expect((heap() - before) / GONE).toBeLessThan(MAX_BYTES_OF_GONE)
  })
})
