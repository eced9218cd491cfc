import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import type { GroupVerdict } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { settle } from './held-store.ts'
import { call, decide, hundred, leaseBench, type Sourced, T } from './lease-bench.ts'

describe('the lease cache', () => {
  it('admits from held tokens, and says so', async () => {
    const { inner, ask, clock } = leaseBench()
    const verdicts: Sourced[] = []
    for (let index = 0; index < 3; index += 1) verdicts.push(await ask(call('k')))
    expect(inner.asked).toEqual({ decide: 0, lease: 1 })
    expect(verdicts[0]).toMatchObject({
      outcome: 'allowed',
      source: 'lease',
      at: clock.now(),
      calls: [{ outcome: 'allowed' }],
    })
    // What this process can certainly still admit.
    expect(verdicts.map(({ calls }) => calls[0]?.remaining)).toEqual([7, 6, 5])
    clock.advance(1)
    expect(await ask(call('k'))).toMatchObject({ at: clock.now() })
  })

  it('admits at once from held tokens, and notes nothing where it cannot', async () => {
    const { store, inner, ask, known, clock } = leaseBench({ afterCalls: 3 })
    const here = (cost = 1, limit = hundred): GroupVerdict | undefined => store.decideNow?.({ calls: [known(call('k', limit, cost))] })
    expect(here()).toBeUndefined()
    await ask(call('k'))
    await ask(call('k'))
    // Calls of `decideNow` do not count as calls of the key. So tokens of the key are not leased because of them.
    expect([here(), here(), inner.asked.lease]).toEqual([undefined, undefined, 0])
    await ask(call('k'))
    expect(here()).toMatchObject({ outcome: 'allowed', source: 'lease', at: clock.now(), calls: [{ remaining: 6 }] })
    expect((await ask(call('k'))).calls[0]?.remaining).toBe(5)
    // A cost above the leased tokens, or another limit: the store must decide. So must it, below, for several limits.
    expect([here(6), here(1, tokenBucket({ rate: '50/s', burst: 100 }))]).toEqual([undefined, undefined])
    expect(store.decideNow?.({ calls: [known(call('k')), known(call('other'))] })).toBeUndefined()
    expect(store.decideNow?.({ calls: [] })).toBeUndefined()
    expect(here(5)).toMatchObject({ calls: [{ remaining: 0 }] })
    expect(here()).toBeUndefined()
    clock.advance(1_000)
    expect(here()).toBeUndefined()
  })

  it('requests more before its tokens run out, and more at a time the busier a key is', async () => {
    const { inner, ask, clock } = leaseBench({ share: 1 })
    const big = tokenBucket({ rate: '100000/s', burst: 100_000 })
    for (let tick = 0; tick < 100; tick += 1) {
      for (let index = 0; index < 100; index += 1) expect((await ask(call('k', big))).source).toBe('lease')
      clock.advance(1)
    }
    // Ten thousand calls.
    expect(inner.asked.decide).toBe(0)
    expect(inner.asked.lease).toBeLessThan(12)
  })

  it('calls the store until a key is busy', async () => {
    const { inner, ask, clock } = leaseBench({ afterCalls: 3 })
    const sources: string[] = []
    for (const wait of [0, 0, 1_100, 0, 0, 0]) {
      clock.advance(wait)
      await settle()
      sources.push((await ask(call('k'))).source)
    }
    expect(sources).toEqual(['store', 'store', 'store', 'store', 'lease', 'lease'])
    expect(inner.asked).toEqual({ decide: 4, lease: 1 })
  })

  it('reports a denial as the store does, with the wait that is enough', async () => {
    const { ask, inner, clock } = leaseBench({ share: 1 })
    const ten = tokenBucket({ rate: '10/s', burst: 40 })
    for (let index = 0; index < 40; index += 1) expect((await ask(call('k', ten))).outcome).toBe('allowed')
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

  it('gives back before another verb acts on the key, and peeks at all there is', async () => {
    const { ask, store, known, outstanding } = leaseBench()
    await ask(call('k'))
    expect((await verbs.peek(store, [{ calls: [known(call('k'))] }]))[0]?.calls[0]?.remaining).toBe(99)
    expect(outstanding('k')).toBe(0)
    await ask(call('k'))
    await verbs.block(store, [known(call('k')).id], 1_000_000)
    expect(await ask(call('k'))).toMatchObject({ outcome: 'denied', calls: [{ blockedFor: 1_000_000 }] })
    await verbs.block(store, [known(call('k')).id], null)
    await ask(call('k'))
    await verbs.adjust(store, [known(call('k'))], [-200 * T])
    expect((await ask(call('k'))).outcome).toBe('denied')
    await verbs.reset(store, [known(call('k')).id])
    expect((await ask(call('k', hundred, 60))).outcome).toBe('allowed')
  })

  it('gives way to a call that needs nearly all there is', async () => {
    const { ask } = leaseBench()
    await ask(call('k'))
    expect(await ask(call('k', hundred, 99))).toMatchObject({ outcome: 'allowed', source: 'store' })
    expect(await ask(call('k', hundred, 101))).toMatchObject({ outcome: 'impossible' })
  })

  it('returns what an old policy granted, and goes on under the new one (law 7)', async () => {
    const { ask, outstanding, store, known } = leaseBench()
    await ask(call('k'))
    const lower = tokenBucket({ rate: '10/s', burst: 20 })
    expect((await ask(call('k', lower))).outcome).toBe('allowed')
    expect(outstanding('k')).toBeLessThanOrEqual(20)
    // The same numbers in another object are the same policy.
    const held = store.leasedTokens
    await ask(call('k', tokenBucket({ rate: '10/s', burst: 20 })))
    expect(store.leasedTokens).toBe(held - 1)
    await verbs.peek(store, [{ calls: [known(call('k', lower))] }])
    expect(outstanding('k')).toBe(0)
  })

  it('admits the limits of a group that are leased, and takes their tokens back where the store refuses the rest', async () => {
    const { ask, group, store, inner } = leaseBench()
    const window = fixedWindow({ limit: 2, window: '1h' })
    for (let index = 0; index < 8; index += 1) await ask(call('global'))
    const held = store.leasedTokens
    const both = (): Promise<Sourced> => group(call('global'), call('user', window))
    expect(await both()).toMatchObject({ outcome: 'allowed', source: 'store', calls: [{ remaining: held - 1 }, { remaining: 1 }] })
    await both()
    expect(store.leasedTokens).toBe(held - 2)
    expect(await both()).toMatchObject({ outcome: 'denied', calls: [{ outcome: 'allowed', remaining: held - 2 }, { outcome: 'denied' }] })
    expect(store.leasedTokens).toBe(held - 2)
    const asked = inner.asked.decide
    await ask(call('tenant'))
    expect(await group(call('global'), call('tenant'))).toMatchObject({
      outcome: 'allowed',
      source: 'lease',
      calls: [{}, {}],
    })
    expect(inner.asked.decide).toBe(asked)
  })

  it('admits several groups at once, and calls the store once for the rest of them', async () => {
    const { ask, store, known, inner } = leaseBench()
    const window = fixedWindow({ limit: 1, window: '1h' })
    for (let index = 0; index < 8; index += 1) await ask(call('global'))
    const held = store.leasedTokens
    const asked = inner.asked.decide
    const groups = [
      { calls: [known(call('global')), known(call('a', window))] },
      { calls: [known(call('global'))] },
      { calls: [known(call('a', window)), known(call('global'))] },
    ]
    expect(await decide(store, groups)).toMatchObject([
      // The third group was not denied yet when this number was computed. So the token that it had taken is not counted as certain.
      { outcome: 'allowed', source: 'store', calls: [{ remaining: held - 3 }, { remaining: 0 }] },
      { outcome: 'allowed', source: 'lease' },
      { outcome: 'denied', calls: [{ outcome: 'denied' }, { outcome: 'allowed' }] },
    ])
    expect([inner.asked.decide - asked, store.leasedTokens]).toEqual([1, held - 2])
  })

  it('decides several groups at once, each from where it can', async () => {
    const { ask, store, known } = leaseBench()
    await ask(call('k'))
    const verdicts = await decide(store, [
      { calls: [known(call('k'))] },
      { calls: [known(call('other', fixedWindow({ limit: 1, window: '1s' })))] },
    ])
    expect(verdicts.map(({ outcome, source }) => [outcome, source])).toEqual([
      ['allowed', 'lease'],
      ['allowed', 'store'],
    ])
  })

  it('leaves alone what it cannot lease: other algorithms, small buckets, keys beyond its bound', async () => {
    const { ask, inner } = leaseBench({ maxKeys: 1 })
    await ask(call('w', fixedWindow({ limit: 100, window: '1s' })))
    await ask(call('k'))
    await ask(call('other'))
    expect(inner.asked).toEqual({ decide: 2, lease: 1 })
    const small = leaseBench()
    for (let index = 0; index < 5; index += 1) await small.ask(call('k', tokenBucket({ rate: '1/s', burst: 5 })))
    expect(small.inner.asked).toEqual({ decide: 5, lease: 0 })
  })
})
