import { describe, expect, it } from 'vitest'
import { concurrency, fixedWindow, memoryStore, slidingWindowLog, type Store, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'
import { MINUTE, ten } from './ten-to-hold.ts'

describe('reserve', () => {
  it('charges at once and gives back what was not used', async () => {
    const { limiter, remaining } = ten()
    const { decision, id, settle } = await limiter.reserve('k', { cost: 6 })
    expect(decision).toMatchObject({ outcome: 'allowed', limits: [{ name: 'default', remaining: 4 }] })
    expect(id).toMatch(/^1[\w-]{30}$/)
    expect(await settle(2)).toEqual({
      status: 'settled',
      expiresAt: decision.at + MINUTE,
      repeated: false,
      limits: [{ name: 'default', held: 6, charged: 2, overage: 0 }],
      overage: 0,
    })
    expect(await remaining()).toEqual([8])
  })

  it('makes ids that differ, of 128 random bits and a digest of the key', async () => {
    const { limiter } = ten()
    const ids = await Promise.all(Array.from({ length: 100 }, async () => (await limiter.reserve('k', { cost: 0.01 })).id))
    expect(new Set(ids).size).toBe(100)
    expect(new Set(ids.map((id) => id.slice(0, 7))).size).toBe(1)
    expect((await limiter.reserve('other')).id.slice(0, 7)).not.toBe(ids[0]?.slice(0, 7))
  })

  it('can be settled by id, by another limiter on the same store', async () => {
    const store = memoryStore()
    const { limiter, remaining } = ten({ store })
    const { id } = await limiter.reserve('k', { cost: 6 })
    const { limiter: other } = ten({ store })
    expect(await other.settle('k', id, 1)).toMatchObject({ status: 'settled', repeated: false })
    expect(await limiter.cancel('k', id)).toMatchObject({ status: 'settled', repeated: true, limits: [{ charged: 1 }] })
    expect(await remaining()).toEqual([9])
  })

  it('repeated with its id charges nothing while it is open, and answers as the first time', async () => {
    const { limiter, remaining, clock } = ten()
    const first = await limiter.reserve('k', { cost: 6, id: 'order 7' })
    clock.advance(1_000)
    const second = await limiter.reserve('k', { cost: 6, id: 'order 7' })
    expect(second).toMatchObject({ id: 'order 7', decision: { outcome: 'allowed', atMicros: first.decision.atMicros } })
    expect(second.decision.limits).toMatchObject([{ remaining: 4 }])
    // Also after the limit is used up by others.
    await limiter.check('k', { cost: 4 })
    expect((await limiter.reserve('k', { cost: 6, id: 'order 7' })).decision.outcome).toBe('allowed')
    await second.cancel()
    expect(await first.settle(3)).toMatchObject({ repeated: true, limits: [{ charged: 0 }] })
    expect(await remaining()).toEqual([6])
  })

  it.each([0, 2, 6, 8, undefined])('with an id whose hold was settled with %s is ID_REUSED, and charges nothing', async (actual) => {
    const { limiter, remaining, clock } = ten()
    const { settle } = await limiter.reserve('k', { cost: 6, id: 'order 7', holdMs: 1_000 })
    await settle(actual)
    const left = await remaining()
    for (const passed of [0, 999, MINUTE]) {
      clock.advance(passed)
      await expect(limiter.reserve('k', { cost: 6, id: 'order 7' })).rejects.toMatchObject({
        code: 'ID_REUSED',
        message: expect.stringContaining('was settled or cancelled; use a new id'),
      })
    }
    expect(await remaining()).toEqual(left)
    await limiter.reset('k')
    clock.advance(1)
    // A minute after its end it is forgotten.
    expect((await limiter.reserve('k', { cost: 6, id: 'order 7' })).decision.outcome).toBe('allowed')
    expect(await remaining()).toEqual([4])
  })

  it('with an id whose hold has ended is ID_REUSED, because its slot is free again', async () => {
    const { limiter, clock } = ten({
      limits: { tokens: tokenBucket({ rate: '1/h', burst: 10 }), open: concurrency({ limit: 1, holdMs: MINUTE }) },
    })
    await limiter.reserve('k', { id: 'a', holdMs: 1_000 })
    clock.advance(999)
    expect((await limiter.reserve('k', { id: 'a' })).decision.outcome).toBe('allowed')
    clock.advance(1)
    await expect(limiter.reserve('k', { id: 'a' })).rejects.toMatchObject({
      code: 'ID_REUSED',
      message: expect.stringContaining('that has ended; use a new id'),
    })
    expect((await limiter.reserve('k', { id: 'b' })).decision.outcome).toBe('allowed')
  })

  it('with the id of a check is ID_REUSED, and so is a check with that of a reservation: nothing of one is to be settled', async () => {
    const { limiter, remaining } = ten()
    await limiter.check('k', { cost: 2, id: 'checked' })
    await expect(limiter.reserve('k', { cost: 2, id: 'checked' })).rejects.toMatchObject({ code: 'ID_REUSED' })
    const { cancel } = await limiter.reserve('k', { cost: 2, id: 'reserved' })
    const check = (): Promise<unknown> => limiter.check('k', { cost: 2, id: 'reserved' })
    await expect(check()).rejects.toMatchObject({ code: 'ID_REUSED', message: expect.stringContaining('reservation') })
    await cancel()
    await expect(check()).rejects.toMatchObject({ code: 'ID_REUSED' })
    expect(await remaining()).toEqual([8])
  })

  it('with an id that was used for another cost is ID_REUSED', async () => {
    const { limiter, remaining } = ten()
    await limiter.reserve('k', { cost: 6, id: 'a' })
    await expect(limiter.reserve('k', { cost: 5, id: 'a' })).rejects.toMatchObject({ code: 'ID_REUSED' })
    await expect(limiter.check('k', { cost: 5, id: 'a' })).rejects.toMatchObject({ code: 'ID_REUSED' })
    expect(await remaining()).toEqual([4])
    expect((await limiter.reserve('another', { cost: 5, id: 'a' })).decision.outcome).toBe('allowed')
  })

  it('that is denied or impossible holds nothing, and is not remembered', async () => {
    const { limiter, remaining } = ten()
    await limiter.check('k', { cost: 6 })
    const denied = await limiter.reserve('k', { cost: 6, id: 'a' })
    expect(denied.decision).toMatchObject({ outcome: 'denied', limitName: 'default', reason: 'quota' })
    expect(await denied.settle(1)).toEqual({ status: 'unknown', repeated: false, limits: [], overage: 0 })
    expect(await denied.extend(1_000)).toEqual({ status: 'unknown' })
    expect((await limiter.reserve('k', { cost: 11 })).decision.outcome).toBe('impossible')
    await limiter.reset('k')
    expect((await limiter.reserve('k', { cost: 6, id: 'a' })).decision.outcome).toBe('allowed')
    expect(await remaining()).toEqual([4])
  })

  it('charges several limits of any algorithms, all or nothing', async () => {
    const { limiter, remaining } = ten({
      limits: {
        bucket: tokenBucket({ rate: '1/h', burst: 10 }),
        window: fixedWindow({ limit: 20, window: '1h' }),
        log: slidingWindowLog({ limit: 30, window: '1h' }),
      },
    })
    const { settle } = await limiter.reserve('k', { cost: 8 })
    expect((await limiter.reserve('k', { cost: 8 })).decision).toMatchObject({ outcome: 'denied', limitName: 'bucket' })
    expect(await remaining()).toEqual([2, 12, 22])
    await settle(1.5)
    expect(await remaining()).toEqual([8, 18, 28])
  })

  it('with what was used more goes to one capacity below empty; the rest is overage', async () => {
    const { limiter } = ten({ limits: { small: tokenBucket({ rate: '1/h', burst: 10 }), big: tokenBucket({ rate: '1/h', burst: 100 }) } })
    const { settle } = await limiter.reserve('k', { cost: 5 })
    expect(await settle(50)).toMatchObject({
      limits: [
        { name: 'small', held: 5, charged: 20, overage: 30 },
        { name: 'big', held: 5, charged: 50, overage: 0 },
      ],
      overage: 30,
    })
  })

  it('that is never settled stays spent, and cannot be extended after its end', async () => {
    const { limiter, remaining, clock } = ten()
    const { extend, settle } = await limiter.reserve('k', { cost: 6, holdMs: 1_000 })
    clock.advance(900)
    expect(await extend(1_000)).toMatchObject({ status: 'open' })
    clock.advance(999)
    expect((await extend(1)).status).toBe('open')
    clock.advance(1)
    expect((await extend(1_000)).status).toBe('expired')
    expect(await settle(0)).toMatchObject({ status: 'expired', limits: [{ held: 6, charged: 6 }] })
    clock.advance(MINUTE)
    expect((await settle(0)).status).toBe('unknown')
    expect(await remaining()).toEqual([4])
  })

  it('has no overage of slots after its end, as before it: slots do not count what was used', async () => {
    const limits = { slots: concurrency({ limit: 5, holdMs: MINUTE }), tokens: tokenBucket({ rate: '1/h', burst: 10 }) }
    const { limiter, clock } = ten({ limits })
    const { settle } = await limiter.reserve('k', { cost: 2, holdMs: 1_000 })
    clock.advance(1_000)
    expect(await settle(6)).toMatchObject({
      status: 'expired',
      limits: [
        { name: 'slots', overage: 0 },
        { name: 'tokens', overage: 4 },
      ],
    })
  })

  it('settles with the window of its charge, not with the current one', async () => {
    const { limiter, remaining, clock } = ten({ limits: { minute: fixedWindow({ limit: 10, window: '1m', align: 'first' }) } })
    const { settle } = await limiter.reserve('k', { cost: 6, holdMs: 5 * MINUTE })
    clock.advance(MINUTE)
    await limiter.check('k', { cost: 3 })
    expect(await settle(0)).toMatchObject({ status: 'settled', limits: [{ held: 6, charged: 6 }] })
    expect(await remaining()).toEqual([7])
  })

  it.each([2 ** 53, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e-7, '5', null])(
    'refuses an actual cost of %s, and the hold stays open',
    async (actual) => {
      const { limiter } = ten()
      const { id, settle } = await limiter.reserve('k', { cost: 6 })
      await expect(settle(actual as number)).rejects.toMatchObject({ code: 'INVALID_COST' })
      await expect(limiter.settle('k', id, actual as number)).rejects.toMatchObject({ code: 'INVALID_COST' })
      expect(await settle(0)).toMatchObject({ status: 'settled', repeated: false })
    },
  )

  it('settles -0 as 0', async () => {
    const { limiter } = ten()
    const { settle } = await limiter.reserve('k', { cost: 6 })
    expect((await settle(-0)).limits).toEqual([{ name: 'default', held: 6, charged: 0, overage: 0 }])
  })

  it.each(['', 'x'.repeat(129), 'tab\t', 'ü', 7])('refuses the id %j', async (id) => {
    const { limiter } = ten()
    await expect(limiter.reserve('k', { id: id as string })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
    await expect(limiter.settle('k', id as string, 1)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
  })

  it.each([0, -1, 86_400_001, Number.NaN, '1s'])('refuses holdMs %s', async (holdMs) => {
    const { limiter } = ten()
    await expect(limiter.reserve('k', { holdMs: holdMs as number })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
    await expect(limiter.extend('k', 'a', holdMs as number)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
  })

  it('takes ids of any printable characters, which name different holds', async () => {
    const { limiter, remaining } = ten()
    const ids = ['{a}', 'a:b', 'a', '*', ' ', '%007ba}', '~'.repeat(128)]
    for (const id of ids) await limiter.reserve('k', { id })
    expect(await remaining()).toEqual([10 - ids.length])
    for (const id of ids) expect(await limiter.cancel('k', id)).toMatchObject({ status: 'settled', repeated: false })
    expect(await remaining()).toEqual([10])
  })

  it('is not settled by another key, or by another limiter’s name', async () => {
    const store = memoryStore()
    const { limiter, remaining } = ten({ store })
    const { limiter: stranger } = ten({ store, name: 'stranger' })
    const { id } = await limiter.reserve('k', { cost: 6 })
    await limiter.check('other')
    expect((await limiter.settle('other', id, 0)).status).toBe('unknown')
    expect((await stranger.settle('k', id, 0)).status).toBe('unknown')
    expect([await remaining(), await remaining('other')]).toEqual([[4], [9]])
  })

  it('follows a changed limit: what is left of the old one is settled under the new one', async () => {
    const { limiter } = ten()
    const { id } = await limiter.reserve('k', { cost: 6 })
    const smaller = limiter.withLimit(tokenBucket({ rate: '1/h', burst: 5 }))
    expect(await smaller.settle('k', id, 1)).toMatchObject({ status: 'settled' })
    expect((await smaller.peek('k')).limits[0]?.remaining).toBeLessThanOrEqual(5)
  })

  it('settles those of its limits that are left after a change of the policy', async () => {
    const store = memoryStore()
    const bucket = tokenBucket({ rate: '1/h', burst: 10 })
    const { limiter } = ten({ store, limits: { a: bucket, b: bucket } })
    const { id } = await limiter.reserve('k', { cost: 6 })
    const { limiter: later, remaining } = ten({ store, limits: { b: bucket, c: bucket } })
    await later.check('k')
    expect(await later.settle('k', id, 0)).toMatchObject({ limits: [{ name: 'b', held: 6, charged: 0 }] })
    expect(await remaining()).toEqual([9, 9])
  })

  it('needs a store with holds', async () => {
    const inner = memoryStore()
    const store: Store = { ...inner, capabilities: { ...inner.capabilities, changes: ['adjust'], groupOptions: [] } }
    await expect(ten({ store }).limiter.reserve('k')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })

  it('of a store with room for two holds: the third is refused, and a hold that is over makes room', async () => {
    const clock = manualClock()
    const { limiter } = ten({ clock, store: memoryStore({ clock, maxHolds: 2 }) })
    const outcomes = async (): Promise<string> => (await limiter.reserve('k', { cost: 0.1, holdMs: 1_000 })).decision.outcome
    expect([await outcomes(), await outcomes(), await outcomes()]).toEqual(['allowed', 'allowed', 'undecided'])
    clock.advance(61_000)
    expect(await outcomes()).toBe('allowed')
    expect((await limiter.check('k')).outcome).toBe('allowed')
  })
})
