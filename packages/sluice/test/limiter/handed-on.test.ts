import { describe, expect, it } from 'vitest'
import { buildLimiter } from '../../src/limiter/limiter.ts'
import { createLimiter, memoryStore, type Store, StoreFailure, tokenBucket } from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import type { CallOptions } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'

const [wide, narrow] = [tokenBucket({ rate: '10/s', burst: 20 }), tokenBucket({ rate: '1/s', burst: 2 })]

/** A memory store that takes 5 ms for each call, and what it was given. */
function slow(clock = manualClock(), capabilities: Partial<Store['capabilities']> = {}) {
  const memory = memoryStore({ clock })
  const given: (CallOptions | undefined)[] = []
  const { consumeSync, ...rest } = memory
  const store: Store = {
    ...rest,
    name: 'slow',
    capabilities: { ...memory.capabilities, ...capabilities, sync: false },
    consume(groups, options) {
      given.push(options)
      clock.advance(5)
      return memory.consume(groups)
    },
  }
  const sync: Store = {
    ...memory,
    consumeSync(group) {
      clock.advance(5)
      return consumeSync(group)
    },
  }
  return { clock, given, store, sync }
}

describe('X7: what a limiter hands on to its store', () => {
  it('the signal of the caller, and a deadline where the store is far away', async () => {
    const { signal } = new AbortController()
    const near = slow()
    await createLimiter({ limit: wide, store: near.store }).check('k', { signal })
    await createLimiter({ limit: wide, store: near.store, clock: near.clock }).check('k')
    expect(near.given).toEqual([{ signal }, {}])
    const far = slow(manualClock(), { clock: 'server' })
    const limiter = createLimiter({ limit: wide, store: far.store, clock: far.clock, deadlineMs: 70 })
    const start = far.clock.monotonic()
    await limiter.check('k')
    await limiter.check('k', { signal, deadlineMs: 30 })
    await limiter.check('k', { signal })
    expect(far.given).toEqual([{ deadline: start + 70 }, { deadline: start + 5 + 30, signal }, { deadline: start + 10 + 70, signal }])
  })

  it('five seconds to become ready, however little a call may take', async () => {
    const far = slow(manualClock(), { clock: 'server' })
    const asked: (CallOptions | undefined)[] = []
    const store: Store = { ...far.store, ready: async (options) => void asked.push(options) }
    const start = far.clock.monotonic()
    await createLimiter({ limit: wide, store, clock: far.clock, deadlineMs: 70 }).ready()
    expect(asked).toEqual([{ deadline: start + 5_000 }])
  })

  it('a receipt of any instant since 1970, also of the first', async () => {
    const clock = manualClock(0)
    const limiter = createLimiter({ limit: wide, store: memoryStore({ clock }), clock })
    const receipt = await limiter.check('k', { cost: 5 })
    expect(receipt.atMicros).toBe(0)
    await limiter.refund('k', { cost: 5, receipt })
    expect((await limiter.peek('k')).limits[0]?.remaining).toBe(20)
    await expect(limiter.refund('k', { receipt: { atMicros: -1 } })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
  })

  it('no call for no request, and one for one', async () => {
    const { given, store, clock } = slow()
    const limiter = createLimiter({ limit: wide, store, clock })
    expect(await limiter.checkMany([])).toEqual([])
    expect(given).toEqual([])
    expect(await limiter.checkMany([{ key: 'k', cost: 3 }])).toMatchObject([{ outcome: 'allowed', limits: [{ remaining: 17 }] }])
    expect(given).toHaveLength(1)
  })
})

describe('X7: what a limiter says of a refusal', () => {
  it('which limit it was, also where the store knows of no wait', async () => {
    const memory = memoryStore({ clock: manualClock() })
    const { consumeSync: _, ...rest } = memory
    const view = { remaining: 0, replenishAfter: 0, resetAfter: 0 }
    const store: Store = {
      ...rest,
      capabilities: { ...memory.capabilities, sync: false },
      consume: async () => [
        {
          outcome: 'denied',
          allowed: false,
          at: 0,
          source: 'store',
          calls: [
            { ...view, outcome: 'allowed', retryAfter: 0 },
            { ...view, outcome: 'denied', retryAfter: 0 },
          ],
        },
      ],
    }
    const decision = await createLimiter({ limits: { wide, narrow }, store }).check('k')
    expect(decision).toMatchObject({ outcome: 'denied', reason: 'quota', limitName: 'narrow' })
    expect('retryAfterMs' in decision).toBe(false)
  })
})

describe('X7: closing a limiter', () => {
  it('closes what it owns, once, and is over when that is closed', async () => {
    const clock = manualClock()
    const closed: string[] = []
    const limiter = buildLimiter({
      name: 'own',
      limits: { wide },
      store: memoryStore({ clock }),
      clock,
      deadlineMs: 50,
      observers: [],
      onClose: async () => {
        closed.push('begun')
        await Promise.resolve()
        closed.push('over')
      },
    })
    await limiter.close()
    expect(closed).toEqual(['begun', 'over'])
    await limiter[Symbol.asyncDispose]()
    expect(closed).toEqual(['begun', 'over'])
  })
})

describe('X7: what observers of a limiter are told', () => {
  const observed = (store: Store, clock: ReturnType<typeof manualClock>) => {
    const events: DecisionEvent[] = []
    const limits = { wide, narrow }
    return {
      events,
      limiter: createLimiter({ name: 'api', limits, store, clock, observers: [{ onDecision: (event) => void events.push(event) }] }),
    }
  }

  it('how long the store took, by the clock of the limiter', async () => {
    const { clock, store, sync } = slow()
    clock.advance(1_000)
    const { events, limiter } = observed(store, clock)
    await limiter.check('k')
    await limiter.checkMany([{ key: 'k' }])
    const here = observed(sync, clock)
    here.limiter.checkSync('k')
    await here.limiter.check('k')
    expect([...events, ...here.events].map(({ durationMs }) => durationMs)).toEqual([5, 5, 5, 5])
  })

  it('the outcome of each limit, and that of all where the store said nothing', async () => {
    const { clock, store } = slow()
    const { events, limiter } = observed(store, clock)
    await limiter.check('k', { cost: 2 })
    await limiter.check('k')
    await limiter.check('k', { cost: 3 })
    const away = observed({ ...store, consume: () => Promise.reject(new StoreFailure('connection', 'no', 'away')) }, clock)
    await away.limiter.check('k')
    expect([...events, ...away.events].map(({ results }) => results)).toEqual([
      [
        { rule: 'wide', result: 'allowed' },
        { rule: 'narrow', result: 'allowed' },
      ],
      [
        { rule: 'wide', result: 'allowed' },
        { rule: 'narrow', result: 'denied' },
      ],
      [
        { rule: 'wide', result: 'allowed' },
        { rule: 'narrow', result: 'impossible' },
      ],
      [
        { rule: 'wide', result: 'undecided' },
        { rule: 'narrow', result: 'undecided' },
      ],
    ])
  })
})
