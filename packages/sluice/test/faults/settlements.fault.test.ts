import { describe, expect, it } from 'vitest'
import { concurrency, createLimiter, fixedWindow, type Limiter, type LimiterOptions, type Store, tokenBucket } from '../../src/index.ts'
import { failing } from '../limiter/ten-to-hold.ts'
import { EVERY_HELD } from './held-stores.ts'
import { wait } from './under-fault.ts'

const HOUR = 3_600_000
const TEN = tokenBucket({ rate: '1/d', burst: 10 })

function limiterOn(store: Store, options: Partial<LimiterOptions> = {}): Limiter {
  const limits = options.limits === undefined ? { limit: TEN } : {}
  return createLimiter({ name: 'settled', ...limits, store, deadlineMs: 30_000, ...options })
}

/** What is left of each limit. */
async function left(limiter: Limiter, key = 'k'): Promise<readonly number[]> {
  return (await limiter.peek(key)).limits.map(({ remaining }) => remaining)
}

describe.each(EVERY_HELD)('settlements on %s', (_, make) => {
  it('lost: one whose answer is lost is sent again and counts once, and one that never arrived counts when it is repeated', async () => {
    const { store, fail } = failing((await make()).open(), 'unknown')
    const limiter = limiterOn(store)
    const first = await limiter.reserve('k', { cost: 6 })
    fail(1)
    expect(await first.settle(1)).toMatchObject({ status: 'settled', repeated: true, limits: [{ charged: 1 }] })
    const second = await limiter.reserve('k', { cost: 6 })
    fail(2)
    await expect(second.settle(2)).rejects.toMatchObject({ executed: 'unknown' })
    expect(await second.settle(5)).toMatchObject({ status: 'settled', repeated: true, limits: [{ charged: 2 }] })
    expect(await left(limiter)).toEqual([7])
    const third = failing(store, 'no')
    const fourth = await limiterOn(third.store).reserve('k', { cost: 6 })
    third.fail(1)
    await expect(fourth.settle(2)).rejects.toMatchObject({ executed: 'no' })
    expect(await left(limiter)).toEqual([1])
    expect(await fourth.settle(5)).toMatchObject({ status: 'settled', repeated: false, limits: [{ charged: 5 }] })
    expect(await left(limiter)).toEqual([2])
  })

  it('late: after the end of the hold nothing goes back, what was used more is reported, and extend comes too late', async () => {
    const limiter = limiterOn((await make()).open())
    const { settle, extend } = await limiter.reserve('k', { cost: 6, holdMs: 200 })
    await wait(300)
    expect(await extend(60_000)).toMatchObject({ status: 'expired' })
    expect(await settle(0)).toMatchObject({ status: 'expired', limits: [{ held: 6, charged: 6, overage: 0 }] })
    expect(await settle(8)).toMatchObject({ status: 'expired', limits: [{ held: 6, charged: 6, overage: 2 }], overage: 2 })
    expect(await extend(60_000)).toMatchObject({ status: 'expired' })
    expect(await left(limiter)).toEqual([4])
  })

  it('reordered: the first that arrives counts, so cumulative use is not added as deltas', async () => {
    const limiter = limiterOn((await make()).open())
    const { settle } = await limiter.reserve('k', { cost: 6 })
    expect(await settle(3)).toMatchObject({ repeated: false, limits: [{ charged: 3 }] })
    for (const used of [5, 1, undefined]) expect(await settle(used)).toMatchObject({ repeated: true, limits: [{ charged: 3 }] })
    expect(await left(limiter)).toEqual([7])
  })

  it("for another's id: of another key, limiter or hold, nothing goes back", async () => {
    const store = (await make()).open()
    const [mine, theirs] = [limiterOn(store), limiterOn(store, { name: 'theirs' })]
    const { id } = await mine.reserve('k', { cost: 6 })
    await mine.reserve('other', { cost: 6 })
    await theirs.reserve('k', { cost: 6 })
    const attempts = [mine.settle('other', id, 0), theirs.settle('k', id, 0), mine.settle('k', `${id}x`, 0), mine.cancel('other', id)]
    for (const one of await Promise.all(attempts)) expect(one).toMatchObject({ status: 'unknown', limits: [] })
    expect([await left(mine), await left(mine, 'other'), await left(theirs)]).toEqual([[4], [4], [4]])
    expect(await mine.settle('k', id, 1)).toMatchObject({ status: 'settled', repeated: false })
  })

  it('with 2^53, a negative number, NaN or no number: refused, and the hold stays open', async () => {
    const limiter = limiterOn((await make()).open())
    const { settle } = await limiter.reserve('k', { cost: 6 })
    const wrong: readonly unknown[] = [2 ** 53, -1, -0.5, Number.NaN, Infinity, -Infinity, 1e-7, '3', null, 5n, {}]
    for (const actual of wrong) await expect(settle(actual as number)).rejects.toMatchObject({ code: 'INVALID_COST' })
    expect(await left(limiter)).toEqual([4])
    expect(await settle(2)).toMatchObject({ status: 'settled', repeated: false })
    expect(await left(limiter)).toEqual([8])
  })

  it('with the largest number: charged to one capacity below empty and not clamped at 0, the rest is overage', async () => {
    const limiter = limiterOn((await make()).open(), { limits: { bucket: TEN, window: fixedWindow({ limit: 10, window: '1d' }) } })
    const { settle } = await limiter.reserve('k', { cost: 6 })
    const { limits, overage } = await settle(9_000_000_000)
    expect(limits).toMatchObject([{ name: 'bucket' }, { name: 'window', charged: 20 }])
    expect(limits[0]?.charged).toBeCloseTo(20, 3)
    expect(overage).toBeCloseTo(9_000_000_000 - 20, 3)
    expect(await left(limiter)).toEqual([0, 0])
    // The bucket now owes a whole capacity. So a call of one token has to wait for long, as the limit says.
    const { retryAfterMs = 0 } = await limiter.peek('k', { cost: 1 })
    expect(retryAfterMs).toBeGreaterThan(HOUR)
  })

  it('after a change of the policy: limits that are still there are settled, new ones give nothing back', async () => {
    const store = (await make()).open()
    const before = limiterOn(store, { limits: { a: TEN, b: TEN, c: TEN } })
    const half = tokenBucket({ rate: '1/d', burst: 5 })
    const after = limiterOn(store, { limits: { b: half, c: fixedWindow({ limit: 10, window: '1d' }), d: TEN } })
    const { id } = await before.reserve('k', { cost: 4 })
    await after.check('k', { cost: 4 })
    // The hold and the check took 8 of 10 tokens of b, and the smaller burst caps what is left. c has another algorithm after the change,
    // and so another state.
    expect(await after.settle('k', id, 1)).toMatchObject({ status: 'settled', limits: [{ name: 'b', held: 4, charged: 1 }] })
    const [b = 0, ...others] = await left(after)
    expect(b).toBeLessThanOrEqual(5)
    expect(others).toEqual([6, 6])
    expect((await left(before))[0]).toBe(6)
  })

  it('without a number, of a reservation without a cost: one token is held and stays spent, which every limit can admit', async () => {
    const limiter = limiterOn((await make()).open(), { limits: { one: tokenBucket({ rate: '1/d', burst: 1 }), ten: TEN } })
    const { decision, settle } = await limiter.reserve('k')
    expect(decision.outcome).toBe('allowed')
    expect(await settle()).toMatchObject({ status: 'settled', limits: [{ charged: 1 }, { charged: 1 }], overage: 0 })
    expect(await left(limiter)).toEqual([0, 9])
  })

  it('do not end with the signal of their reservation: a client that leaves changes nothing about them', async () => {
    const limiter = limiterOn((await make()).open())
    const client = new AbortController()
    const { settle } = await limiter.reserve('k', { cost: 6, signal: client.signal })
    client.abort()
    expect(await settle(1)).toMatchObject({ status: 'settled', limits: [{ charged: 1 }] })
    expect(await left(limiter)).toEqual([9])
  })

  it('a denied reservation takes nothing of any of its limits, raised and given back or not: nobody else sees it', async () => {
    const limiter = limiterOn((await make()).open(), { limits: { wide: TEN, narrow: tokenBucket({ rate: '1/d', burst: 3 }) } })
    await limiter.reserve('k', { cost: 3 })
    for (let turn = 0; turn < 5; turn += 1) expect((await limiter.reserve('k', { cost: 2 })).decision.outcome).toBe('denied')
    expect(await left(limiter)).toEqual([7, 0])
  })

  it('a flood of reservations of one key: no more than maxHolds are open, from all processes, and all come back', async () => {
    const held = await make()
    const options = { limits: { tokens: tokenBucket({ rate: '1/d', burst: 500 }) }, maxHolds: 20 }
    const [one, other] = [limiterOn(held.open(), options), limiterOn(held.open(), options)]
    const flood = async (): Promise<Awaited<ReturnType<Limiter['reserve']>>[]> => {
      const made = await Promise.all(
        Array.from({ length: 60 }, (__, index) => (index % 2 === 0 ? one : other).reserve('k', { holdMs: 3_600_000 })),
      )
      const denied = made.filter(({ decision }) => decision.outcome === 'denied')
      for (const { decision } of denied) expect(decision).toMatchObject({ reason: 'holds', limitName: 'maxHolds' })
      const open = made.filter(({ decision }) => decision.outcome === 'allowed')
      expect(open.length + denied.length).toBe(60)
      return open
    }
    const first = await flood()
    expect(first).toHaveLength(20)
    expect(await left(one)).toEqual([480])
    expect((await one.reserve('other')).decision.outcome).toBe('allowed')
    await Promise.all(first.slice(0, 5).map(({ settle }) => settle(0)))
    expect(await flood()).toHaveLength(5)
    expect(await left(one)).toEqual([480])
    // What nobody settles is free when it ends.
    await Promise.all(Array.from({ length: 20 }, () => one.reserve('short', { holdMs: 500 })))
    await expect.poll(async () => (await other.reserve('short', { holdMs: 1 })).decision.outcome).toBe('allowed')
  })

  it('extended: the slots of the hold stay held as long as it does', async () => {
    const limiter = limiterOn((await make()).open(), { limits: { tokens: TEN, slots: concurrency({ limit: 1, holdMs: 300 }) } })
    const { extend, settle } = await limiter.reserve('k', { holdMs: 3_000 })
    expect((await extend(3_600_000)).status).toBe('open')
    await wait(3_100)
    expect((await limiter.reserve('k')).decision).toMatchObject({ outcome: 'denied', reason: 'concurrency' })
    await settle(1)
    expect((await limiter.reserve('k')).decision.outcome).toBe('allowed')
  })
})
