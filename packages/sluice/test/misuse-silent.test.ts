import { describe, expect, it } from 'vitest'
import { createGate } from '../src/http.ts'
import { createLimiter, memoryStore, tokenBucket } from '../src/index.ts'
import { createEngine, parsePolicy } from '../src/policy.ts'
import { withDividedLimit } from '../src/remote.ts'
import { reader } from './misuse-values.ts'
import { failingStore } from './remote-memory.ts'

const any = (value: unknown): never => value as never
const limit = tokenBucket({ rate: '1/h', burst: 20 })
const policy = parsePolicy(`version: 1
rules:
  - { name: a, key: ["header:x"], rate: 1/h, burst: 20, cost: { from: header:w, default: 1, max: 9 } }
  - { name: c, key: ["cookie:sid"], rate: 1/h, burst: 20 }
`)
const facts = { method: 'GET', path: '/', headers: {} }
const refusal = (message: string) => ({ name: 'LimiterError', code: 'INVALID_OPTIONS', message: expect.stringContaining(message) })

class Options {
  readonly cost = 5
}
/** As a program has them where nothing was chosen. */
class Unchosen {
  declare readonly cost?: number
}

const NOT_OPTIONS: readonly (readonly [string, unknown])[] = [
  ['a list', []],
  ['a Map', new Map([['cost', 5]])],
  ['a Set', new Set(['cost'])],
  ['a promise of options', Promise.resolve({ cost: 5 })],
]

