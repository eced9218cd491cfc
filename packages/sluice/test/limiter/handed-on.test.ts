import { describe, expect, it, vi } from 'vitest'
import { buildLimiter } from '../../src/limiter/build-limiter.ts'
import { createLimiter, memoryStore, type Store, StoreFailure, tokenBucket } from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import type { CallOptions } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { remoteMemory } from '../remote-memory.ts'

const [wide, narrow] = [tokenBucket({ rate: '10/s', burst: 20 }), tokenBucket({ rate: '1/s', burst: 2 })]

/** A memory store that takes 5 ms for each call, and a list of the options of its calls. */
function slow(clock = manualClock()) {
  const memory = memoryStore({ clock })
  const calls: (CallOptions | undefined)[] = []
  const store = remoteMemory(memory, {
    name: 'slow',
    decide(groups, options) {
      calls.push(options)
      clock.advance(5)
      return memory.decide(groups)
    },
    change(changes, options) {
      calls.push(options)
      return memory.change(changes)
    },
  })
  const sync: Store = {
    ...memory,
    decideNow(group) {
      clock.advance(5)
      return memory.decideNow(group)
    },
    decide(groups, options) {
      calls.push(options)
      return memory.decide(groups)
    },
  }
  return { clock, calls, store, sync }
}

describe('X7: what a limiter passes to its store', () => {
  it('the signal of the caller, and a deadline if the store is not in this process', async () => {
    const { signal } = new AbortController()
    const near = slow()
    const peeked = createLimiter({ limit: wide, store: near.sync, clock: near.clock })
    await peeked.peek('k', { signal })
    await peeked.peek('k')
    expect(near.calls).toEqual([{ signal, charge: false }, { charge: false }])
    const far = slow()
    const limiter = createLimiter({ limit: wide, store: far.store, clock: far.clock, deadlineMs: 70 })
    const start = far.clock.monotonic()
    await limiter.check('k')
    await limiter.check('k', { signal, deadlineMs: 30 })
    await limiter.check('k', { signal })
    await limiter.refund('k')
    expect(far.calls).toEqual([
      { deadline: start + 70 },
      { deadline: start + 5 + 30, signal },
      { deadline: start + 10 + 70, signal },
      { deadline: start + 15 + 70 },
    ])
  })

  it('R4: which deadline may be extended: the built-in one, and none that anybody stated', async () => {
    const far = slow()
    const limiter = createLimiter({ limit: wide, store: far.store, clock: far.clock })
    const start = far.clock.monotonic()
    await limiter.check('k')
    await limiter.check('k', { deadlineMs: 50 })
    await limiter.check('k', { deadlineMs: undefined as never })
    await limiter.reset('k')
    await createLimiter({ limit: wide, store: far.store, clock: far.clock, deadlineMs: 50 }).check('k')
    const stated = { deadline: expect.any(Number) }
    const builtIn = { ...stated, stretch: true }
    expect(far.calls[0]).toEqual({ deadline: start + 50, stretch: true })
    expect(far.calls.slice(1)).toEqual([stated, builtIn, builtIn, stated])
  })

  it('five seconds to become ready, however little a call may take', async () => {
    const far = slow()
    const calls: (CallOptions | undefined)[] = []
    const store: Store = { ...far.store, ready: async (options) => void calls.push(options) }
    const start = far.clock.monotonic()
    await createLimiter({ limit: wide, store, clock: far.clock, deadlineMs: 70 }).ready()
    expect(calls).toEqual([{ deadline: start + 5_000 }])
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
    const { calls, store, clock } = slow()
    const limiter = createLimiter({ limit: wide, store, clock })
    expect(await limiter.checkMany([])).toEqual([])
    expect(calls).toEqual([])
    expect(await limiter.checkMany([{ key: 'k', cost: 3 }])).toMatchObject([{ outcome: 'allowed', limits: [{ remaining: 17 }] }])
    expect(calls).toHaveLength(1)
  })
})

describe('X7: what a limiter reports of a refusal', () => {
  it('which limit it was, also if the store knows no wait', async () => {
    const view = { remaining: 0, replenishAfter: 0, resetAfter: 0 }
    const store = remoteMemory(memoryStore(), {
      decide: async () => [
        {
          outcome: 'denied',
          at: 0,
          calls: [
            { ...view, outcome: 'allowed', retryAfter: 0 },
            { ...view, outcome: 'denied', retryAfter: 0 },
          ],
        },
      ],
    })
    const decision = await createLimiter({ limits: { wide, narrow }, store }).check('k')
    expect(decision).toMatchObject({ outcome: 'denied', reason: 'quota', limitName: 'narrow', source: 'store' })
    expect('retryAfterMs' in decision).toBe(false)
  })
})

describe('X7: closing a limiter', () => {
  it('closes the store that createLimiter made, and leaves those of others open', async () => {
    const [store, local] = [remoteMemory(), memoryStore()]
    const left = [store, local].map((one) => vi.spyOn(one, 'close'))
    await createLimiter({ limit: wide, store, onStoreFailure: local }).close()
    await createLimiter({ limit: wide, store, onStoreFailure: 'local' }).close()
    await createLimiter({ limit: wide, store: local }).close()
    for (const close of left) expect(close).not.toHaveBeenCalled()
  })

  it('closes what it owns, once, and is over when that is closed', async () => {
    const clock = manualClock()
    const closed: string[] = []
    const limiter = buildLimiter({
      name: 'own',
      limits: { wide },
      store: memoryStore({ clock }),
      onStoreFailure: 'deny',
      local: undefined,
      clock,
      deadline: { ms: 50 },
      maxHolds: undefined,
      observers: [],
      random: () => 0,
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

describe('X7: what observers of a limiter see', () => {
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

  it('the outcome of each limit, and that of all if the store did not decide', async () => {
    const { clock, store } = slow()
    const { events, limiter } = observed(store, clock)
    await limiter.check('k', { cost: 2 })
    await limiter.check('k')
    await limiter.check('k', { cost: 3 })
    const away = observed({ ...store, decide: () => Promise.reject(new StoreFailure('connection', 'no', 'away')) }, clock)
    await away.limiter.check('k')
    expect([...events, ...away.events].map(({ results }) => results)).toEqual([
      [
        { rule: 'wide', result: 'allowed', newKey: true },
        { rule: 'narrow', result: 'allowed', newKey: true },
      ],
      [
        { rule: 'wide', result: 'withheld' },
        { rule: 'narrow', result: 'denied' },
      ],
      [
        { rule: 'wide', result: 'withheld' },
        { rule: 'narrow', result: 'impossible' },
      ],
      [
        { rule: 'wide', result: 'undecided', failure: 'connection' },
        { rule: 'narrow', result: 'undecided', failure: 'connection' },
      ],
    ])
  })
})
