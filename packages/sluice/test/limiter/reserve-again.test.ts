import { describe, expect, it } from 'vitest'
import { concurrency, memoryStore, tokenBucket } from '../../src/index.ts'
import { withDividedLimit } from '../../src/remote.ts'
import { failing, MINUTE, ten } from './ten-to-hold.ts'

describe('reserve on a store that fails', () => {
  it('is undecided, and its settlement is unknown', async () => {
    const { store, fail } = failing(memoryStore(), 'no')
    const { limiter } = ten({ store, onStoreFailure: 'allow' })
    fail(1)
    const { decision, settle } = await limiter.reserve('k', { cost: 6 })
    expect(decision).toMatchObject({ outcome: 'undecided', allowed: true, degraded: { executed: 'no' } })
    expect((await settle(1)).status).toBe('unknown')
  })

  it('that charged all the same can be cancelled', async () => {
    const { store, fail } = failing(memoryStore(), 'unknown')
    const { limiter, remaining } = ten({ store })
    fail(1)
    const { decision, cancel } = await limiter.reserve('k', { cost: 6 })
    expect(decision).toMatchObject({ outcome: 'undecided', degraded: { executed: 'unknown' } })
    expect(await remaining()).toEqual([4])
    expect(await cancel()).toMatchObject({ status: 'settled', repeated: false })
    expect(await remaining()).toEqual([10])
  })

  it('settles again after a lost answer, and counts once', async () => {
    const { store, fail } = failing(memoryStore(), 'unknown')
    const { limiter, remaining } = ten({ store })
    const { settle } = await limiter.reserve('k', { cost: 6 })
    fail(1)
    expect(await settle(2)).toMatchObject({ status: 'settled', repeated: true, limits: [{ charged: 2 }] })
    expect(await remaining()).toEqual([8])
  })

  it('rejects a settlement that the store cannot make, and a later one is made', async () => {
    const { store, fail } = failing(memoryStore(), 'no')
    const { limiter, remaining } = ten({ store })
    const { settle } = await limiter.reserve('k', { cost: 6 })
    fail(1)
    await expect(settle(2)).rejects.toMatchObject({ name: 'StoreFailure', kind: 'timeout' })
    await settle(2)
    expect(await remaining()).toEqual([8])
  })

  it('holds in the local fallback, and is settled there', async () => {
    const { store, fail } = failing(memoryStore(), 'no')
    const local = memoryStore()
    const { limiter } = ten({ store, onStoreFailure: withDividedLimit(local, 2) })
    fail(1)
    const { decision, id, settle } = await limiter.reserve('k', { cost: 4 })
    expect(decision).toMatchObject({ outcome: 'allowed', source: 'fallback', limits: [{ remaining: 1 }] })
    expect(await limiter.settle('k', id, 1)).toMatchObject({ status: 'settled', limits: [{ held: 4, charged: 1 }] })
    expect(await settle(1)).toMatchObject({ repeated: true })
  })
})