describe('U3: options that have no fields to be seen are refused, and nothing is charged', () => {
  it.each(NOT_OPTIONS)('%s', async (_what, given) => {
    const limiter = createLimiter({ limit })
    const engine = createEngine({ policy, store: memoryStore() })
    const calls: (() => unknown)[] = [
      ...(['check', 'checkSync', 'peek', 'refund', 'penalize'] as const).map((verb) => async () => limiter[verb]('k', any(given))),
      () => limiter.checkMany([{ key: 'k' }], any(given)),
      ...(['decide', 'peek'] as const).map((verb) => () => engine[verb](facts, any(given))),
      () => engine.decideKey({ key: 'k' }, any(given)),
      () => engine.decideMany([facts], any(given)),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject(refusal('options are '))
    expect((await limiter.peek('k')).limits[0]?.remaining).toBe(20)
  })

  it('an instance of a class with fields, or with none chosen, stays allowed', async () => {
    const limiter = createLimiter({ limit })
    expect((await limiter.check('k', new Options())).limits[0]?.remaining).toBe(15)
    expect((await limiter.check('k', new Unchosen())).limits[0]?.remaining).toBe(14)
    expect((await limiter.check('k', Object.create(null))).limits[0]?.remaining).toBe(13)
  })
})

describe('U3: a header that is read and no text is refused, not lost', () => {
  it.each([
    ['a cost as a number', { x: 'k', w: 2 }, 'facts: headers["w"] is 2, expected a text or a list of texts'],
    ['a key as a number', { x: 5 }, 'headers["x"] is 5'],
    ['a key as a truth value', { x: true }, 'headers["x"] is true'],
    ['a list with a number', { x: ['a', 5] }, 'headers["x"] is ["a",5]'],
    ['cookies by name', { x: 'k', cookie: { sid: 'a' } }, 'headers["cookie"] is {"sid":"a"}'],
    ['a host as an object', { x: 'k', host: {} }, 'headers["host"] is {}'],
  ])('%s', async (_what, headers, message) => {
    const engine = createEngine({ policy, store: memoryStore() })
    for (const verb of ['decide', 'peek', 'explain'] as const)
      await expect(engine[verb]({ ...facts, headers: any(headers) })).rejects.toMatchObject(refusal(message))
    await expect(engine.decideMany([facts, { ...facts, headers: any(headers) }])).rejects.toMatchObject(refusal(`request 1: `))
    expect((await engine.peek(facts)).limits.map(({ remaining }) => remaining)).toEqual([20, 20])
  })

  it('null counts as absent, and what no rule reads is ignored', async () => {
    const engine = createEngine({ policy, store: memoryStore() })
    const headers = any({ x: null, w: undefined, 'content-length': 5 })
    expect((await engine.decide({ ...facts, headers })).limits.map(({ remaining }) => remaining)).toEqual([19, 19])
  })
})

describe('U3: claims that were not awaited are refused', () => {
  it.each([
    ['a promise', () => Promise.resolve({ sub: 'a' })],
    ['a promise that fails', () => Promise.reject(new Error('no token'))],
  ])('%s', async (_what, claimsOf) => {
    const engine = createEngine({ policy, store: memoryStore() })
    const claims = claimsOf()
    claims.catch(() => {})
    for (const call of [
      () => engine.decide({ ...facts, claims: any(claims) }),
      () => engine.decideMany([{ ...facts, claims: any(claims) }]),
    ])
      await expect(call()).rejects.toMatchObject(
        refusal('facts: claims is an object of the class Promise, expected an object of claims, not a promise'),
      )
  })
})

describe('what a token verifier returned counts only if it is an object of claims', () => {
  const byPlan = parsePolicy(`version: 1
jwt: { verified: upstream }
rules: [{ name: a, key: ["jwt:length"], rate: 1/h, burst: 20 }]`)

  it.each(['a text', ['a'], 5, true, () => {}])('%j', async (found) => {
    const engine = createEngine({ policy: byPlan, store: memoryStore(), claims: any(() => found) })
    expect((await engine.explain(facts)).rules[0]?.key).toEqual([{ source: 'jwt:length', value: null }])
  })
})

describe('U3: policy.boundOf refuses what is no rule and no kind of store', () => {
  it.each([undefined, null, 5, 'a', {}, []])('rule %j', (rule) => {
    expect(() => policy.boundOf(any(rule), 'shared')).toThrow(expect.objectContaining(refusal('boundOf: rule is ')))
  })

  it.each([undefined, null, 5, 'memory', {}])('kind %j', (kind) => {
    expect(() => policy.boundOf(any(policy.rules[0]), any(kind))).toThrow(expect.objectContaining(refusal('expected process or shared')))
  })
})

describe('U3: a count of processes that is not one makes decisions undecided, and throws nothing', () => {
  it.each([
    ['a bigint', () => 10n],
    ['a symbol', () => Symbol('n')],
    ['a text', () => '4'],
    ['a truth value', () => true],
    ['nothing', () => undefined],
    ['a promise', () => Promise.resolve(4)],
    ['a part of a process', () => 1.9],
    ['zero', () => 0],
    [
      'an error',
      () => {
        throw new Error('no members')
      },
    ],
  ])('%s', async (_what, nodes) => {
    const limiter = createLimiter({ limit, store: withDividedLimit(memoryStore(), any(nodes)) })
    for (const verb of ['check', 'checkSync', 'peek'] as const)
      expect(await limiter[verb]('k')).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'unavailable' } })
    const local = withDividedLimit(memoryStore(), any(nodes))
    const behind = createLimiter({ limit, store: failingStore(), onStoreFailure: local })
    expect(await behind.check('k')).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'unavailable' } })
    await limiter.refund('k')
  })

  it.each([10n, '4', true, 1.5, 0])('a number of processes that is not one is refused at once: %s', (nodes) => {
    expect(() => withDividedLimit(memoryStore(), any(nodes))).toThrow(expect.objectContaining(refusal('withDividedLimit: nodes is ')))
  })
})

describe('U3: only true skips', () => {
  it.each(['false', 'true', 1, 0, '', null, {}])('%j is an error, at once and later', async (value) => {
    const limiter = createLimiter({ limit })
    for (const skip of [() => value, () => Promise.resolve(value)]) {
      const gate = createGate({ limiter, skip: any(skip), key: () => 'k' }, any(reader))
      const check = async (): Promise<unknown> => gate.check(any({}), undefined)
      await expect(check()).rejects.toMatchObject(refusal('rateLimit: what skip returned is '))
    }
    expect((await limiter.peek('k')).limits[0]?.remaining).toBe(20)
  })

  it.each([false, undefined])('%j skips nothing', async (value) => {
    const gate = createGate({ limiter: createLimiter({ limit }), skip: any(() => value), key: () => 'k' }, any(reader))
    expect((await gate.check(any({}), undefined)).decision?.limits[0]?.remaining).toBe(19)
  })
})
