import { fastify } from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { rateLimitPlugin } from '../../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { createGate, type RequestReader } from '../../src/http/gate.ts'
import type { Decider } from '../../src/http/gate-options.ts'
import { concurrency, createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { StoreFailure } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { key, left, tenTokens } from './counted.ts'

const reader: RequestReader<object> = { method: () => 'GET', target: () => '/', headers: () => ({}) }

describe('counting by the response', () => {
  it.each([
    ['success', 399, 6],
    ['success', 400, 10],
    ['failure', 399, 10],
    ['failure', 400, 6],
  ] as const)('countWhen: %s with the status %i leaves %i', async (countWhen, status, remaining) => {
    const limiter = tenTokens()
    const { settle } = await createGate({ limiter, key, cost: 4, countWhen }, reader).check({}, undefined)
    settle?.({ status, response: {}, whole: true })
    expect(await left(limiter)).toBe(remaining)
  })

  it('actualCost may be 0, a part of a token, or nothing; the reservation has only the options that were passed', async () => {
    const limiter = tenTokens()
    const reserve = vi.fn<typeof limiter.reserve>(limiter.reserve)
    for (const [used, remaining] of [
      [0, 10],
      [0.5, 9],
      [undefined, 8],
    ] as const) {
      const { settle } = await createGate({ limiter: { ...limiter, reserve }, key, actualCost: () => used }, reader).check({}, undefined)
      settle?.({ status: 200, response: {}, whole: true })
      expect(await left(limiter)).toBe(remaining)
    }
    expect(Object.keys(reserve.mock.calls[0]?.[1] ?? {})).toEqual([])
  })

  it('actualCost is not called for a response that does not count; undefined leaves what was reserved', async () => {
    const limiter = tenTokens()
    const actualCost = vi.fn<() => undefined>()
    const gate = createGate({ limiter, key, cost: 4, countWhen: (response: number) => response > 1, actualCost }, reader)
    const settled = async (response: number): Promise<number | undefined> => {
      const { settle } = await gate.check({}, undefined)
      settle?.({ status: 200, response, whole: true })
      return left(limiter)
    }
    expect([await settled(1), actualCost.mock.calls.length]).toEqual([10, 0])
    expect([await settled(2), actualCost.mock.calls]).toEqual([6, [[2, {}]]])
  })

  it('has no effect when the hold has ended, which is holdMs after the charge', async () => {
    const clock = manualClock()
    const limiter = tenTokens(clock)
    const settle = async (holdMs: object, micros: number): Promise<void> => {
      const passage = await createGate({ limiter, key, countWhen: 'failure', ...holdMs }, reader).check({}, undefined)
      clock.advance(micros)
      passage.settle?.({ status: 200, response: {}, whole: true })
      await left(limiter)
    }
    const remaining = await left(limiter)
    await settle({}, 59_000)
    expect(await left(limiter)).toBe(remaining)
    await settle({}, 61_000)
    expect(await left(limiter)).toBe(9)
    await settle({ holdMs: 100_000 }, 99_000)
    expect(await left(limiter)).toBe(9)
  })

  it('a store that fails, a limiter that is closed, and an onWarning that throws crash nothing', async () => {
    const memory = memoryStore({ clock: manualClock() })
    let fails = false
    const change: typeof memory.change = (changes, options) =>
      fails ? Promise.reject(new StoreFailure('unavailable', 'no', 'gone')) : memory.change(changes, options)
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 10 }), store: { ...memory, change } })
    const onWarning = vi.fn<(message: string) => void>(() => {
      throw new Error('of onWarning')
    })
    const settled = async (options: object): Promise<number | undefined> => {
      const { settle } = await createGate({ limiter, key, onWarning, ...options }, reader).check({}, undefined)
      settle?.({ status: 200, response: {}, whole: true })
      return left(limiter)
    }
    expect([await settled({ countWhen: () => 1 }), onWarning.mock.calls.length]).toEqual([9, 1])
    fails = true
    expect([await settled({ countWhen: 'failure' }), onWarning.mock.calls.length]).toEqual([8, 1])
    const { settle } = await createGate({ limiter, key, onWarning, countWhen: 'failure' }, reader).check({}, undefined)
    await limiter.close()
    settle?.({ status: 200, response: {}, whole: true })
    await new Promise((resolve) => setImmediate(resolve))
    expect(onWarning).toHaveBeenCalledTimes(1)
  })

  it('warns on the console for the first failure only', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined)
    onTestFinished(() => warn.mockRestore())
    const limiter = tenTokens()
    const gate = createGate({ limiter, key, countWhen: () => Promise.reject('no error') }, reader)
    for (let turn = 0; turn < 2; turn += 1) (await gate.check({}, undefined)).settle?.({ status: 200, response: {}, whole: true })
    expect(await left(limiter)).toBe(8)
    expect(warn.mock.calls).toEqual([
      ['sluice: NOT_SETTLED: rateLimit: countWhen failed with "no error"; what the request has reserved stays charged'],
    ])
  })

  it('holds slots of a concurrency limit until the response has ended', async () => {
    const limiter = createLimiter({
      limits: { rate: tokenBucket({ rate: '1/day', burst: 10 }), atOnce: concurrency({ limit: 1, holdMs: 60_000 }) },
      clock: manualClock(),
    })
    const remaining = async (): Promise<readonly number[]> => (await limiter.peek('k')).limits.map((each) => each.remaining)
    const begun = fetchLimit({ limiter, key, countWhen: 'failure' }).wrap(() => new Response('all'))
    const first = await begun(new Request('http://localhost/'))
    expect(await remaining()).toEqual([9, 0])
    expect((await begun(new Request('http://localhost/'))).status).toBe(429)
    expect(await first.text()).toBe('all')
    await expect.poll(remaining, { interval: 2 }).toEqual([10, 1])
  })

  it('a hold is not open any longer when its response has counted, or its function has failed', async () => {
    const onWarning = (): never => {
      throw new Error('of onWarning')
    }
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 10 }), maxHolds: 1, clock: manualClock() })
    for (const countWhen of ['success', 'success', () => 'no' as never, 'failure', 'success'] as const) {
      const { decision, settle } = await createGate({ limiter, key, countWhen, onWarning }, reader).check({}, undefined)
      expect(decision).toMatchObject({ outcome: 'allowed' })
      settle?.({ status: 200, response: {}, whole: true })
      await left(limiter)
    }
    expect(await left(limiter)).toBe(6)
  })

  it('settles the limit that the option limit has chosen', async () => {
    const limiter = tenTokens()
    const large = tokenBucket({ rate: '1/day', burst: 100 })
    const gate = createGate({ limiter, key, limit: () => large, cost: 50, actualCost: () => 5 }, reader)
    const { settle, decision } = await gate.check({}, undefined)
    expect(decision?.limits[0]).toMatchObject({ limit: 100 })
    const before = (await limiter.withLimit(large).peek('k')).limits[0]?.remaining
    settle?.({ status: 200, response: {}, whole: true })
    await left(limiter)
    expect((await limiter.withLimit(large).peek('k')).limits[0]?.remaining).toBe((before ?? 0) + 45)
  })
})

