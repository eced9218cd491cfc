import { describe, expect, it } from 'vitest'
import { rateLimit as express } from '../src/adapters/express.ts'
import { rateLimit as fastify } from '../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../src/adapters/fetch.ts'
import { rateLimit as node } from '../src/adapters/node.ts'
import { createLimiter, fixedWindow, memoryStore, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { prometheusMetrics } from '../src/observe.ts'
import { throttleFunction, throttleIterable } from '../src/pacing.ts'
import * as policies from '../src/policy.ts'
import { postgresStore } from '../src/postgres.ts'
import { DistributedRateLimiter, redisStore } from '../src/redis.ts'
import { bareRedisStore } from '../src/stores/redis/index.ts'
import { barePostgresStore } from '../src/stores/postgres/index.ts'
import * as remote from '../src/remote.ts'
import {
  type Build,
  VALUES,
  COUNT,
  MS,
  TEXT,
  NAME,
  FN,
  FLAG,
  LIST,
  OBJECT,
  NONE,
  COST,
  limit,
  limiter,
  near,
  far,
  raw,
  port,
  sql,
  source,
  policy,
  engine,
  facts,
  complaint,
} from './misuse-values.ts'

/** Place in messages, what is built from options, good ones, and of each option which values are right. */
const OPTIONS: readonly (readonly [string, Build, object, Readonly<Record<string, readonly string[]>>])[] = [
  [
    'createLimiter',
    createLimiter,
    { limit },
    { name: TEXT, store: NONE, clock: NONE, deadlineMs: MS, onStoreFailure: NONE, observers: LIST },
  ],
  ['createLimiter', createLimiter, {}, { limit: NONE, limits: NONE }],
  ['memoryStore', memoryStore, {}, { maxKeys: COUNT, maxBytes: COUNT, onFull: NONE, clock: NONE }],
  ['tokenBucket', tokenBucket, { rate: '1/s', burst: 2 }, { rate: NONE, burst: ['5', '0.5', '"10"'] }],
  ['fixedWindow', fixedWindow, { limit: 5, window: '1s' }, { limit: ['5', '0.5', '"10"'], window: NONE, align: NONE, ramp: NONE }],
  ['slidingWindowCounter', slidingWindowCounter, { limit: 5, window: '1s' }, { limit: ['5', '0.5', '"10"'], window: NONE }],
  ['slidingWindowLog', slidingWindowLog, { limit: 5, window: '1s' }, { limit: ['5', '"10"', '0.5'], window: NONE }],
  [
    'redisStore',
    bareRedisStore,
    { client: port },
    { client: NONE, prefix: TEXT, layout: NONE, packing: NONE, maxNewKeys: COUNT, onFull: NONE, maxInFlight: COUNT, clock: NONE },
  ],
  [
    'redisStore: packing',
    ((packing: never) => bareRedisStore({ client: port, layout: 'packed', packing })) as Build,
    {},
    { keys: COUNT, secret: TEXT },
  ],
  [
    'postgresStore',
    barePostgresStore,
    { client: sql },
    {
      client: NONE,
      table: ['"x"'],
      unlogged: FLAG,
      onContention: NONE,
      sweepEveryMs: ['0', '5', '0.5'],
      dialect: NONE,
      maxInFlight: COUNT,
      clock: NONE,
      random: FN,
    },
  ],
  ['redisStore', redisStore, { client: port }, { ring: OBJECT }],
  ['postgresStore', postgresStore, { client: sql }, { ring: OBJECT }],
  [
    'DistributedRateLimiter',
    ((options: never) => new DistributedRateLimiter(raw as never, options)) as Build,
    {},
    { failurePolicy: NONE, deadlineMs: MS },
  ],
  ...(
    [
      [remote.withBreaker, { failures: COUNT, windowMs: MS, probeMs: MS, deadlineMs: MS, clock: NONE, random: FN }],
      [remote.withCoalescing, { maxCalls: COUNT, maxQueued: COUNT, clock: NONE }],
      [remote.withDeniedCache, { maxDeniedMs: MS, maxDenials: COUNT, clock: NONE }],
      [remote.withLeases, { lifeMs: NONE, share: ['0.5'], afterCalls: COUNT, maxKeys: COUNT, clock: NONE, random: FN }],
      [remote.remoteStore, { deadline: MS, batching: OBJECT, breaker: OBJECT, denials: OBJECT, leases: OBJECT, clock: NONE, random: FN }],
    ] as const
  ).flatMap(([build, fields]) =>
    [far, near].map((store) => [build.name, ((options: never) => build(store, options)) as Build, {}, fields] as const),
  ),
  [
    'createEngine',
    policies.createEngine,
    { policy, store: near },
    {
      policy: NONE,
      store: NONE,
      clock: NONE,
      claims: FN,
      trustedProxies: LIST,
      observers: LIST,
      local: NONE,
      pseudonym: FN,
      hashKeys: FN,
      random: FN,
    },
  ],
  [
    'parsePolicy',
    ((options: never) => policies.parsePolicy(source, options)) as Build,
    {},
    { filename: TEXT, format: NONE, strict: FLAG, now: ['0', '5', '0.5', '-1'] },
  ],
  ...(['throttleFunction', 'throttleIterable'] as const).map(
    (name) =>
      [
        name,
        ((options: never) =>
          name === 'throttleFunction' ? throttleFunction(() => 1, limit, options) : throttleIterable([], limit, options)) as Build,
        {},
        { key: NAME, maxWaiting: COUNT, signal: NONE, clock: NONE },
      ] as const,
  ),
  ['prometheusMetrics', prometheusMetrics, {}, { read: LIST }],
  ...[node, express, fastify].map(
    (build) =>
      [
        'rateLimit',
        build as Build,
        { limiter },
        { limiter: NONE, key: FN, cost: [...COST, ...FN], skip: FN, headers: OBJECT, onDenied: FN, trustedProxies: LIST },
      ] as const,
  ),
  [
    'rateLimit',
    fetchLimit,
    { limiter, address: () => '1.1.1.1' },
    { limiter: NONE, key: FN, cost: [...COST, ...FN], skip: FN, headers: OBJECT, onDenied: FN, trustedProxies: LIST, address: FN },
  ],
  ['rateLimit', node, {}, { engine: NONE }],
  ...(['check', 'peek', 'penalize', 'refund'] as const).map(
    (verb) =>
      [
        'limiter default',
        ((options: never) => limiter[verb]('b', options)) as Build,
        {},
        { cost: COST, deadlineMs: MS, signal: NONE },
      ] as const,
  ),
  ['limiter default', ((options: never) => limiter.refund('b', options)) as Build, {}, { receipt: NONE }],
  ['limiter default', ((options: never) => limiter.checkSync('b', options)) as Build, {}, { cost: COST }],
  ...(['decide', 'peek', 'explain'] as const).map(
    (verb) =>
      [
        'facts',
        ((given: never) => engine[verb](given)) as Build,
        facts,
        {
          method: TEXT,
          path: TEXT,
          headers: OBJECT,
          // null counts as absent, since programs hand over `request.ip ?? null`.
          rawHeaders: ['null', '[]'],
          ip: ['null', ...TEXT],
          claims: ['null', ...OBJECT],
          cost: COST,
          route: ['null', ...TEXT],
        },
      ] as const,
  ),
  ['engine', ((options: never) => engine.decide(facts, options)) as Build, {}, { deadlineMs: MS, signal: NONE }],
  ['engine', ((request: never) => engine.decideKey(request)) as Build, { key: 'a' }, { key: NAME, limit: NONE, cost: COST }],
  ...(['inspectKey', 'resetKey', 'overridesOfKey', 'withdrawKey'] as const).map(
    (verb) => ['engine', ((target: never) => engine[verb](target)) as Build, { key: 'a' }, { key: NAME, limit: NONE }] as const,
  ),
  [
    'withdraw',
    ((override: never) => engine.withdraw(override)) as Build,
    { rule: 'a', values: [] },
    { rule: TEXT, values: ['[]', '[null]'] },
  ],
]

/** Fields of facts and limits have codes and words of their own. */
const word = (name: string): string => name.replace(/^limits$/, 'limits?')

describe('U3: no option is taken in silence or ends in a raw error', () => {
  it.each(OPTIONS)('%s, each option with each kind of value', async (place, build, base, fields) => {
    const found: string[] = []
    for (const [field, right] of Object.entries(fields)) {
      for (const [name, value] of VALUES) {
        if (name === 'undefined') continue
        const run = (): unknown => (build as (options: object) => unknown)({ ...base, [field]: value })
        const why = await complaint(run, right.includes(name), new RegExp(word(field), 'i'))
        if (why !== undefined) found.push(`${place}({ ${field}: ${name} }): ${why}`)
      }
    }
    expect(found).toEqual([])
  })
})
