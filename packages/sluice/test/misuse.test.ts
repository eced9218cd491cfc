import { describe, expect, it } from 'vitest'
import { rateLimit } from '../src/adapters/express.ts'
import { createLimiter, fixedWindow, memoryStore, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { prometheusMetrics } from '../src/observe.ts'
import { throttleFunction, throttleIterable } from '../src/pacing.ts'
import { createEngine, parsePolicy, trustProxies } from '../src/policy.ts'
import { remoteStore } from '../src/remote.ts'
import { pg, pglite, postgresJs, barePostgresStore } from '../src/stores/postgres/index.ts'
import { ioredis, bareRedisStore } from '../src/stores/redis/index.ts'

/** As a program without types calls it. */
const any = (value: unknown): never => value as never
const limit = tokenBucket({ rate: '10/s', burst: 20 })
const limiter = createLimiter({ limit })
const policy = parsePolicy('version: 1\nrules: [{ name: a, key: [], rate: 1/s, burst: 9 }]')
const engine = createEngine({ policy, store: memoryStore() })
const port = { evalsha: async () => null, eval: async () => null }
/** As pg, PGlite and postgres.js make theirs. */
const pool = { query: async () => ({ rows: [] }), connect: async () => ({}), end: async () => {} }
const sql = Object.assign(() => {}, { unsafe: () => {}, options: { max: 1 } })

const BUILT: readonly (readonly [string, () => unknown, string, string])[] = [
  [
    'barePostgresStore({ client: pool })',
    () => barePostgresStore({ client: any(pool) }),
    'INVALID_OPTIONS',
    'postgresStore: client is a client as its library makes it, expected what pg(pool), postgresJs(sql) or pglite(database) returns',
  ],
  [
    'barePostgresStore({ client: sql })',
    () => barePostgresStore({ client: any(sql) }),
    'INVALID_OPTIONS',
    'client is a client as its library makes it',
  ],
  [
    'barePostgresStore({ client: url })',
    () => barePostgresStore({ client: any('postgres://a') }),
    'INVALID_OPTIONS',
    'postgresStore: client is postgres://a'.replace('postgres://a', '"postgres://a"'),
  ],
  [
    'barePostgresStore({ pool })',
    () => barePostgresStore(any({ pool })),
    'INVALID_OPTIONS',
    'postgresStore: unknown option pool; known are client, table',
  ],
  [
    'barePostgresStore()',
    () => barePostgresStore(any(undefined)),
    'INVALID_OPTIONS',
    'postgresStore: options are undefined, expected an object with client, table',
  ],
  ['pg(url)', () => pg(any('postgres://a')), 'INVALID_OPTIONS', 'pg: expected a pool or client of pg, but it has no method query'],
  ['pglite(pool)', () => pglite(any(pool)), 'INVALID_OPTIONS', 'pglite: expected a database of PGlite, but it has no method exec'],
  [
    'postgresJs(pool)',
    () => postgresJs(any(pool)),
    'INVALID_OPTIONS',
    'postgresJs: expected a client of postgres (postgres.js), but it has no method unsafe',
  ],
  [
    'bareRedisStore({ redis })',
    () => bareRedisStore(any({ redis: {} })),
    'INVALID_OPTIONS',
    'redisStore: unknown option redis; known are client, prefix',
  ],
  [
    'bareRedisStore({ client, maxnewkeys })',
    () => bareRedisStore(any({ client: port, maxnewkeys: 5 })),
    'INVALID_OPTIONS',
    'redisStore: unknown option maxnewkeys',
  ],
  [
    'bareRedisStore({ client: url })',
    () => bareRedisStore(any({ client: 'redis://a' })),
    'INVALID_OPTIONS',
    'redisStore: client is "redis://a", expected what ioredis(client)',
  ],
  [
    'bareRedisStore()',
    () => bareRedisStore(any(undefined)),
    'INVALID_OPTIONS',
    'redisStore: options are undefined, expected an object with client',
  ],
  [
    'bareRedisStore({ packing: { hashes } })',
    () => bareRedisStore(any({ client: port, layout: 'packed', packing: { hashes: 4 } })),
    'INVALID_OPTIONS',
    'redisStore: packing: unknown option hashes; known are keys, secret',
  ],
  ['ioredis(undefined)', () => ioredis(any(undefined)), 'INVALID_OPTIONS', 'ioredis: expected a client of ioredis'],
  [
    'rateLimit({ trustedProxies: true })',
    () => rateLimit({ limiter, trustedProxies: any(true) }),
    'INVALID_OPTIONS',
    "rateLimit: trustedProxies is true, expected a list of addresses and networks, such as ['loopback', '10.0.0.0/8']",
  ],
  [
    'rateLimit({ trustedProxies: 1 })',
    () => rateLimit({ limiter, trustedProxies: any(1) }),
    'INVALID_OPTIONS',
    'never trusted by a number of hops',
  ],
  [
    "rateLimit({ trustedProxies: 'loopback' })",
    () => rateLimit({ limiter, trustedProxies: any('loopback') }),
    'INVALID_OPTIONS',
    'rateLimit: trustedProxies is "loopback"',
  ],
  [
    'createEngine({ trustedProxies: true })',
    () => createEngine({ policy, store: memoryStore(), trustedProxies: any(true) }),
    'INVALID_OPTIONS',
    'createEngine: trustedProxies is true',
  ],
  ['trustProxies(true)', () => trustProxies(any(true)), 'INVALID_OPTIONS', 'trustProxies is true'],
  [
    "throttleFunction(fn, '10/s')",
    () => throttleFunction(() => 1, any('10/s')),
    'INVALID_OPTIONS',
    'throttleFunction: limit is "10/s", expected a limit, such as tokenBucket(',
  ],
  [
    'throttleFunction(undefined, limit)',
    () => throttleFunction(any(undefined), limit),
    'INVALID_OPTIONS',
    'throttleFunction: fn is undefined, expected a function',
  ],
  ['throttleFunction(fn, limit, 5)', () => throttleFunction(() => 1, limit, any(5)), 'INVALID_OPTIONS', 'throttleFunction: options are 5'],
  ["throttleIterable([], '10/s')", () => throttleIterable([], any('10/s')), 'INVALID_OPTIONS', 'throttleIterable: limit is "10/s"'],
  [
    'throttleIterable(5, limit)',
    () => throttleIterable(any(5), limit),
    'INVALID_OPTIONS',
    'throttleIterable: items are 5, expected an iterable',
  ],
  [
    'tokenBucket()',
    () => tokenBucket(any(undefined)),
    'INVALID_OPTIONS',
    'tokenBucket: options are undefined, expected an object with rate, burst',
  ],
  ["tokenBucket('10/s')", () => tokenBucket(any('10/s')), 'INVALID_OPTIONS', 'tokenBucket: options are "10/s"'],
  ['tokenBucket({ rate: null })', () => tokenBucket({ rate: any(null), burst: 1 }), 'INVALID_RATE', 'null is not a rate'],
  [
    'tokenBucket({ burst: NaN })',
    () => tokenBucket({ rate: '1/s', burst: Number.NaN }),
    'INVALID_BURST',
    'NaN is not a burst: expected tokens above 0',
  ],
  ['tokenBucket({ burst: 5n })', () => tokenBucket({ rate: '1/s', burst: any(5n) }), 'INVALID_BURST', '5 is not a burst'],
  [
    'tokenBucket({ per: 60 })',
    () => tokenBucket({ rate: { tokens: 10, per: 60 }, burst: 1 }),
    'INVALID_RATE',
    "60 has no unit: write '60s' for seconds or '60ms' for milliseconds",
  ],
  ['fixedWindow()', () => fixedWindow(any(undefined)), 'INVALID_OPTIONS', 'fixedWindow: options are undefined'],
  [
    'fixedWindow({ window: 60 })',
    () => fixedWindow({ limit: 1, window: 60 }),
    'INVALID_DURATION',
    "fixedWindow: window: 60 has no unit: write '60s' for seconds or '60ms' for milliseconds",
  ],
  [
    'fixedWindow({ limit: Infinity })',
    () => fixedWindow({ limit: Infinity, window: '1m' }),
    'INVALID_LIMIT',
    'fixedWindow: Infinity is not a limit',
  ],
  ['fixedWindow({ limit })', () => fixedWindow(any({ limit: 1 })), 'INVALID_DURATION', 'fixedWindow: window: undefined is not a duration'],
  [
    'fixedWindow({ ramp: 5 })',
    () => fixedWindow({ limit: 1, window: '1m', ramp: 5 }),
    'INVALID_DURATION',
    'fixedWindow: ramp: 5 has no unit',
  ],
  [
    'slidingWindowCounter({ window: 0.5 })',
    () => slidingWindowCounter({ limit: 1, window: 0.5 }),
    'INVALID_DURATION',
    'slidingWindowCounter: window: 0.5 has no unit',
  ],
  [
    'slidingWindowLog({ window: 999 })',
    () => slidingWindowLog({ limit: 1, window: 999 }),
    'INVALID_DURATION',
    'slidingWindowLog: window: 999 has no unit',
  ],
  [
    'createLimiter()',
    () => createLimiter(any(undefined)),
    'INVALID_OPTIONS',
    'createLimiter: options are undefined, expected an object with name, limit',
  ],
  ['createLimiter(limit)', () => createLimiter(any(limit)), 'INVALID_OPTIONS', 'createLimiter: unknown option algorithm'],
  ['createLimiter([])', () => createLimiter(any([])), 'INVALID_OPTIONS', 'createLimiter: options are []'],
  ['createEngine()', () => createEngine(any(undefined)), 'INVALID_OPTIONS', 'createEngine: options are undefined'],
  ['memoryStore(5)', () => memoryStore(any(5)), 'INVALID_OPTIONS', 'memoryStore: options are 5'],
  [
    'remoteStore(store, { batch })',
    () => remoteStore(memoryStore(), any({ batch: false })),
    'INVALID_OPTIONS',
    'remoteStore: unknown option batch; known are deadline, batching',
  ],
  [
    'createLimiter({ onStoreFailure: {} })',
    () => createLimiter({ limit, onStoreFailure: any({}) }),
    'INVALID_OPTIONS',
    'createLimiter: onStoreFailure is {}, expected allow, deny, local or a store in this process',
  ],
  [
    'createLimiter({ store }), a store without change',
    () => createLimiter({ limit, store: any({ ...memoryStore(), change: undefined }) }),
    'INVALID_OPTIONS',
    'expected a store, such as memoryStore()',
  ],
  [
    'prometheusMetrics({ reads })',
    () => prometheusMetrics(any({ reads: [] })),
    'INVALID_OPTIONS',
    'prometheusMetrics: unknown option reads',
  ],
  ['parsePolicy(text, { file })', () => parsePolicy('', any({ file: 'a' })), 'INVALID_OPTIONS', 'parsePolicy: unknown option file'],
]

const CALLS: readonly (readonly [string, () => Promise<unknown>, string])[] = [
  ["check('a', 5)", () => limiter.check('a', any(5)), 'limiter default: options are 5, expected an object with deadlineMs, signal, cost'],
  ["check('a', null)", () => limiter.check('a', any(null)), 'limiter default: options are null'],
  ["check('a', { costs: 5 })", () => limiter.check('a', any({ costs: 5 })), 'limiter default: unknown option costs; known are'],
  ["check('a', { toString })", () => limiter.check('a', any({ toString: 5 })), 'unknown option toString'],
  ["checkSync('a', 5)", async () => limiter.checkSync('a', any(5)), 'limiter default: options are 5, expected an object with cost'],
  ["checkSync('a', { costs: 5 })", async () => limiter.checkSync('a', any({ costs: 5 })), 'limiter default: unknown option costs'],
  ["peek('a', { costs: 5 })", () => limiter.peek('a', any({ costs: 5 })), 'unknown option costs'],
  ["refund('a', 5)", () => limiter.refund('a', any(5)), 'options are 5'],
  ["refund('a', { reciept })", () => limiter.refund('a', any({ reciept: 1 })), 'unknown option reciept'],
  ["penalize('a', { receipt })", () => limiter.penalize('a', any({ receipt: 1 })), 'unknown option receipt'],
  ["checkMany('a')", () => limiter.checkMany(any('a')), 'limiter default: requests are "a", expected a list of { key, cost }'],
  [
    "checkMany(['a'])",
    () => limiter.checkMany(any(['a'])),
    'limiter default: request 0: options are "a", expected an object with key, cost',
  ],
  [
    'checkMany([{ key, costs }])',
    () => limiter.checkMany(any([{ key: 'b' }, { key: 'a', costs: 5 }])),
    'limiter default: request 1: unknown option costs',
  ],
  ['checkMany([], { cost })', () => limiter.checkMany([], any({ cost: 5 })), 'limiter default: unknown option cost'],
  [
    'engine.decide(facts, { deadline })',
    () => engine.decide({ method: 'GET', path: '/', headers: {} }, any({ deadline: 5 })),
    'engine: unknown option deadline',
  ],
  [
    'engine.decideKey({ key, rule })',
    () => engine.decideKey(any({ key: 'a', rule: 'a' })),
    'engine: unknown option rule; known are key, limit, cost',
  ],
]

describe('U3: misuse is reported by code, place, value and what is allowed', () => {
  it.each(BUILT)('%s', (_, build, code, message) => {
    expect(build).toThrow(expect.objectContaining({ name: 'LimiterError', code, message: expect.stringContaining(message) }))
  })

  it.each(CALLS)('%s, and nothing is charged', async (_, call, message) => {
    await expect(call()).rejects.toMatchObject({ name: 'LimiterError', code: 'INVALID_OPTIONS', message: expect.stringContaining(message) })
    expect(await limiter.peek('a', { cost: 20 })).toMatchObject({ outcome: 'allowed' })
  })

  it('a block without a unit', async () => {
    await expect(limiter.block('a', 60)).rejects.toMatchObject({
      code: 'INVALID_DURATION',
      message: "limiter default: 60 has no unit: write '60s' for seconds or '60ms' for milliseconds",
    })
  })

  it('lengths of time keep both spellings: with a unit, and milliseconds from 1,000 on', () => {
    expect(fixedWindow({ limit: 1, window: '60ms' }).windowMs).toBe(60)
    expect(fixedWindow({ limit: 1, window: 1_000 }).windowMs).toBe(1_000)
    expect(fixedWindow({ limit: 1, window: 60_000 }).windowMs).toBe(60_000)
  })
})
