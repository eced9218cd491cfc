import { describe, expect, it, vi } from 'vitest'
import { createLimiter, type DecisionEvent, fixedWindow, type LimiterOptions, memoryStore, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'
import { remoteMemory } from '../remote-memory.ts'

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** A limiter on a clock of its own, and a list of the callers that have got their turn. */
function waiting(options: Pick<LimiterOptions, 'limit' | 'limits'>) {
  const clock = manualClock()
  const limiter = createLimiter({ ...options, clock })
  const through: string[] = []
  const wait = (name: string, own: Parameters<typeof limiter.wait>[1] = {}, key = 'k'): Promise<void> =>
    limiter.wait(key, own).then(
      ({ outcome }) => void through.push(outcome === 'allowed' ? name : `${name} ${outcome}`),
      (error: Error) => void through.push(`${name} ${error.message}`),
    )
  const advance = async (ms: number): Promise<void> => {
    await settle()
    clock.advance(ms)
    await settle()
  }
  return { clock, limiter, through, wait, advance }
}

describe.each([
  ['a token bucket, charged ahead', tokenBucket({ rate: '1/s', burst: 1 })],
  ['a fixed window, in line', fixedWindow({ limit: 1, window: '1s' })],
])('wait on %s', (_, limit) => {
  it('comes through in the order of arrival, when the tokens are there, and never early', async () => {
    const { through, wait, advance } = waiting({ limit })
    for (const name of ['a', 'b', 'c']) void wait(name)
    await settle()
    expect(through).toEqual(['a'])
    await advance(999)
    expect(through).toEqual(['a'])
    await advance(1)
    expect(through).toEqual(['a', 'b'])
    await advance(1_000)
    expect(through).toEqual(['a', 'b', 'c'])
  })

  it('is denied where the wait would be longer than maxWaitMs', async () => {
    const { limiter, through, wait, advance } = waiting({ limit })
    void wait('a')
    void wait('b')
    await settle()
    void wait('c', { maxWaitMs: 500 })
    await advance(500)
    await advance(0)
    expect(through).toEqual(['a', 'c denied'])
    await advance(500)
    expect(through).toEqual(['a', 'c denied', 'b'])
    expect((await limiter.wait('k', { maxWaitMs: 0 })).outcome).toBe('denied')
  })

  it('ends with the reason of the signal, and takes nothing', async () => {
    const { limiter, through, wait, advance } = waiting({ limit })
    const controller = new AbortController()
    void wait('a')
    void wait('b', { signal: controller.signal })
    await settle()
    controller.abort(new Error('gone'))
    await settle()
    expect(through).toEqual(['a', 'b gone'])
    await expect(limiter.wait('k', { signal: controller.signal })).rejects.toThrow('gone')
    void wait('c')
    await advance(1_000)
    expect(through).toEqual(['a', 'b gone', 'c'])
  })

  it('of one key does not hold up another', async () => {
    const { through, wait, advance } = waiting({ limit })
    void wait('a')
    void wait('b')
    void wait('other', {}, 'j')
    await advance(0)
    expect(through).toEqual(['a', 'other'])
  })

  it('is impossible above the capacity, at once', async () => {
    const { limiter } = waiting({ limit })
    expect((await limiter.wait('k', { cost: 2 })).outcome).toBe('impossible')
  })

  it.each([
    [{ maxWaitMs: -1 }, 'maxWaitMs is -1, expected 0 to 86400000'],
    [{ maxWaitMs: Number.NaN }, 'maxWaitMs is NaN'],
    [{ cost: 0 }, 'cost'],
    [{ maxwaitMs: 5 }, 'unknown option maxwaitMs'],
  ])('refuses %j', async (options, message) => {
    const { limiter } = waiting({ limit })
    await expect(limiter.wait('k', options as object)).rejects.toThrow(message)
  })
})

describe('wait', () => {
  it('on several buckets waits for the slowest, and charges all or none', async () => {
    const limits = { fast: tokenBucket({ rate: '10/s', burst: 1 }), slow: tokenBucket({ rate: '1/s', burst: 1 }) }
    const { through, wait, advance } = waiting({ limits })
    void wait('a')
    void wait('b')
    await advance(999)
    expect(through).toEqual(['a'])
    await advance(1)
    expect(through).toEqual(['a', 'b'])
  })

  it('decides as of the instant at which the work may start', async () => {
    const { clock, limiter, advance } = waiting({ limit: tokenBucket({ rate: '1/s', burst: 5 }) })
    const started = clock.now()
    const decisions = [limiter.wait('k', { cost: 5 }), limiter.wait('k', { cost: 2 }), limiter.wait('k')]
    for (let second = 0; second < 3; second += 1) await advance(1_000)
    const view = { remaining: 0, replenishAfterMs: 1_000, resetAfterMs: 5_000 }
    expect(await Promise.all(decisions)).toMatchObject(
      [0, 2_000_000, 3_000_000].map((after) => ({ outcome: 'allowed', atMicros: started + after, limits: [view] })),
    )
  })

  it('on several buckets decides as of the instant of the slowest', async () => {
    const limits = {
      fast: tokenBucket({ rate: '10/s', burst: 4 }),
      slow: tokenBucket({ rate: '1/s', burst: 2 }),
      idle: tokenBucket({ rate: '1/min', burst: 60 }),
    }
    const { limiter, advance } = waiting({ limits })
    const decisions = [limiter.wait('k', { cost: 2 }), limiter.wait('k', { cost: 2 }), limiter.wait('k')]
    for (let second = 0; second < 3; second += 1) await advance(1_000)
    expect(
      (await Promise.all(decisions)).map((one) => one.limits.map(({ remaining, replenishAfterMs }) => [remaining, replenishAfterMs])),
    ).toEqual([
      [
        [2, 100],
        [0, 1_000],
        [58, 60_000],
      ],
      [
        [4, 0],
        [0, 1_000],
        [56, 58_000],
      ],
      [
        [4, 0],
        [0, 1_000],
        [55, 57_000],
      ],
    ])
  })

  it('is reported as it is charged: a key that waits is no new one', async () => {
    const events: DecisionEvent[] = []
    const clock = manualClock()
    const observers = [{ onDecision: (event: DecisionEvent) => void events.push(event) }]
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), clock, observers })
    const both = [limiter.wait('k'), limiter.wait('k')]
    await settle()
    clock.advance(1_000)
    await Promise.all(both)
    expect(events.map(({ results }) => results[0]?.newKey)).toEqual([true, undefined])
  })

  it('leaves nothing behind at a signal whose callers came through', async () => {
    const { limiter, advance } = waiting({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    const both = [limiter.wait('k', { signal }), limiter.wait('k', { signal })]
    await advance(1_000)
    await Promise.all(both)
    expect(removed).toHaveBeenCalledTimes(1)
  })

  it('listens once to a signal, however many wait with it', async () => {
    const { wait, through } = waiting({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
    const controller = new AbortController()
    const added = vi.spyOn(controller.signal, 'addEventListener')
    for (let index = 0; index < 100; index += 1) void wait(`${index}`, { signal: controller.signal, maxWaitMs: 1_000_000 })
    await settle()
    expect(added).toHaveBeenCalledTimes(1)
    controller.abort(new Error('gone'))
    await settle()
    expect(through).toHaveLength(100)
  })

  it('whose caller leaves makes room for the next one, unless somebody waits behind it', async () => {
    const { limiter, through, wait, advance } = waiting({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
    const [first, last] = [new AbortController(), new AbortController()]
    void wait('a')
    void wait('b', { signal: first.signal })
    void wait('c', { signal: last.signal })
    await settle()
    last.abort(new Error('left'))
    await settle()
    expect((await limiter.peek('k')).retryAfterMs).toBe(2_000)
    void wait('d')
    await settle()
    first.abort(new Error('left'))
    await settle()
    expect((await limiter.peek('k')).retryAfterMs).toBe(3_000)
    await advance(2_000)
    expect(through).toEqual(['a', 'c left', 'b left', 'd'])
  })

  it('gives back everything if all leave at once, in one store call', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const change = vi.fn(store.change)
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), store: { ...store, change }, clock })
    const controller = new AbortController()
    await limiter.wait('k')
    const waits = Array.from({ length: 100 }, () => limiter.wait('k', { signal: controller.signal, maxWaitMs: 1_000_000 }))
    const left = Promise.allSettled(waits)
    await settle()
    expect((await limiter.peek('k')).retryAfterMs).toBe(101_000)
    controller.abort(new Error('gone'))
    expect((await left).every(({ status }) => status === 'rejected')).toBe(true)
    await settle()
    expect((await limiter.peek('k')).retryAfterMs).toBe(1_000)
    expect(change).toHaveBeenCalledTimes(1)
  })

  it('whose caller leaves gives back what the faster limits of its group were charged', async () => {
    const limits = { day: tokenBucket({ rate: '1000/day', burst: 1_000 }), pace: tokenBucket({ rate: '1/s', burst: 1 }) }
    const { limiter, wait, advance } = waiting({ limits })
    const controllers = Array.from({ length: 5 }, () => new AbortController())
    await wait('a')
    for (const { signal } of controllers) void wait('b', { signal })
    await settle()
    expect((await limiter.peek('k')).limits[0]?.remaining).toBe(994)
    // The callers leave in the order in which they came, as callers do that wait equally long.
    for (const controller of controllers) {
      controller.abort()
      await advance(1)
    }
    expect((await limiter.peek('k')).limits[0]?.remaining).toBe(999)
  })

  it('gives back tokens that were there if its caller leaves while the store is called', async () => {
    const memory = memoryStore({ clock: manualClock() })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 10 }), store: remoteMemory(memory) })
    const controller = new AbortController()
    const waited = limiter.wait('k', { cost: 4, signal: controller.signal })
    controller.abort(new Error('gone'))
    await expect(waited).rejects.toThrow('gone')
    await settle()
    expect((await limiter.peek('k')).limits[0]?.remaining).toBe(10)
  })

  it('is decided by the failure policy where the store fails, and does not wait', async () => {
    const clock = manualClock()
    const store = {
      ...memoryStore({ clock }),
      decideNow: () => {
        throw new Error('never')
      },
      decide: () => new Promise<never>(() => {}),
    }
    const limiter = createLimiter({
      limit: tokenBucket({ rate: '1/s', burst: 1 }),
      store: { ...store, capabilities: { ...store.capabilities, sync: false } },
      clock,
    })
    const decision = limiter.wait('k', { deadlineMs: 20 })
    await settle()
    clock.advance(10_000)
    expect(await decision).toMatchObject({ outcome: 'undecided', allowed: false })
  })
})
