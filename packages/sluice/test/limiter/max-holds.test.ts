import { describe, expect, it } from 'vitest'
import { fixedWindow, memoryStore, type Reservation, tokenBucket } from '../../src/index.ts'
import { problemOf } from '../../src/http.ts'
import { failing, MINUTE, ten } from './ten-to-hold.ts'

const HUNDRED = { limits: { tokens: tokenBucket({ rate: '1/h', burst: 100 }) } }

describe('maxHolds', () => {
  it('denies a reservation of a key with as many open ones, with a reason of its own, and charges nothing', async () => {
    const { limiter, remaining } = ten({ ...HUNDRED, maxHolds: 2 })
    await limiter.reserve('k', { cost: 10 })
    await limiter.reserve('k', { cost: 10 })
    const { decision, settle } = await limiter.reserve('k', { cost: 10 })
    expect(decision).toMatchObject({ outcome: 'denied', allowed: false, reason: 'holds', limitName: 'maxHolds' })
    expect(decision.retryAfterMs).toBeUndefined()
    expect(decision.limits).toMatchObject([{ name: 'tokens', remaining: 80 }])
    expect(await settle(1)).toMatchObject({ status: 'unknown' })
    expect(await remaining()).toEqual([80])
    expect((await limiter.reserve('another')).decision.outcome).toBe('allowed')
    expect((await limiter.check('k')).outcome).toBe('allowed')
    expect(problemOf(decision as never)).toMatchObject({ status: 429, reason: 'holds', detail: expect.stringContaining('reservations') })
  })

  it('counts a hold until it is settled or cancelled, and shows it in no settlement', async () => {
    const { limiter } = ten({ ...HUNDRED, maxHolds: 1 })
    const ends: ((one: Reservation) => Promise<unknown>)[] = [(one) => one.settle(1), (one) => one.cancel(), (one) => one.settle()]
    for (const end of ends) {
      const one = await limiter.reserve('k', { cost: 2 })
      expect(one.decision.outcome).toBe('allowed')
      expect(one.decision.hold).toBeUndefined()
      expect((await limiter.reserve('k')).decision.outcome).toBe('denied')
      expect(await end(one)).toMatchObject({ status: 'settled', limits: [{ name: 'tokens' }] })
    }
  })

  it('counts a hold that nobody settles until its end, and no longer; extended, until its new end', async () => {
    const { limiter, clock } = ten({ ...HUNDRED, maxHolds: 1 })
    const { extend } = await limiter.reserve('k', { holdMs: 1_000 })
    await extend(5_000)
    clock.advance(4_999)
    expect((await limiter.reserve('k')).decision.reason).toBe('holds')
    clock.advance(1)
    expect((await limiter.reserve('k')).decision.outcome).toBe('allowed')
  })

  it('counts a repeated call once, also where no more are free, and calls with an id that only check not at all', async () => {
    const { limiter } = ten({ ...HUNDRED, maxHolds: 1 })
    for (let turn = 0; turn < 3; turn += 1) expect((await limiter.reserve('k', { id: 'a' })).decision.outcome).toBe('allowed')
    expect((await limiter.reserve('k', { id: 'b' })).decision.reason).toBe('holds')
    for (const id of ['c', 'd']) expect((await limiter.check('k', { id })).outcome).toBe('allowed')
    // It was denied, so its id is free.
    await limiter.cancel('k', 'a')
    expect((await limiter.reserve('k', { id: 'b', cost: 2 })).decision.outcome).toBe('allowed')
  })

  it('is the reason only where it takes longest: a used-up window and a block say their own', async () => {
    const { limiter, clock } = ten({ limits: { calls: fixedWindow({ limit: 2, window: '1h' }) }, maxHolds: 1 })
    await limiter.reserve('k', { holdMs: 1_000 })
    await limiter.check('k')
    expect((await limiter.reserve('k')).decision).toMatchObject({ reason: 'quota', limitName: 'calls' })
    clock.advance(60 * MINUTE)
    await limiter.reserve('k')
    await limiter.block('k', '1s')
    expect((await limiter.reserve('k')).decision).toMatchObject({ reason: 'blocked', limitName: 'calls' })
  })

  it('is observed as a denial of no limit', async () => {
    const events: unknown[] = []
    const { limiter } = ten({
      maxHolds: 1,
      observers: [{ onDecision: ({ results, refusedBy }) => void events.push([results, refusedBy]) }],
    })
    await limiter.reserve('k')
    await limiter.reserve('k')
    expect(events.at(-1)).toEqual([[{ rule: 'default', result: 'withheld' }], 'maxHolds'])
  })

  it('belongs to the name of its limiter, and also bounds limiters with other limits of that name', async () => {
    const store = memoryStore()
    const [a, b, c] = [ten({ ...HUNDRED, store, maxHolds: 1 }), ten({ store, maxHolds: 1 }), ten({ store, name: 'c', maxHolds: 1 })]
    await a.limiter.reserve('k')
    expect((await b.limiter.reserve('k')).decision.reason).toBe('holds')
    expect((await c.limiter.reserve('k')).decision.outcome).toBe('allowed')
  })

  it('counts what the local fallback holds there, and a hold whose answer was lost here', async () => {
    const { store, fail } = failing(memoryStore(), 'unknown')
    const { limiter } = ten({ ...HUNDRED, store, maxHolds: 1, onStoreFailure: 'local' })
    fail(1)
    const lost = await limiter.reserve('k')
    expect(lost.decision).toMatchObject({ outcome: 'allowed', source: 'fallback' })
    expect((await limiter.reserve('k')).decision.reason).toBe('holds')
    expect(await lost.settle(0)).toMatchObject({ status: 'settled' })
    expect((await limiter.reserve('k')).decision.outcome).toBe('allowed')
  })

  it('in all, of a memory store, is decided by its onFull', async () => {
    const kept = [undefined, 'allow', 'deny'] as const
    const decided = kept.map(async (onFull) => {
      const { limiter } = ten({ store: memoryStore({ maxHolds: 1, ...(onFull === undefined ? {} : { onFull }) }) })
      await limiter.reserve('one')
      return (await limiter.reserve('other')).decision
    })
    expect(await Promise.all(decided)).toMatchObject([
      {
        outcome: 'undecided',
        allowed: false,
        source: 'fallback',
        degraded: { kind: 'memory', message: expect.stringContaining('maxHolds 1,') as string },
      },
      { outcome: 'undecided', allowed: true, source: 'store' },
      { outcome: 'undecided', allowed: false, source: 'store' },
    ])
  })

  it('is refused for a store without holds, and next to a limit of its name', () => {
    const { capabilities, ...store } = memoryStore()
    const without = (changes: object) => ({ ...store, capabilities: { ...capabilities, ...changes } })
    const refused = (options: object): unknown => {
      try {
        return ten(options)
      } catch (error) {
        return error
      }
    }
    expect(refused({ store: without({ groupOptions: [] }), maxHolds: 1 })).toMatchObject({ code: 'NOT_SUPPORTED' })
    expect(refused({ store: without({ changes: ['adjust', 'release'] }), maxHolds: 1 })).toMatchObject({ code: 'NOT_SUPPORTED' })
    expect(refused({ limits: { maxHolds: fixedWindow({ limit: 1, window: '1s' }) }, maxHolds: 1 })).toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('maxHolds'),
    })
    expect(refused({ maxHolds: 4_001 })).toMatchObject({ message: expect.stringContaining('1 to 4000') })
  })
})
