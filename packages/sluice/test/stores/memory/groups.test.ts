import { describe, expect, it } from 'vitest'
import { holdRecord, RECORD_COST } from '../../../src/algorithms/hold-record.ts'
import { concurrency, createLimiter, memoryStore, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { manualClock } from '../../../src/time/manual.ts'

const clock = manualClock()
const limit = tokenBucket({ rate: '1/h', burst: 10 })
const scope = { text: 'g:' }
const call = (key: string, cost = 1_000_000) => ({ id: { scope, key }, limit, cost, phase: 0 })

describe('groups of the memory store', () => {
  it('of many calls see the same state twice, as groups of few do', () => {
    for (const others of [1, 20]) {
      const store = memoryStore({ clock })
      const calls = [
        call('same', 6_000_000),
        ...Array.from({ length: others }, (_, index) => call(`other${index}`)),
        call('same', 4_000_000),
      ]
      expect(store.decideNow({ calls }).outcome).toBe('allowed')
      expect(store.decideNow({ calls: [call('same')] }).outcome).toBe('denied')
      expect(memoryStore({ clock }).decideNow({ calls: [...calls, call('same')] }).outcome).toBe('impossible')
    }
  })

  it('peeked at one after the other find no more room than there is', async () => {
    const store = memoryStore({ maxKeys: 2, clock })
    const groups = ['a', 'b', 'a', 'c'].map((key) => ({ calls: [call(key)] }))
    const full = { failure: expect.objectContaining({ kind: 'memory', executed: 'no' }) }
    for (const charge of [false, true]) {
      const verdicts = await store.decide(groups, { charge })
      expect(verdicts.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'allowed', undefined])
      expect(verdicts[3]).toEqual(full)
    }
    expect(store.decideNow({ calls: [call('c')] })).toEqual(full)
  })

  it.each([
    ['entries of logs', slidingWindowLog({ limit: 10, window: '1h' }), 64],
    ['slots', concurrency({ limit: 10, holdMs: 60_000 }), 200],
  ])('peeked at find no more bytes for %s than there are', async (_, limited, maxBytes) => {
    const limiter = createLimiter({ limit: limited, store: memoryStore({ maxBytes, clock }), clock })
    const outcomes: string[] = []
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const { outcome, degraded } = await limiter.peek(key)
      expect(await limiter.check(key)).toMatchObject(degraded === undefined ? { outcome } : { outcome, degraded })
      outcomes.push(outcome)
    }
    expect(new Set(outcomes)).toEqual(new Set(['allowed', 'undecided']))
  })

  it('peeked at with the record of a hold find no more room for records than there is', async () => {
    const store = memoryStore({ maxHolds: 1, clock })
    const record = holdRecord({ micros: 60_000_000, final: false, parts: [] })
    for (const key of ['a', 'b']) {
      const group = { calls: [call(key), { id: { scope: { text: 'h:' }, key }, limit: record, cost: RECORD_COST, phase: 0 }] }
      const expected = key === 'a' ? { outcome: 'allowed' } : { failure: { kind: 'memory' } }
      for (const charge of [false, true]) expect(await store.decide([group], { charge })).toMatchObject([expected])
    }
  })

  it('of two limits that overflow keep the shared states of both', () => {
    const time = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock: time })
    const [one, two] = ['one', 'two'].map((name) =>
      createLimiter({ name, limit: tokenBucket({ rate: '1/s', burst: 2 }), store, clock: time }),
    )
    one?.checkSync('first', { cost: 2 })
    expect(one?.checkSync('x')).toMatchObject({ outcome: 'denied', retryAfterMs: 1_000 })
    time.advance(600)
    expect(two?.checkSync('x')).toMatchObject({ outcome: 'denied', retryAfterMs: 1_000 })
    expect(one?.checkSync('x')).toMatchObject({ outcome: 'denied', retryAfterMs: 400 })
  })
})

describe('a log that was refunded', () => {
  it('makes room as soon as what is left of it is spent', async () => {
    const time = manualClock()
    const store = memoryStore({ maxKeys: 1, clock: time })
    const limiter = createLimiter({ limit: slidingWindowLog({ limit: 10, window: '10s' }), store, clock: time })
    limiter.checkSync('a', { cost: 3 })
    time.advance(5_000)
    limiter.checkSync('a', { cost: 2 })
    await limiter.refund('a', { cost: 2 })
    time.advance(4_999)
    expect(limiter.checkSync('b').outcome).toBe('undecided')
    time.advance(1)
    expect(limiter.checkSync('b').outcome).toBe('allowed')
  })
})
