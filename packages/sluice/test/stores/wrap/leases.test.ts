import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { type Call, type CallOptions, type GroupVerdict, StoreFailure } from '../../../src/stores/store.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type LeasesOptions, withLeases } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { settle } from './held-store.ts'
import { leasingStore } from './leasing-store.ts'

const hundred = tokenBucket({ rate: '100/s', burst: 100 })
const T = 1_000_000
const call = (key: string, limit: AnyLimit = hundred, cost = 1): Call => ({
  id: { scope: { text: `l:${limit.algorithm.tag}:` }, key },
  limit,
  cost: cost * T,
  phase: 0,
})

function bench(options: LeasesOptions = {}, clock = manualClock()) {
  const inner = leasingStore(clock)
  const scopes = new Map<string, { readonly text: string }>()
  const store = withLeases(inner, { afterCalls: 1, share: 0.5, clock, random: () => 0.5, ...options })
  const known = (made: Call): Call => {
    const { text } = made.id.scope
    const scope = scopes.get(text) ?? made.id.scope
    scopes.set(text, scope)
    return { ...made, id: { ...made.id, scope } }
  }
  const ask = async (made: Call, callOptions?: CallOptions): Promise<GroupVerdict> => {
    const [verdict] = await store.consume([{ calls: [known(made)] }], callOptions)
    return verdict as GroupVerdict
  }
  const group = async (...calls: Call[]): Promise<GroupVerdict> => (await store.consume([{ calls: calls.map(known) }]))[0] as GroupVerdict
  const state = (key: string): { leases?: { amount: number }[] } | undefined => inner.stateOf(known(call(key)).id) as never
  const outstanding = (key: string): number => (state(key)?.leases ?? []).reduce((sum, { amount }) => sum + amount / T, 0)
  return { clock, inner, store, ask, group, known, outstanding }
}

