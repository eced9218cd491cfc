import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  type Change,
  type ChangeResult,
  createLimiter,
  LimiterError,
  memoryStore,
  type Store,
  StoreFailure,
  tokenBucket,
} from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'
import { failingStore, remoteMemory } from '../remote-memory.ts'

function limiterOf(clock = manualClock()) {
  const limits = { second: tokenBucket({ rate: '10/s', burst: 10 }), hour: tokenBucket({ rate: '100/h', burst: 100 }) }
  return { clock, limiter: createLimiter({ limits, clock }) }
}

describe('refund', () => {
  it('gives back to every limit what a call took, and never more than that', async () => {
    const { limiter } = limiterOf()
    await limiter.check('k', { cost: 7 })
    await limiter.refund('k', { cost: 4.5 })
    expect(await limiter.check('k', { cost: 7.5 })).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 0 }, { remaining: 90 }] })
    await limiter.refund('k', { cost: 1_000 })
    expect(await limiter.peek('k', { cost: 10 })).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 10 }, { remaining: 100 }] })
    expect(await limiter.peek('k', { cost: 10.000001 })).toMatchObject({ outcome: 'impossible' })
  })

  it('of a key that is fresh changes nothing, and holds no memory', async () => {
    const store = memoryStore()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 10 }), store })
    await limiter.refund('k', { cost: 5 })
    expect(store.size).toBe(0)
    await limiter.check('k', { cost: 5 })
    await limiter.refund('k', { cost: 5 })
    expect(store.size).toBe(0)
  })

  it('refuses a cost that is not one', async () => {
    const { limiter } = limiterOf()
    for (const cost of [-5, Number.NaN, 1e309, 0, '0x10' as never])
      await expect(limiter.refund('k', { cost })).rejects.toThrow(LimiterError)
  })
})

describe('penalize', () => {
  it('takes unconditionally, below empty but not deeper than one burst', async () => {
    const { limiter, clock } = limiterOf()
    await limiter.penalize('k', { cost: 5 })
    expect(await limiter.peek('k')).toMatchObject({ limits: [{ remaining: 5 }, { remaining: 95 }] })
    await limiter.penalize('k', { cost: 1_000 })
    expect(await limiter.peek('k')).toMatchObject({ outcome: 'denied', limitName: 'hour' })
    const short = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 10 }), clock })
    await short.penalize('k', { cost: 1_000 })
    expect(await short.peek('k')).toMatchObject({ outcome: 'denied', retryAfterMs: 1_100 })
    clock.advance(1_100)
    expect(await short.check('k')).toMatchObject({ outcome: 'allowed' })
  })
})

describe('peek', () => {
  it('answers as check would, and reports what is there: 60 of 60, not 59', async () => {
    const { limiter } = limiterOf()
    expect(await limiter.peek('k')).toMatchObject({
      outcome: 'allowed',
      limits: [
        { remaining: 10, resetAfterMs: 0 },
        { remaining: 100, resetAfterMs: 0 },
      ],
    })
    await limiter.check('k', { cost: 7 })
    const seen = await limiter.peek('k', { cost: 5 })
    expect(seen).toEqual(await limiter.check('k', { cost: 5 }))
    expect(seen).toMatchObject({ outcome: 'denied', limits: [{ remaining: 3 }, { remaining: 93 }] })
  })
})

