import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type CallOptions, type Store, StoreFailure, type StoreFailureKind } from '../../../src/stores/store.ts'
import { type BreakerOptions, withBreaker } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { settle } from './held-store.ts'
import { leasingStore } from './leasing-store.ts'

const limit = tokenBucket({ rate: '1/h', burst: 3 })
const call = (key = 'k') => ({ id: { scope: { text: 'b:tb:' }, key }, limit, cost: 1_000_000, phase: 0 })

/** A store that fails as it is told to, and counts what reaches it. */
function bench(options: BreakerOptions = {}) {
  const clock = manualClock()
  const inner = leasingStore(clock)
  const wire = { fails: undefined as StoreFailureKind | undefined, calls: 0, looks: 0, lookFails: false }
  const failing =
    <Given extends readonly unknown[], T>(verb: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      wire.calls += 1
      if (wire.fails !== undefined) throw new StoreFailure(wire.fails, 'unknown', `it failed: ${wire.fails}`)
      return verb(...given)
    }
  const store = withBreaker(
    {
      ...inner,
      consume: failing(inner.consume),
      peek: failing(inner.peek),
      adjust: failing(inner.adjust),
      block: failing(inner.block),
      lease: failing(inner.lease),
      reset: failing(inner.reset),
      ready: async () => {
        wire.looks += 1
        if (wire.lookFails) throw new StoreFailure('connection', 'no', 'gone')
      },
    },
    { clock, random: () => 1, ...options },
  )
  const ask = (callOptions?: CallOptions): Promise<string> =>
    store.consume([{ calls: [call()] }], callOptions).then(
      ([verdict]) => verdict?.outcome ?? '',
      ({ kind, executed }: StoreFailure) => `${kind} ${executed}`,
    )
  return { clock, store, ask, wire }
}

async function fail(made: ReturnType<typeof bench>, times = 3): Promise<void> {
  made.wire.fails = 'timeout'
  for (let index = 0; index < times; index += 1) await made.ask()
}

describe('withBreaker', () => {
  it('opens after three failures and refuses every verb at once, unexecuted and unasked', async () => {
    const made = bench()
    const { ask, store, wire } = made
    await fail(made, 2)
    expect([store.breakerState, await ask(), store.breakerState]).toEqual(['closed', 'timeout unknown', 'open'])
    const calls = wire.calls
    const request = { call: call(), want: 1, holder: 1, sequence: 1, life: 1, kept: 0, returned: 0 }
    const refused = [
      store.consume([{ calls: [call()] }]),
      store.peek([]),
      store.adjust?.([call()], [1]),
      store.block?.([call().id], 1),
      store.lease?.([request]),
      store.reset([]),
    ]
    for (const answer of refused) {
      await expect(answer).rejects.toMatchObject({ kind: 'unavailable', executed: 'no', cause: { kind: 'timeout' } })
    }
    expect(wire.calls).toBe(calls)
    await store.close()
  })

  it('opens for failures that are half of the answers, not for the few of a store that works', async () => {
    const made = bench()
    const { ask, wire, store } = made
    await fail(made, 1)
    for (let index = 0; index < 20; index += 1) {
      wire.fails = index % 5 === 4 ? 'connection' : undefined
      await ask()
    }
    expect(store.breakerState).toBe('closed')
    wire.fails = 'readonly'
    for (let index = 0; index < 20; index += 1) await ask()
    expect(store.breakerState).toBe('open')
    await store.close()
  })

  it('forgets failures that lie apart', async () => {
    const made = bench()
    for (let index = 0; index < 6; index += 1) {
      await fail(made, 2)
      made.clock.advance(201)
    }
    expect(made.store.breakerState).toBe('closed')
  })

  it('takes no denial for a failure, nor what says nothing about the store', async () => {
    const { ask, wire, store } = bench()
    const outcomes: string[] = []
    for (let index = 0; index < 10; index += 1) outcomes.push(await ask())
    expect(outcomes.slice(2, 5)).toEqual(['allowed', 'denied', 'denied'])
    for (const kind of ['aborted', 'overload', 'contention'] as const) {
      wire.fails = kind
      for (let index = 0; index < 20; index += 1) await ask()
    }
    wire.fails = 'timeout'
    for (let index = 0; index < 20; index += 1) await ask({ deadline: 0 })
    expect(store.breakerState).toBe('closed')
    await expect(
      withBreaker({ ...memoryStore(), reset: () => Promise.reject(new TypeError('a bug')) }, { failures: 1 }).reset([]),
    ).rejects.toThrow(TypeError)
  })

  it('looks at the store one look at a time, lets one call try, and closes when it was answered', async () => {
    const made = bench()
    const { ask, clock, wire, store } = made
    await fail(made)
    wire.lookFails = true
    clock.advance(249)
    expect(wire.looks).toBe(0)
    for (let look = 1; look <= 3; look += 1) {
      clock.advance(look === 1 ? 1 : 250)
      await settle()
      expect([wire.looks, store.breakerState]).toEqual([look, 'open'])
    }
    wire.lookFails = false
    clock.advance(250)
    await settle()
    expect(store.breakerState).toBe('half-open')
    wire.fails = undefined
    const calls = wire.calls
    const [first, second] = await Promise.all([ask(), ask()])
    expect([first, second, wire.calls - calls, store.breakerState]).toEqual(['allowed', 'unavailable no', 1, 'closed'])
    expect(await ask()).toBe('allowed')
    clock.advance(10_000)
    await settle()
    expect(wire.looks).toBe(4)
  })

  it('opens again where the call that tries fails', async () => {
    const made = bench()
    const { ask, clock, wire, store } = made
    await fail(made)
    clock.advance(250)
    await settle()
    expect([await ask(), store.breakerState, await ask()]).toEqual(['timeout unknown', 'open', 'unavailable no'])
    clock.advance(250)
    await settle()
    expect([store.breakerState, await ask({ deadline: 0 }), store.breakerState]).toEqual(['half-open', 'timeout unknown', 'half-open'])
    wire.fails = undefined
    expect([await ask(), store.breakerState]).toEqual(['allowed', 'closed'])
  })

  it('looks at random intervals of at least half the longest', async () => {
    const made = bench({ random: () => 0, probeMs: 100 })
    await fail(made)
    made.clock.advance(49)
    expect(made.wire.looks).toBe(0)
    made.clock.advance(1)
    expect(made.wire.looks).toBe(1)
    await settle()
    await made.store.close()
  })

  it('looks no more where nobody asks, and lets the next call try', async () => {
    const made = bench()
    const { clock, wire, store, ask } = made
    await fail(made)
    wire.lookFails = true
    for (let step = 0; step < 400; step += 1) {
      clock.advance(250)
      await settle()
    }
    expect([wire.looks > 200, wire.looks < 260, store.breakerState]).toEqual([true, true, 'half-open'])
    wire.fails = undefined
    expect(await ask()).toBe('allowed')
  })

  it('stops looking when it is closed', async () => {
    const made = bench()
    await fail(made)
    await made.store.close()
    made.clock.advance(10_000)
    expect(made.wire.looks).toBe(0)
  })

  it.each([{ failures: 0 }, { windowMs: 0 }, { probeMs: Number.NaN }, { deadlineMs: 0 }, { threshold: 1 }])('refuses %j', (options) => {
    expect(() => withBreaker(memoryStore() as Store, options as BreakerOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    )
  })
})