describe('withLeases', () => {
  it('decides from what is in hand, and says so', async () => {
    const { inner, ask, clock } = bench()
    const verdicts: GroupVerdict[] = []
    for (let index = 0; index < 3; index += 1) verdicts.push(await ask(call('k')))
    expect(inner.asked).toEqual({ consume: 0, lease: 1 })
    expect(verdicts[0]).toMatchObject({
      outcome: 'allowed',
      allowed: true,
      source: 'lease',
      at: clock.now(),
      calls: [{ outcome: 'allowed' }],
    })
    // What this process can certainly still admit.
    expect(verdicts.map(({ calls }) => calls[0]?.remaining)).toEqual([7, 6, 5])
    clock.advance(1)
    expect(await ask(call('k'))).toMatchObject({ at: clock.now() })
  })

  it('asks for more before the hand is empty, and for more at a time the busier a key is', async () => {
    const { inner, ask, clock } = bench({ share: 1 })
    const big = tokenBucket({ rate: '100000/s', burst: 100_000 })
    for (let tick = 0; tick < 100; tick += 1) {
      for (let index = 0; index < 100; index += 1) expect((await ask(call('k', big))).source).toBe('lease')
      clock.advance(1)
    }
    // Ten thousand calls.
    expect(inner.asked.consume).toBe(0)
    expect(inner.asked.lease).toBeLessThan(12)
  })

  it('asks at the store until a key is busy', async () => {
    const { inner, ask, clock } = bench({ afterCalls: 3 })
    const sources: string[] = []
    for (const wait of [0, 0, 1_100, 0, 0, 0]) {
      clock.advance(wait)
      sources.push((await ask(call('k'))).source)
    }
    expect(sources).toEqual(['store', 'store', 'store', 'store', 'lease', 'lease'])
    expect(inner.asked).toEqual({ consume: 4, lease: 1 })
  })

  it('tells a denial as the store does, with the wait that is enough', async () => {
    const { ask, inner, clock } = bench({ share: 1 })
    const ten = tokenBucket({ rate: '10/s', burst: 40 })
    for (let index = 0; index < 40; index += 1) expect((await ask(call('k', ten))).allowed).toBe(true)
    const asked = inner.asked.lease
    const denied = await Promise.all([ask(call('k', ten)), ask(call('k', ten)), ask(call('k', ten, 2))])
    expect(denied.map(({ outcome, calls }) => [outcome, calls[0]?.retryAfter])).toEqual([
      ['denied', 100_000],
      ['denied', 100_000],
      ['denied', 200_000],
    ])
    // The two of one cost share an answer.
    expect(inner.asked.lease - asked).toBe(2)
    clock.advance(99)
    expect((await ask(call('k', ten))).outcome).toBe('denied')
    clock.advance(1)
    expect((await ask(call('k', ten))).outcome).toBe('allowed')
  })

  it('gives idle tokens back within half a life, and forgets the key', async () => {
    const { ask, clock, outstanding, store } = bench()
    await ask(call('k'))
    expect([outstanding('k'), store.tokensInHand]).toEqual([8, 7])
    clock.advance(250)
    await settle()
    expect(outstanding('k')).toBe(8)
    clock.advance(250)
    await settle()
    expect([outstanding('k'), store.tokensInHand]).toEqual([0, 0])
    // The one that was spent flows in again.
    clock.advance(10)
    expect((await store.peek([{ calls: [call('k', hundred, 100)] }]))[0]?.outcome).toBe('allowed')
    // Nothing is looked after any more, and no timer is left.
    let timers = 0
    const { after } = clock
    clock.after = (ms, fn) => ((timers += 1), after(ms, fn))
    clock.advance(10_000)
    expect(timers).toBe(0)
  })

  it('keeps what a slow key has by renewing it', async () => {
    const { ask, clock, inner } = bench()
    for (let tick = 0; tick < 30; tick += 1) {
      expect((await ask(call('k'))).source).toBe('lease')
      clock.advance(100)
      await settle()
    }
    expect(inner.asked.consume).toBe(0)
    expect(inner.asked.lease).toBeLessThan(12)
  })

  it('spends nothing after its own deadline, which is before the end at the store', async () => {
    const { ask, clock, inner, outstanding } = bench({ lifeMs: 1_000 })
    await ask(call('k'))
    // The process stalls: its timers fire late, its clock goes on.
    const stalled = clock.now()
    clock.shift(800_000)
    expect(clock.now() - stalled).toBe(800_000)
    expect(outstanding('k')).toBe(8)
    const asked = inner.asked.lease
    expect((await ask(call('k'))).source).toBe('lease')
    expect(inner.asked.lease).toBe(asked + 1)
  })

  it('drops everything when the machine has slept', async () => {
    const clock = manualClock()
    let slept = 0
    const { ask, inner, store } = bench({}, { ...clock, wall: () => clock.now() / 1_000 + slept })
    await ask(call('k'))
    expect(store.tokensInHand).toBe(7)
    slept = 90
    await ask(call('k'))
    expect(inner.asked.lease).toBe(1)
    // The monotonic clock stood still meanwhile; the store's did not.
    slept = 5_000
    await ask(call('k'))
    expect(inner.asked.lease).toBe(2)
    // All that the new lease may hold, less this call: nothing of the old one.
    expect(store.tokensInHand).toBe(49)
  })

  it('believes no answer to what it asked before it slept', async () => {
    const clock = manualClock()
    let slept = 0
    const inner = leasingStore(clock)
    let release = (): void => {}
    const slow = {
      ...inner,
      lease: async (...given: Parameters<typeof inner.lease>) => {
        const answers = await inner.lease(...given)
        await new Promise<void>((resolve) => (release = resolve))
        return answers
      },
    }
    const store = withLeases(slow, { afterCalls: 1, clock: { ...clock, wall: () => clock.now() / 1_000 + slept } })
    const answer = store.consume([{ calls: [call('k')] }])
    await settle()
    slept = 5_000
    release()
    await settle()
    release()
    expect((await answer)[0]?.source).toBe('lease')
    expect(inner.asked.lease).toBe(2)
  })

  it('a caller who cannot wait for tokens leaves, and nothing was charged', async () => {
    const clock = manualClock()
    const inner = leasingStore(clock)
    const never = { ...inner, lease: () => new Promise<never>(() => {}) }
    const store = withLeases(never, { afterCalls: 1, clock })
    const leaving = new AbortController()
    const asked = [{ deadline: 50 }, { signal: leaving.signal }, { signal: AbortSignal.abort() }].map((callOptions) =>
      store.consume([{ calls: [call('k')] }], callOptions),
    )
    leaving.abort()
    clock.advance(50)
    await expect(asked[0]).rejects.toMatchObject({ kind: 'timeout', executed: 'no' })
    await expect(asked[1]).rejects.toMatchObject({ kind: 'aborted', executed: 'no' })
    await expect(asked[2]).rejects.toMatchObject({ kind: 'aborted', executed: 'no' })
  })

  it('asks again for who waits where what was asked for in advance has failed, and fails who asked for himself', async () => {
    const clock = manualClock()
    const inner = leasingStore(clock)
    const asked: ((failure?: StoreFailure) => void)[] = []
    const far = {
      ...inner,
      lease: (...given: Parameters<typeof inner.lease>) =>
        new Promise<Awaited<ReturnType<typeof inner.lease>>>((resolve, reject) => {
          asked.push((failure) => (failure === undefined ? void inner.lease(...given).then(resolve) : reject(failure)))
        }),
    }
    const store = withLeases(far, { afterCalls: 1, share: 0.08, clock })
    const { id } = call('k')
    const ask = () =>
      store.consume([{ calls: [{ ...call('k'), id }] }]).then(
        ([verdict]) => verdict?.source,
        (error: StoreFailure) => error.kind,
      )
    const first = ask()
    asked.shift()?.()
    expect(await first).toBe('lease')
    // Half is left: more is asked for, and the rest is spent meanwhile.
    for (let index = 0; index < 7; index += 1) await ask()
    const waiting = [ask(), ask()]
    expect(asked).toHaveLength(1)
    asked.shift()?.(new StoreFailure('timeout', 'unknown', 'late'))
    await settle()
    expect(asked).toHaveLength(1)
    asked.shift()?.(new StoreFailure('connection', 'no', 'gone'))
    expect(await Promise.all(waiting)).toEqual(['connection', 'connection'])
    expect(asked).toEqual([])
  })

  it('spends on while the store is away, asks it seldom, and does not forget what it owes', async () => {
    const clock = manualClock()
    const inner = leasingStore(clock)
    const wire = { away: false, asked: 0 }
    const far: typeof inner = {
      ...inner,
      lease: async (...given) => {
        wire.asked += 1
        if (wire.away) throw new StoreFailure('unavailable', 'no', 'away')
        return inner.lease(...given)
      },
    }
    const store = withLeases(far, { afterCalls: 1, share: 0.5, clock })
    const { id } = call('k')
    const ask = (limit: AnyLimit = hundred) => store.consume([{ calls: [{ ...call('k', limit), id }] }])
    for (let index = 0; index < 10; index += 1) await ask()
    const held = store.tokensInHand
    wire.away = true
    wire.asked = 0
    for (let index = 0; index < held; index += 1) expect((await ask())[0]?.source).toBe('lease')
    expect(wire.asked).toBe(1)
    await expect(ask()).rejects.toMatchObject({ kind: 'unavailable', executed: 'no' })
    wire.away = false
    await ask()
    const changed = store.tokensInHand
    expect(changed).toBeGreaterThan(0)
    // What an old policy gave is owed until the store has heard of it.
    wire.away = true
    await expect(ask(tokenBucket({ rate: '1/s', burst: 80 }))).rejects.toThrow('away')
    expect(store.tokensInHand).toBe(0)
    wire.away = false
    await store.peek([{ calls: [{ ...call('k'), id }] }])
    expect((inner.stateOf(id) as { leases?: unknown }).leases).toBeUndefined()
  })

  it('settles before another verb acts on the key, and looks at it whole', async () => {
    const { ask, store, known, outstanding } = bench()
    await ask(call('k'))
    expect((await store.peek([{ calls: [known(call('k'))] }]))[0]?.calls[0]?.remaining).toBe(98)
    expect(outstanding('k')).toBe(0)
    await ask(call('k'))
    await store.block?.([known(call('k')).id], 1_000_000)
    expect(await ask(call('k'))).toMatchObject({ outcome: 'denied', calls: [{ blocked: true }] })
    await store.block?.([known(call('k')).id], null)
    await ask(call('k'))
    await store.adjust?.([known(call('k'))], [-200 * T])
    expect((await ask(call('k'))).outcome).toBe('denied')
    await store.reset([known(call('k')).id])
    expect((await ask(call('k', hundred, 60))).outcome).toBe('allowed')
  })

  it('gives way to a call that needs nearly all there is', async () => {
    const { ask } = bench()
    await ask(call('k'))
    expect(await ask(call('k', hundred, 99))).toMatchObject({ outcome: 'allowed', source: 'store' })
    expect(await ask(call('k', hundred, 101))).toMatchObject({ outcome: 'impossible' })
  })

  it('gives back what an old policy gave, and goes on under the new one (law 7)', async () => {
    const { ask, outstanding, store, known } = bench()
    await ask(call('k'))
    const lower = tokenBucket({ rate: '10/s', burst: 20 })
    expect((await ask(call('k', lower))).outcome).toBe('allowed')
    expect(outstanding('k')).toBeLessThanOrEqual(20)
    // The same numbers in another object are the same policy.
    const held = store.tokensInHand
    await ask(call('k', tokenBucket({ rate: '10/s', burst: 20 })))
    expect(store.tokensInHand).toBe(held - 1)
    await store.peek([{ calls: [known(call('k', lower))] }])
    expect(outstanding('k')).toBe(0)
  })

  it('takes the limits of a group that are in hand from there, and gives them back where the store refuses the rest', async () => {
    const { ask, group, store, inner } = bench()
    const window = fixedWindow({ limit: 2, window: '1h' })
    for (let index = 0; index < 8; index += 1) await ask(call('global'))
    const held = store.tokensInHand
    const both = (): Promise<GroupVerdict> => group(call('global'), call('user', window))
    expect(await both()).toMatchObject({ outcome: 'allowed', source: 'store', calls: [{ remaining: held - 1 }, { remaining: 1 }] })
    await both()
    expect(store.tokensInHand).toBe(held - 2)
    expect(await both()).toMatchObject({ outcome: 'denied', calls: [{ outcome: 'allowed', remaining: held - 2 }, { outcome: 'denied' }] })
    expect(store.tokensInHand).toBe(held - 2)
    const asked = inner.asked.consume
    await ask(call('tenant'))
    expect(await group(call('global'), call('tenant'))).toMatchObject({ outcome: 'allowed', source: 'lease', calls: [{}, {}] })
    expect(inner.asked.consume).toBe(asked)
  })

  it('decides several questions at once, each from where it can', async () => {
    const { ask, store, known } = bench()
    await ask(call('k'))
    const verdicts = await store.consume([
      { calls: [known(call('k'))] },
      { calls: [known(call('other', fixedWindow({ limit: 1, window: '1s' })))] },
    ])
    expect(verdicts.map(({ outcome, source }) => [outcome, source])).toEqual([
      ['allowed', 'lease'],
      ['allowed', 'store'],
    ])
  })

  it('leaves alone what it cannot lease: other algorithms, small buckets, stores without leases, keys beyond its table', async () => {
    const { ask, inner } = bench({ maxKeys: 1 })
    await ask(call('w', fixedWindow({ limit: 100, window: '1s' })))
    await ask(call('k'))
    await ask(call('other'))
    expect(inner.asked).toEqual({ consume: 2, lease: 1 })
    const small = bench()
    for (let index = 0; index < 5; index += 1) await small.ask(call('k', tokenBucket({ rate: '1/s', burst: 5 })))
    expect(small.inner.asked).toEqual({ consume: 5, lease: 0 })
    const store = withLeases(memoryStore(), { afterCalls: 1 })
    expect((await store.consume([{ calls: [call('k')] }]))[0]?.source).toBe('store')
    expect(store.consumeSync?.({ calls: [call('k')] })?.source).toBe('store')
    expect(store.tokensInHand).toBe(0)
    await store.close()
  })

  it('sends everything home when it is closed', async () => {
    const { ask, store, outstanding } = bench()
    await Promise.all([ask(call('a')), ask(call('b'))])
    expect(outstanding('a') + outstanding('b')).toBe(16)
    await store.close()
    expect(outstanding('a') + outstanding('b')).toBe(0)
  })

  it.each([{ lifeMs: 1 }, { share: 0 }, { share: Number.NaN }, { afterCalls: 0 }, { maxKeys: 0 }, { size: 1 }])('refuses %j', (options) => {
    expect(() => withLeases(memoryStore(), options as LeasesOptions)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