describe('block', () => {
  it('denies whatever is left, says so, and ends by itself to the millisecond', async () => {
    const { limiter, clock } = limiterOf()
    await limiter.block('k', '30s')
    expect(await limiter.check('k')).toMatchObject({
      outcome: 'denied',
      reason: 'blocked',
      retryAfterMs: 30_000,
      // The block is on the first limit only. The second limit still shows what it has left.
      limits: [{ remaining: 0 }, { remaining: 100 }],
    })
    expect(await limiter.check('other')).toMatchObject({ outcome: 'allowed' })
    clock.advance(29_999)
    expect(limiter.checkSync('k')).toMatchObject({ outcome: 'denied', reason: 'blocked', retryAfterMs: 1 })
    clock.advance(1)
    expect(limiter.checkSync('k')).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 9 }, { remaining: 99 }] })
  })

  it('is reported with `remaining: 0` on the blocked limit by check and by peek alike, as the documents say, and leaves what it had', async () => {
    const { limiter } = limiterOf()
    await limiter.check('k', { cost: 4 })
    await limiter.block('k', '1ms')
    const limits = [{ remaining: 0 }, { remaining: 96 }]
    expect(await limiter.peek('k')).toMatchObject({ reason: 'blocked', limits })
    expect(await limiter.check('k')).toMatchObject({ reason: 'blocked', limits })
    await limiter.unblock('k')
    expect(await limiter.peek('k')).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 6 }, { remaining: 96 }] })
    const algorithms = readFileSync(new URL('../../../../docs/algorithms/README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
    expect(algorithms).toContain('`check` and `peek` report `remaining: 0` for the blocked limit')
  })

  it('outlives a reset, is lifted by unblock, and replaced by a later one', async () => {
    const { limiter } = limiterOf()
    await limiter.block('k', 60_000)
    await limiter.reset('k')
    expect(await limiter.peek('k')).toMatchObject({ outcome: 'denied', reason: 'blocked' })
    await limiter.block('k', 5_000)
    expect(await limiter.peek('k')).toMatchObject({ retryAfterMs: 5_000 })
    await limiter.unblock('k')
    expect(await limiter.peek('k')).toMatchObject({ outcome: 'allowed' })
    await limiter.unblock('never blocked')
  })

  it('is lifted from whichever limit has it, as after a deploy that lists another limit first', async () => {
    const store = memoryStore()
    const [minute, second] = [tokenBucket({ rate: '100/min', burst: 100 }), tokenBucket({ rate: '10/s', burst: 10 })]
    await createLimiter({ name: 'api', limits: { minute }, store }).block('k', '1d')
    const deployed = createLimiter({ name: 'api', limits: { second, minute }, store })
    expect(await deployed.check('k')).toMatchObject({ reason: 'blocked' })
    await deployed.unblock('k')
    expect(await deployed.check('k')).toMatchObject({ outcome: 'allowed' })
  })

  it('waits for the longer of block and limit, and a cost above the capacity stays impossible', async () => {
    const { limiter } = limiterOf()
    await limiter.check('k', { cost: 10 })
    await limiter.block('k', '50ms')
    expect(await limiter.peek('k', { cost: 5 })).toMatchObject({ outcome: 'denied', retryAfterMs: 500 })
    expect(await limiter.peek('k', { cost: 101 })).toMatchObject({ outcome: 'impossible', reason: 'capacity' })
  })

  it('refuses a duration that is not one, and a full store says so', async () => {
    const { limiter } = limiterOf()
    for (const duration of [0, -1, Number.NaN, '5', '1 fortnight']) await expect(limiter.block('k', duration)).rejects.toThrow(LimiterError)
    const full = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 1 }), store: memoryStore({ maxKeys: 1 }) })
    await full.check('a')
    await expect(full.block('b', 1_000)).rejects.toMatchObject({ name: 'StoreFailure', kind: 'memory', executed: 'no' })
  })
})

describe('a store that lacks a kind of change', () => {
  const limit = tokenBucket({ rate: '1/s', burst: 1 })
  const lacking = (changes: readonly Change['kind'][]): Store => {
    const memory = memoryStore()
    return { ...memory, name: 'plain', capabilities: { ...memory.capabilities, changes } }
  }

  it('is named, and nothing happens', async () => {
    const limiter = createLimiter({ limit, store: lacking([]) })
    const calls = [limiter.refund('k'), limiter.penalize('k'), limiter.block('k', 1_000), limiter.unblock('k'), limiter.reset('k')]
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining('plain') })
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed' })
  })

  it('makes the others', async () => {
    const limiter = createLimiter({ limit, store: lacking(['reset']) })
    await limiter.check('k')
    await limiter.reset('k')
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed' })
    await expect(limiter.refund('k')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })
})

describe('a change that fails', () => {
  const limits = { one: tokenBucket({ rate: '1/s', burst: 1 }), other: tokenBucket({ rate: '1/s', burst: 2 }) }

  it('rejects with the first failure, also where others were made', async () => {
    const [first, second] = [new StoreFailure('connection', 'no', 'first'), new StoreFailure('timeout', 'unknown', 'second')]
    const limiterOver = (results: readonly ChangeResult[]) =>
      createLimiter({ limits, store: remoteMemory(memoryStore(), { change: async () => results }) })
    await expect(limiterOver([{ failure: first }, { failure: second }]).refund('k')).rejects.toBe(first)
    await expect(limiterOver([{}, { failure: second }]).reset('k')).rejects.toBe(second)
    await limiterOver([{}, {}]).reset('k')
    await expect(createLimiter({ limits, store: failingStore() }).penalize('k')).rejects.toMatchObject({ kind: 'connection' })
  })

  it.each([
    ['too few results', [{}]],
    ['nothing', undefined],
    ['no list', {}],
    ['no results', [null, null]],
  ])('rejects for a store that returns %s', async (_, results) => {
    const limiter = createLimiter({ limits, store: remoteMemory(memoryStore(), { change: async () => results as never }) })
    for (const call of [limiter.refund('k'), limiter.reset('k')])
      await expect(call).rejects.toMatchObject({ name: 'StoreFailure', kind: 'protocol', executed: 'unknown' })
  })
})