describe('counting by the response, of a policy', () => {
  const policy = parsePolicy(`version: 1
rules:
  - { name: rate, key: [header:x-user], rate: 1/day, burst: 3 }
  - { name: at-once, key: [], algorithm: concurrency, limit: 2, hold: 60s }
`)
  const clock = manualClock()
  const engineOf = () => createEngine({ policy, store: memoryStore({ clock }), clock })
  const request = { method: 'GET', path: '/', headers: { 'x-user': 'ada' } }
  const ofUser: RequestReader<object> = { ...reader, headers: () => request.headers }

  it('reserves by the rules, gives back tokens and slots, and answers denials', async () => {
    const engine = engineOf()
    const free = async (): Promise<unknown> => {
      const { limits } = await engine.peek(request)
      return ['rate', 'at-once'].map((name) => limits.find((each) => each.name === name)?.remaining)
    }
    const gate = createGate({ engine, countWhen: 'failure', holdMs: 5_000 }, ofUser)
    const end = async (status: number, passage: Awaited<ReturnType<typeof gate.check>>): Promise<unknown> => {
      passage.settle?.({ status, response: {}, whole: true })
      await new Promise((resolve) => setImmediate(resolve))
      return free()
    }
    const first = await gate.check({}, undefined)
    const second = await gate.check({}, undefined)
    expect(await free()).toEqual([1, 0])
    const denied = await gate.check({}, undefined)
    expect([denied.answer?.problem.status, denied.decision?.reason, denied.settle]).toEqual([429, 'concurrency', undefined])
    expect(await end(200, first)).toEqual([2, 1])
    expect(await end(401, second)).toEqual([2, 2])
    const broken = createGate({ engine, countWhen: () => 'no' as never, onWarning: () => {} }, ofUser)
    expect(await end(200, await broken.check({}, undefined))).toEqual([1, 2])
  })

  it('is refused by name for an engine that does not reserve, and what such an engine gives is checked', async () => {
    const decide: Decider['decide'] = () => Promise.reject(new Error('never'))
    expect(() => createGate({ engine: { decide }, actualCost: () => 1 }, reader)).toThrow(
      'engine is {}, expected an engine that reserves, with actualCost',
    )
    expect(() => createGate({ limiter: { check() {} }, countWhen: 'failure' } as object, reader)).toThrow('with countWhen')
    const wrong = { decide, reserve: async () => undefined as never, settle: async () => {} }
    await expect(createGate({ engine: wrong, countWhen: 'failure' }, reader).check({}, undefined)).rejects.toThrow(
      'the decision of what engine.reserve returned is undefined',
    )
  })
})

describe('counting by the response, of a route', () => {
  it('the options of a route replace those that would contradict them', async () => {
    const limiter = tenTokens()
    const app = fastify()
    onTestFinished(() => app.close())
    await app.register(rateLimitPlugin, { limiter, key, onDenied: 'wait', maxWaitMs: 5 })
    app.get('/counts', { config: { rateLimit: { countWhen: 'failure', holdMs: 5_000 } } }, async () => 'hello')
    await app.register(async (scope) => {
      await scope.register(rateLimitPlugin, { limiter, key, countWhen: 'failure', holdMs: 5_000 })
      scope.get('/waits', { config: { rateLimit: { limiter, onDenied: 'wait' } } }, async () => 'hello')
      scope.get('/plain', { config: { rateLimit: { limiter, countWhen: undefined } as object } }, async () => 'hello')
    })
    const remaining = async (url: string): Promise<number | undefined> => {
      expect((await app.inject(url)).statusCode).toBe(200)
      return left(limiter)
    }
    expect([await remaining('/counts'), await remaining('/waits'), await remaining('/plain')]).toEqual([10, 9, 8])
  })
})
