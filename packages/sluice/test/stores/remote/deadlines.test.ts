import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../../src/create-limiter.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { remoteStore } from '../../../src/stores/remote/remote-store.ts'
import { settle } from './held-store.ts'
import { call, gone, group, ringBench } from './ring-bench.ts'

describe('R4: an explicit deadline', () => {
  it('is hard on a silent store, from the first call on', async () => {
    const { ask, pass } = ringBench()
    const calls = [ask('a', { deadline: 20 }), ask('b', { deadline: 20, charge: false }), ask(['c', 'd'], { deadline: 33 })]
    await pass(40)
    expect(calls.map(({ outcomes, answeredAt }) => [outcomes, answeredAt])).toEqual([
      [['timeout unknown'], 21],
      [['timeout unknown'], 21],
      [['timeout unknown', 'timeout unknown'], 34],
    ])
    const next = ask('a', { deadline: 60 })
    await pass(22)
    expect([next.outcomes, next.answeredAt]).toEqual([['timeout unknown'], 61])
  })

  it('is what the store is given', async () => {
    const { ring, calls } = ringBench()
    const { signal } = new AbortController()
    void ring.decide([group('a')], { deadline: 7 })
    void ring.decide([group('a')], { deadline: 8, charge: false })
    void ring.change([{ kind: 'reset', id: call('a').id }], { deadline: 9, signal })
    await settle()
    expect(Object.fromEntries(calls.map(({ verb, options }) => [verb, options?.deadline]))).toEqual({ decide: 7, peek: 8, change: 9 })
  })

  it.each([20, '20ms'])('of the ring (%s) holds for calls without one, and cuts later ones', async (deadline) => {
    const { clock, ring, calls } = ringBench({ deadline, batching: false })
    clock.advance(1_000)
    void ring.decide([group('a')])
    void ring.decide([group('a')], { deadline: 1_050, stretch: true })
    void ring.decide([group('a')], { deadline: 1_005 })
    void ring.decide([group('a')], { deadline: 9_999 })
    void ring.change([{ kind: 'reset', id: call('a').id }])
    await settle()
    const seen = calls.map(({ verb, options }) => `${verb} ${options?.deadline}`)
    expect(seen.toSorted((a, b) => a.localeCompare(b))).toEqual(['change 1020', 'decide 1005', 'decide 1020', 'decide 1020', 'decide 1020'])
  })

  it('of the ring above one second is the deadline of a limiter that has none', async () => {
    const { ring, clock, pass } = ringBench({ deadline: '3s' })
    const limit = tokenBucket({ rate: '1/s', burst: 1 })
    let [answered, shorter] = [false, false]
    void createLimiter({ limit, store: ring, clock })
      .check('k')
      .then(() => (answered = true))
    void createLimiter({ limit, store: ring, clock, deadlineMs: 100 })
      .check('k')
      .then(() => (shorter = true))
    await pass(110)
    expect([answered, shorter]).toEqual([false, true])
    await pass(2_880)
    expect(answered).toBe(false)
    await pass(20)
    expect(answered).toBe(true)
  })

  it.each([0, -1, Number.NaN, 60_001, null, '61s', 'soon', '5'])('of the ring is not %s', (deadline) => {
    expect(() => remoteStore(memoryStore(), { deadline: deadline as number })).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^INVALID_(OPTIONS|DURATION)$/) as unknown,
        message: expect.stringContaining('remoteStore: deadline') as unknown,
      }),
    )
  })
})

describe('R4: a default deadline', () => {
  it.each([
    ['absent', undefined],
    ['marked as one', { deadline: 50, stretch: true }],
  ] as const)('(%s) may become one second after the first call, and not a moment more', async (_, options) => {
    const { ask, ring, calls, pass } = ringBench({ batching: false })
    const first = ask('a', options)
    await pass(400)
    const second = ask('b')
    void ring.decide([group('c')], { deadline: 5_000 })
    await settle()
    expect(calls.map(({ options: seen }) => seen?.deadline)).toEqual([1_000, 1_000, 5_000])
    await pass(605)
    expect([first, second].map(({ outcomes, answeredAt }) => [outcomes, answeredAt])).toEqual([
      [['timeout unknown'], 1_001],
      [['timeout unknown'], 1_001],
    ])
  })

  it.each([
    ['answer', undefined],
    ['failure', gone()],
  ])('may not after the first %s', async (_, failure) => {
    const { ask, ring, calls, clock } = ringBench({ batching: false })
    ask('a')
    await settle()
    clock.advance(100)
    if (failure === undefined) await calls[0]?.answer()
    else await calls[0]?.fail(failure)
    calls.length = 0
    clock.advance(50)
    await settle()
    calls.length = 0
    const now = clock.monotonic()
    ask('b')
    ask('c', { deadline: now + 30, stretch: true })
    void ring.change([{ kind: 'reset', id: call('a').id }])
    await settle()
    const seen = calls
      .filter(({ keys: [key], verb }) => key !== 'a' || verb === 'change')
      .map(({ keys: [key], options }) => [key, options?.deadline])
    expect(Object.fromEntries(seen)).toEqual({ a: now + 50, b: now + 50, c: now + 30 })
  })

  it('is extended on a silent store once only: the calls after it have fifty milliseconds', async () => {
    const { ask, pass, clock } = ringBench()
    ask('a')
    await pass(1_010)
    const next = ask('b')
    await pass(52)
    expect([next.outcomes, next.answeredAt]).toEqual([['timeout unknown'], 1_061])
    expect(clock.monotonic()).toBe(1_062)
  })
})
