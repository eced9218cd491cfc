import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import type { GroupVerdict } from '../../../src/stores/store.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type LeasesOptions, withLeases } from '../../../src/stores/wrap/index.ts'
import { call, hundred, leaseBench, T } from './lease-bench.ts'

describe('withLeases', () => {
  it('decides from what is in hand, and says so', async () => {
    const { inner, ask, clock } = leaseBench()
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

  it('admits at once from what is in hand, and notes nothing where it cannot', async () => {
    const { store, inner, ask, known, clock } = leaseBench({ afterCalls: 3 })
    const here = (cost = 1, limit = hundred): GroupVerdict | undefined => store.consumeHere?.({ calls: [known(call('k', limit, cost))] })
    expect(here()).toBeUndefined()
    await ask(call('k'))
    await ask(call('k'))
    // Looks are no calls of the key: it is not leased for them.
    expect([here(), here(), inner.asked.lease]).toEqual([undefined, undefined, 0])
    await ask(call('k'))
    expect(here()).toMatchObject({ outcome: 'allowed', source: 'lease', at: clock.now(), calls: [{ remaining: 6 }] })
    expect((await ask(call('k'))).calls[0]?.remaining).toBe(5)
    // More than there is in hand, several limits, another limit: the store must be asked.
    expect([here(6), here(1, tokenBucket({ rate: '50/s', burst: 100 }))]).toEqual([undefined, undefined])
    expect(store.consumeHere?.({ calls: [known(call('k')), known(call('other'))] })).toBeUndefined()
    expect(store.consumeHere?.({ calls: [] })).toBeUndefined()
    expect(here(5)).toMatchObject({ calls: [{ remaining: 0 }] })
    expect(here()).toBeUndefined()
    clock.advance(1_000)
    expect(here()).toBeUndefined()
  })

  it('asks for more before the hand is empty, and for more at a time the busier a key is', async () => {
    const { inner, ask, clock } = leaseBench({ share: 1 })
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
    const { inner, ask, clock } = leaseBench({ afterCalls: 3 })
    const sources: string[] = []
    for (const wait of [0, 0, 1_100, 0, 0, 0]) {
      clock.advance(wait)
      sources.push((await ask(call('k'))).source)
    }
    expect(sources).toEqual(['store', 'store', 'store', 'store', 'lease', 'lease'])
    expect(inner.asked).toEqual({ consume: 4, lease: 1 })
  })

  it('tells a denial as the store does, with the wait that is enough', async () => {
    const { ask, inner, clock } = leaseBench({ share: 1 })
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

  it('settles before another verb acts on the key, and looks at it whole', async () => {
    const { ask, store, known, outstanding } = leaseBench()
    await ask(call('k'))
    expect((await store.peek([{ calls: [known(call('k'))] }]))[0]?.calls[0]?.remaining).toBe(99)
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
    const { ask } = leaseBench()
    await ask(call('k'))
    expect(await ask(call('k', hundred, 99))).toMatchObject({ outcome: 'allowed', source: 'store' })
    expect(await ask(call('k', hundred, 101))).toMatchObject({ outcome: 'impossible' })
  })

  it('gives back what an old policy gave, and goes on under the new one (law 7)', async () => {
    const { ask, outstanding, store, known } = leaseBench()
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
    const { ask, group, store, inner } = leaseBench()
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
    expect(await group(call('global'), call('tenant'))).toMatchObject({
      outcome: 'allowed',
      allowed: true,
      source: 'lease',
      calls: [{}, {}],
    })
    expect(inner.asked.consume).toBe(asked)
  })

  it('takes hands for several groups at once, and asks the store once for what is left of them', async () => {
    const { ask, store, known, inner } = leaseBench()
    const window = fixedWindow({ limit: 1, window: '1h' })
    for (let index = 0; index < 8; index += 1) await ask(call('global'))
    const held = store.tokensInHand
    const asked = inner.asked.consume
    const groups = [
      { calls: [known(call('global')), known(call('a', window))] },
      { calls: [known(call('global'))] },
      { calls: [known(call('a', window)), known(call('global'))] },
    ]
    expect(await store.consume(groups)).toMatchObject([
      // The third was not refused yet: what it took is not certain.
      { outcome: 'allowed', source: 'store', calls: [{ remaining: held - 3 }, { remaining: 0 }] },
      { outcome: 'allowed', source: 'lease' },
      { outcome: 'denied', calls: [{ outcome: 'denied' }, { outcome: 'allowed' }] },
    ])
    expect([inner.asked.consume - asked, store.tokensInHand]).toEqual([1, held - 2])
  })

  it('decides several questions at once, each from where it can', async () => {
    const { ask, store, known } = leaseBench()
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
    const { ask, inner } = leaseBench({ maxKeys: 1 })
    await ask(call('w', fixedWindow({ limit: 100, window: '1s' })))
    await ask(call('k'))
    await ask(call('other'))
    expect(inner.asked).toEqual({ consume: 2, lease: 1 })
    const small = leaseBench()
    for (let index = 0; index < 5; index += 1) await small.ask(call('k', tokenBucket({ rate: '1/s', burst: 5 })))
    expect(small.inner.asked).toEqual({ consume: 5, lease: 0 })
    const store = withLeases(memoryStore(), { afterCalls: 1 })
    expect((await store.consume([{ calls: [call('k')] }]))[0]?.source).toBe('store')
    expect(store.consumeSync?.({ calls: [call('k')] })?.source).toBe('store')
    expect(store.tokensInHand).toBe(0)
    await store.close()
  })

  it.each([{ lifeMs: 1 }, { share: 0 }, { share: Number.NaN }, { afterCalls: 0 }, { maxKeys: 0 }, { size: 1 }])('refuses %j', (options) => {
    expect(() => withLeases(memoryStore(), options as LeasesOptions)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