describe('check with an id', () => {
  it('is charged once, however often it is repeated', async () => {
    const { limiter, remaining, clock } = ten()
    for (let index = 0; index < 3; index += 1) {
      expect(await limiter.check('k', { cost: 4, id: 'a', holdMs: 1_000 })).toMatchObject({
        outcome: 'allowed',
        limits: [{ remaining: 6 }],
      })
    }
    expect(await limiter.settle('k', 'a', 0)).toMatchObject({ status: 'settled', repeated: true, limits: [{ charged: 4 }] })
    clock.advance(MINUTE + 1_000)
    await limiter.check('k', { cost: 4, id: 'a' })
    expect(await remaining()).toEqual([2])
  })

  it('does not remember denials', async () => {
    const { limiter } = ten()
    await limiter.check('k', { cost: 10 })
    expect((await limiter.check('k', { cost: 4, id: 'a' })).outcome).toBe('denied')
    await limiter.reset('k')
    expect((await limiter.check('k', { cost: 4, id: 'a' })).outcome).toBe('allowed')
  })

  it('that timed out is charged once by its repetition', async () => {
    const { store, fail } = failing(memoryStore(), 'unknown')
    const { limiter, remaining } = ten({ store })
    fail(1)
    expect((await limiter.check('k', { cost: 4, id: 'a' })).outcome).toBe('undecided')
    expect((await limiter.check('k', { cost: 4, id: 'a' })).outcome).toBe('allowed')
    expect(await remaining()).toEqual([6])
  })

  it('refuses holdMs without an id', async () => {
    const { limiter } = ten()
    await expect(limiter.check('k', { holdMs: 1_000 })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
  })

  it('is reported to observers, with the limits of the limiter alone', async () => {
    const events: unknown[] = []
    const { limiter } = ten({ observers: [{ onDecision: ({ results, refusedBy }) => void events.push([results, refusedBy]) }] })
    await limiter.check('k', { id: 'a' })
    await limiter.reserve('k', { cost: 20 })
    expect(events).toEqual([
      [[{ rule: 'default', result: 'allowed', newKey: true }], undefined],
      [[{ rule: 'default', result: 'impossible' }], 'default'],
    ])
  })
})

describe('reserve with slots', () => {
  const slots = () =>
    ten({ limits: { tokens: tokenBucket({ rate: '1/h', burst: 100 }), open: concurrency({ limit: 1, holdMs: 600_000 }) } })

  it('repeated says what its holder has, and takes again a slot that was given back', async () => {
    const { limiter, clock } = slots()
    const first = await limiter.reserve('k', { id: 'a', holdMs: 5_000 })
    clock.advance(1_000)
    const again = await limiter.reserve('k', { id: 'a', holdMs: 5_000 })
    expect(again.decision.hold).toEqual(first.decision.hold)
    expect(again.decision.limits).toEqual([
      expect.objectContaining({ remaining: 99 }),
      expect.objectContaining({ remaining: 0, resetAfterMs: 4_000 }),
    ])
    await limiter.release('k', 'a')
    expect((await limiter.reserve('k', { id: 'b' })).decision.outcome).toBe('allowed')
    expect((await limiter.reserve('k', { id: 'a', holdMs: 5_000 })).decision).toMatchObject({
      outcome: 'denied',
      reason: 'concurrency',
      limitName: 'open',
    })
    await limiter.cancel('k', 'b')
    expect((await limiter.reserve('k', { id: 'a', holdMs: 5_000 })).decision.hold).toMatchObject({ id: 'a' })
    expect((await limiter.reserve('k', { id: 'c' })).decision).toMatchObject({ outcome: 'denied', reason: 'concurrency' })
  })

  it('repeated while its hold is settled takes no slot that nobody would give back', async () => {
    const { decideNow: _, ...inner } = memoryStore()
    let calls = 0
    let second = async (): Promise<void> => {}
    const store = {
      ...inner,
      capabilities: { ...inner.capabilities, sync: false },
      decide: async (...all: Parameters<typeof inner.decide>) => {
        calls += 1
        if (calls === 3) await second()
        return inner.decide(...all)
      },
    }
    const { limiter } = ten({ store, limits: { open: concurrency({ limit: 1, holdMs: 600_000 }) } })
    const first = await limiter.reserve('k', { id: 'a' })
    // The repeated reservation first reads the record of the hold, which is open. Before its second call takes the slot, the hold is
    // settled.
    second = async () => void (await first.settle())
    await expect(limiter.reserve('k', { id: 'a' })).rejects.toThrow('the id "a" was settled or cancelled')
    expect((await limiter.check('k')).outcome).toBe('allowed')
  })

  it('a check with an id passes only with its slot, also after the slot was given back or has ended', async () => {
    const { limiter, remaining, clock } = slots()
    const check = (id: string) => limiter.check('k', { id, holdMs: 1_000 })
    const { hold } = await check('a')
    expect((await check('a')).hold).toEqual(hold)
    clock.advance(1_000)
    expect((await check('b')).outcome).toBe('allowed')
    expect(await check('a')).toMatchObject({ outcome: 'denied', reason: 'concurrency', limitName: 'open' })
    await limiter.release('k', 'b')
    expect(await check('a')).toMatchObject({ outcome: 'allowed', hold: { id: 'a' } })
    expect(await check('b')).toMatchObject({ outcome: 'denied', reason: 'concurrency' })
    expect(await remaining()).toEqual([98, 0])
  })

  it('holds a slot under its id until it is settled, or as long as it lasts', async () => {
    const { limiter, clock } = ten({
      limits: { tokens: tokenBucket({ rate: '1/h', burst: 100 }), open: concurrency({ limit: 2, holdMs: 600_000 }) },
    })
    const first = await limiter.reserve('k', { holdMs: 5_000 })
    const second = await limiter.reserve('k', { holdMs: 5_000 })
    expect(first.decision.hold).toMatchObject({ id: first.id, expiresAt: first.decision.at + 5_000 })
    expect((await limiter.reserve('k')).decision).toMatchObject({ outcome: 'denied', reason: 'concurrency', limitName: 'open' })
    expect(await first.settle()).toMatchObject({ status: 'settled', limits: [{ charged: 1 }, { name: 'open', charged: 0 }] })
    const third = await limiter.reserve('k')
    expect(third.decision.outcome).toBe('allowed')
    expect(await second.settle(0.5)).toMatchObject({ limits: [{ charged: 0.5 }, { charged: 0 }] })
    clock.advance(5_000)
    expect((await limiter.reserve('k')).decision.outcome).toBe('allowed')
    expect((await limiter.reserve('k')).decision.outcome).toBe('denied')
    await third.cancel()
    expect((await limiter.reserve('k')).decision.outcome).toBe('allowed')
  })

  it('keeps its slot as long as it is extended: nobody else gets it meanwhile', async () => {
    const { limiter, clock } = ten({
      limits: { tokens: tokenBucket({ rate: '1/h', burst: 100 }), open: concurrency({ limit: 1, holdMs: 1_000 }) },
    })
    const { extend, settle, decision } = await limiter.reserve('k', { holdMs: 5_000 })
    clock.advance(4_000)
    expect(await extend(60_000)).toEqual({ status: 'open', expiresAt: decision.at + 64_000 })
    clock.advance(59_999)
    expect((await limiter.reserve('k')).decision).toMatchObject({ outcome: 'denied', reason: 'concurrency' })
    expect((await settle(1)).status).toBe('settled')
    expect((await limiter.reserve('k')).decision.outcome).toBe('allowed')
  })
})
