import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { StoreFailure } from '../../../src/stores/store.ts'
import { leased } from './leased.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { settle } from './held-store.ts'
import { call, decide, hundred, leaseBench } from './lease-bench.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { leasingStore } from './leasing-store.ts'

describe('leased tokens', () => {
  it('are given back within half a life if idle, and the key is forgotten', async () => {
    const { ask, clock, outstanding, store } = leaseBench()
    await ask(call('k'))
    expect([outstanding('k'), store.leasedTokens]).toEqual([8, 7])
    clock.advance(250)
    await settle()
    expect(outstanding('k')).toBe(8)
    clock.advance(250)
    await settle()
    expect([outstanding('k'), store.leasedTokens]).toEqual([0, 0])
    // The one that was spent flows in again.
    clock.advance(10)
    expect((await verbs.peek(store, [{ calls: [call('k', hundred, 100)] }]))[0]?.outcome).toBe('allowed')
    // Nothing is looked after any more, and no timer is left.
    let timers = 0
    const { after } = clock
    clock.after = (ms, fn) => ((timers += 1), after(ms, fn))
    clock.advance(10_000)
    expect(timers).toBe(0)
  })

  it('of a slow key are kept by renewing', async () => {
    const { ask, clock, inner } = leaseBench()
    for (let tick = 0; tick < 30; tick += 1) {
      expect((await ask(call('k'))).source).toBe('lease')
      clock.advance(100)
      await settle()
    }
    expect(inner.asked.decide).toBe(0)
    expect(inner.asked.lease).toBeLessThan(12)
  })

  it('X7: a slow key is decided here all the time: its lease is renewed before it ends', async () => {
    const { ask, clock, store, known } = leaseBench({ lifeMs: 1_000 })
    await ask(call('k'))
    for (let tick = 0; tick < 30; tick += 1) {
      clock.advance(200)
      await settle()
      expect(store.decideNow?.({ calls: [known(call('k'))] })).toMatchObject({ source: 'lease' })
    }
  })

  it('are not spent after their own deadline, which is before the end at the store', async () => {
    const { ask, clock, inner, outstanding } = leaseBench({ lifeMs: 1_000 })
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

  it('are dropped when the machine has slept', async () => {
    const clock = manualClock()
    let slept = 0
    const { ask, inner, store } = leaseBench({}, { ...clock, wall: () => clock.now() / 1_000 + slept })
    await ask(call('k'))
    expect(store.leasedTokens).toBe(7)
    slept = 90
    await ask(call('k'))
    expect(inner.asked.lease).toBe(1)
    // The monotonic clock stood still meanwhile; the store's did not.
    slept = 5_000
    await ask(call('k'))
    expect(inner.asked.lease).toBe(2)
    // All tokens of the new lease, less the token of this call. No token of the old lease is left.
    expect(store.leasedTokens).toBe(49)
  })

  it('of an answer to a request from before the machine slept are not used', async () => {
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
    const store = leased(slow, { afterCalls: 1, clock: { ...clock, wall: () => clock.now() / 1_000 + slept } })
    const answer = decide(store, [{ calls: [call('k')] }])
    await settle()
    slept = 5_000
    release()
    await settle()
    release()
    expect((await answer)[0]?.source).toBe('lease')
    expect(inner.asked.lease).toBe(2)
  })

  it('are not requested for a list of calls while some go back', async () => {
    const clock = manualClock()
    const inner = leasingStore(clock)
    let release: (() => void) | undefined
    const slow = {
      ...inner,
      lease: async (...given: Parameters<typeof inner.lease>) => {
        if (inner.asked.lease > 0) await new Promise<void>((resolve) => (release = resolve))
        return inner.lease(...given)
      },
    }
    const store = leased(slow, { afterCalls: 1, clock })
    const group = { calls: [call('k')] }
    await decide(store, [group])
    const peeked = verbs.peek(store, [group])
    await settle()
    const goBack = release
    const listed = await decide(store, [group, group])
    expect(listed.map(({ source }) => source)).toEqual(['store', 'store'])
    expect(release).toBe(goBack)
    goBack?.()
    expect((await peeked)[0]?.calls[0]?.remaining).toBe(97)
    expect(inner.asked.lease).toBe(2)
  })

  it('a caller who cannot wait for tokens leaves, and nothing was charged', async () => {
    const clock = manualClock()
    const inner = leasingStore(clock)
    const never = { ...inner, lease: () => new Promise<never>(() => {}) }
    const store = leased(never, { afterCalls: 1, clock })
    const leaving = new AbortController()
    const asked = [{ deadline: 50 }, { signal: leaving.signal }, { signal: AbortSignal.abort() }].map((callOptions) =>
      decide(store, [{ calls: [call('k')] }], callOptions),
    )
    leaving.abort()
    clock.advance(50)
    await expect(asked[0]).rejects.toMatchObject({ kind: 'timeout', executed: 'no' })
    await expect(asked[1]).rejects.toMatchObject({ kind: 'aborted', executed: 'no' })
    await expect(asked[2]).rejects.toMatchObject({ kind: 'aborted', executed: 'no' })
  })

  it('are requested again for a caller that waits if the request in advance failed; a request for one call fails that call', async () => {
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
    const store = leased(far, { afterCalls: 1, share: 0.08, clock })
    const { id } = call('k')
    const ask = () =>
      decide(store, [{ calls: [{ ...call('k'), id }] }]).then(
        ([verdict]) => verdict?.source,
        (error: StoreFailure) => error.kind,
      )
    const first = ask()
    asked.shift()?.()
    expect(await first).toBe('lease')
    // Half of the lease is left, so more tokens are requested in advance. The rest is spent before the answer comes.
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

  it('are spent on while the store is away; it is called seldom, and what is owed is not forgotten', async () => {
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
    const store = leased(far, { afterCalls: 1, share: 0.5, clock })
    const { id } = call('k')
    const ask = (limit: AnyLimit = hundred) => decide(store, [{ calls: [{ ...call('k', limit), id }] }])
    for (let index = 0; index < 10; index += 1) await ask()
    const held = store.leasedTokens
    wire.away = true
    wire.asked = 0
    for (let index = 0; index < held; index += 1) expect((await ask())[0]?.source).toBe('lease')
    expect(wire.asked).toBe(1)
    await expect(ask()).rejects.toMatchObject({ kind: 'unavailable', executed: 'no' })
    wire.away = false
    await ask()
    const changed = store.leasedTokens
    expect(changed).toBeGreaterThan(0)
    // The cache still owes the store the tokens that it leased under the old limit, until the store has taken them back.
    wire.away = true
    await expect(ask(tokenBucket({ rate: '1/s', burst: 80 }))).rejects.toThrow('away')
    expect(store.leasedTokens).toBe(0)
    wire.away = false
    await verbs.peek(store, [{ calls: [{ ...call('k'), id }] }])
    expect((inner.stateOf(id) as { leases?: unknown }).leases).toBeUndefined()
  })

  it('are all returned at the close', async () => {
    const { ask, store, outstanding } = leaseBench()
    await Promise.all([ask(call('a')), ask(call('b'))])
    expect(outstanding('a') + outstanding('b')).toBe(16)
    await store.close()
    expect(outstanding('a') + outstanding('b')).toBe(0)
  })

  it('are not credited for a refused group once the store has counted them as spent', async () => {
    const clock = manualClock()
    const inner = leasingStore(clock)
    let answer = (): void => {}
    const held: typeof inner = {
      ...inner,
      async decide(groups) {
        await new Promise<void>((resolve) => (answer = resolve))
        return inner.decide(groups)
      },
    }
    const store = leased(held, { afterCalls: 1, share: 0.5, clock })
    const { id } = call('k')
    const one = { ...call('k'), id }
    for (let index = 0; index < 3; index += 1) await decide(store, [{ calls: [one] }])
    const group = store.decide([{ calls: [one, call('other', hundred, 101)] }])
    for (const ms of [250, 250]) {
      clock.advance(ms)
      await settle()
    }
    const renewed = store.leasedTokens
    answer()
    expect((await group)[0]?.outcome).toBe('impossible')
    const { leases } = inner.stateOf(id) as { leases: { amount: number }[] }
    expect([store.leasedTokens, leases]).toMatchObject([renewed, [{ amount: renewed * 1_000_000 }]])
  })

  it('are credited for a group that the store did not take, and not for one that it may have charged', async () => {
    const clock = manualClock()
    const inner = leasingStore(clock)
    const wire: { fails?: StoreFailure; silent?: true } = {}
    const far: typeof inner = {
      ...inner,
      decide: async (...given) => {
        if (wire.fails !== undefined) throw wire.fails
        return wire.silent === true ? [] : inner.decide(...given)
      },
    }
    const store = leased(far, { afterCalls: 1, share: 0.5, clock })
    const { id } = call('k')
    for (let index = 0; index < 8; index += 1) await decide(store, [{ calls: [{ ...call('k'), id }] }])
    const held = store.leasedTokens
    const both = () => decide(store, [{ calls: [{ ...call('k'), id }, call('other', hundred, 60)] }])
    wire.fails = new StoreFailure('readonly', 'no', 'no')
    await expect(both()).rejects.toThrow('no')
    expect(store.leasedTokens).toBe(held)
    wire.fails = new StoreFailure('timeout', 'unknown', 'late')
    await expect(both()).rejects.toThrow('late')
    expect(store.leasedTokens).toBe(held - 1)
    delete wire.fails
    wire.silent = true
    await expect(both()).rejects.toMatchObject({ kind: 'protocol', executed: 'unknown' })
  })
})
