import { fastify as framework } from 'fastify'
import { rateLimit as express } from '../src/adapters/express.ts'
import { rateLimit as fastify, rateLimitPlugin } from '../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../src/adapters/fetch.ts'
import { rateLimit as hono } from '../src/adapters/hono.ts'
import { rateLimit as koa } from '../src/adapters/koa.ts'
import { RateLimit, RateLimitGuard, RateLimitModule } from '../src/adapters/nest.ts'
import { rateLimit as node } from '../src/adapters/node.ts'
import { concurrency, createLimiter, fixedWindow, memoryStore, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { prometheusMetrics } from '../src/observe.ts'
import { channel, throttleFunction, throttleIterable, throttleStream } from '../src/pacing.ts'
import * as policies from '../src/policy.ts'
import { postgresStore } from '../src/postgres.ts'
import { DistributedRateLimiter, redisStore } from '../src/redis.ts'
import { bareRedisStore } from '../src/stores/redis/index.ts'
import { barePostgresStore } from '../src/stores/postgres/index.ts'
import { regionalStore, replicate, type ReplicateOptions } from '../src/regions.ts'
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
} from './misuse-values.ts'

/** The options of every adapter, and which values are right. */
const GATE = {
  limiter: NONE,
  key: FN,
  limit: FN,
  cost: [...COST, ...FN],
  skip: FN,
  headers: OBJECT,
  retryAfterJitter: FLAG,
  ipv6Prefix: NONE,
  onDenied: FN,
  trustedProxies: LIST,
  onWarning: FN,
  // Only with onDenied: 'wait'.
  maxWaitMs: NONE,
  maxWaiting: NONE,
  countWhen: FN,
  actualCost: FN,
  // Only with countWhen or actualCost.
  holdMs: NONE,
}
/** What belongs to onDenied: 'wait'. */
const WAITING = { maxWaitMs: ['0', ...MS], maxWaiting: COUNT }
const PACING = { key: NAME, maxWaiting: COUNT, maxWaitMs: ['0', ...MS], signal: NONE, clock: NONE }

const REDIS = {
  client: NONE,
  prefix: TEXT,
  layout: NONE,
  packing: NONE,
  maxNewKeys: COUNT,
  onFull: NONE,
  maxInFlight: COUNT,
  clock: NONE,
}
const POSTGRES = {
  client: NONE,
  table: ['"x"'],
  unlogged: FLAG,
  onContention: NONE,
  sweepEveryMs: ['0', '5', '0.5'],
  concurrency: NONE,
  maxInFlight: COUNT,
  onWarning: FN,
  clock: NONE,
  random: FN,
}
/** The parts of the ring. */
const RING = {
  batching: { maxCalls: COUNT, maxQueued: COUNT },
  breaker: { failures: COUNT, windowMs: MS, probeMs: MS, deadlineMs: MS, onChange: FN },
  denials: { maxDeniedMs: MS, maxDenials: COUNT },
  leases: { lifeMs: NONE, share: ['0.5'], afterCalls: COUNT, maxKeys: COUNT },
}
const RING_OPTIONS = { deadline: MS, batching: OBJECT, breaker: OBJECT, denials: OBJECT, leases: OBJECT, clock: NONE, random: FN }

/** The reservation of a refused call. */
const refused = await createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) }).reserve('refused', { cost: 2 })

export type OptionsRow = readonly [place: string, build: Build, good: object, right: Readonly<Record<string, readonly string[]>>]

/**
 * Each row has the place in messages, what is built from options, good options, and for each option the names of the values that are right.
 */
export const OPTIONS: readonly OptionsRow[] = [
  [
    'createLimiter',
    createLimiter,
    { limit },
    { name: TEXT, store: NONE, clock: NONE, deadlineMs: MS, onStoreFailure: NONE, maxHolds: COUNT, observers: LIST },
  ],
  ['createLimiter', createLimiter, {}, { limit: NONE, limits: NONE }],
  [
    'regionalStore',
    regionalStore,
    { store: near, self: 'eu', peers: ['us'] },
    { store: NONE, self: NAME, peers: LIST, weights: NONE, mode: NONE, maxCells: NONE },
  ],
  ['regionalStore', regionalStore, { store: near, self: 'eu', weights: { eu: 1 } }, { weights: NONE, peers: NONE }],
  ['regionalStore', regionalStore, { store: near, self: 'eu', peers: [], mode: 'escrow' }, { maxCells: COUNT }],
  ['regionalStore', regionalStore, { store: near, self: 'eu', peers: [], mode: 'counters' }, { maxCells: COUNT, cutoffMs: NONE }],
  [
    'replicate',
    ((options: ReplicateOptions) => replicate(options).close()) as Build,
    { store: regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'escrow' }), transport: async () => ({}) },
    { store: NONE, transport: FN, periodMs: NONE, timeoutMs: NONE, onError: FN, clock: NONE, random: FN },
  ],
  ['memoryStore', memoryStore, {}, { maxKeys: COUNT, maxBytes: COUNT, maxHolds: COUNT, onFull: NONE, clock: NONE }],
  ['tokenBucket', tokenBucket, { rate: '1/s', burst: 2 }, { rate: NONE, burst: ['5', '0.5', '"10"'] }],
  ['fixedWindow', fixedWindow, { limit: 5, window: '1s' }, { limit: ['5', '0.5', '"10"'], window: NONE, align: NONE, ramp: NONE }],
  ['slidingWindowCounter', slidingWindowCounter, { limit: 5, window: '1s' }, { limit: ['5', '0.5', '"10"'], window: NONE }],
  ['slidingWindowLog', slidingWindowLog, { limit: 5, window: '1s' }, { limit: ['5', '"10"', '0.5'], window: NONE }],
  ['concurrency', concurrency, { limit: 5, holdMs: 1_000 }, { limit: ['5', '"10"', '0.5'], holdMs: ['5'] }],
  ['redisStore', bareRedisStore, { client: port }, REDIS],
  [
    'redisStore: packing',
    ((packing: never) => bareRedisStore({ client: port, layout: 'packed', packing })) as Build,
    {},
    { keys: COUNT, secret: TEXT },
  ],
  ['postgresStore', barePostgresStore, { client: sql }, POSTGRES],
  ['redisStore', redisStore, { client: port }, { ...REDIS, ring: OBJECT }],
  ['postgresStore', postgresStore, { client: sql }, { ...POSTGRES, ring: OBJECT }],
  [
    'migrate',
    ((options: never) => barePostgresStore({ client: sql }).migrate(options)) as Build,
    {},
    { compatFunction: FLAG, prune: FLAG, force: FLAG },
  ],
  ...Object.entries(RING).map(
    ([part, fields]) =>
      [`remoteStore: ${part}`, ((options: never) => remote.remoteStore(far, { [part]: options })) as Build, {}, fields] as const,
  ),
  [
    'DistributedRateLimiter',
    ((options: never) => new DistributedRateLimiter(raw as never, options)) as Build,
    {},
    { failurePolicy: NONE, deadlineMs: MS },
  ],
  ...(
    [
      [remote.withBreaker, { failures: COUNT, windowMs: MS, probeMs: MS, deadlineMs: MS, onChange: FN, clock: NONE, random: FN }],
      [remote.withCoalescing, { maxCalls: COUNT, maxQueued: COUNT, clock: NONE }],
      [remote.withDeniedCache, { maxDeniedMs: MS, maxDenials: COUNT, clock: NONE }],
      [remote.withLeases, { lifeMs: NONE, share: ['0.5'], afterCalls: COUNT, maxKeys: COUNT, clock: NONE, random: FN }],
      [remote.remoteStore, RING_OPTIONS],
      [remote.resilient, RING_OPTIONS],
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
      onWarning: FN,
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
  ['throttleFunction', ((options: never) => throttleFunction(() => 1, limit, options)) as Build, {}, { ...PACING, cost: [...COST, ...FN] }],
  [
    'throttleIterable',
    ((options: never) => throttleIterable([], limit, options)) as Build,
    {},
    { ...PACING, cost: [...COST, ...FN], bytes: FLAG },
  ],
  ['throttleStream', ((options: never) => throttleStream(limit, options)) as Build, {}, { ...PACING, cost: [...COST, ...FN], bytes: FLAG }],
  ['channel', ((options: never) => channel(limit, options)) as Build, { capacity: 1 }, { ...PACING, cost: COST }],
  ['channel', ((options: never) => channel(limit, options)) as Build, {}, { capacity: ['0', '5'] }],
  ['channel.put', ((options: never) => channel(limit, { capacity: 1 }).put(1, options)) as Build, {}, { signal: NONE }],
  ['prometheusMetrics', prometheusMetrics, {}, { read: LIST }],
  ...[node, express, fastify, koa].map((build) => ['rateLimit', build as Build, { limiter }, GATE] as const),
  ['rateLimit', node as Build, { limiter, onDenied: 'wait' }, WAITING],
  ['rateLimit', node as Build, { limiter, countWhen: 'failure' }, { holdMs: MS }],
  ['RateLimit', RateLimit, {}, { ...GATE, ...WAITING, holdMs: MS, limiter: TEXT, engine: NONE }],
  ['RateLimitModule', RateLimitModule.forRoot, { limiter }, { ...GATE, engine: NONE, limiters: OBJECT }],
  ['RateLimitModule', RateLimitModule.forRootAsync, { useFactory: () => ({ limiter }) }, { imports: LIST, inject: LIST, useFactory: FN }],
  ['RateLimitGuard', (options) => new RateLimitGuard(options), { limiter }, { ...GATE, engine: NONE, limiters: OBJECT }],
  ...[fetchLimit, hono].map(
    (build) => ['rateLimit', build as Build, { limiter, address: () => '1.1.1.1' }, { ...GATE, engine: NONE, address: FN }] as const,
  ),
  [
    'rateLimitPlugin',
    ((options: never) => rateLimitPlugin(framework(), options)) as Build,
    { limiter },
    { ...GATE, engine: NONE, hook: NONE },
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
  [
    'limiter default',
    ((options: never) => limiter.reserve('b', options)) as Build,
    {},
    { cost: COST, deadlineMs: MS, signal: NONE, id: NAME, holdMs: MS },
  ],
  // This row uses another key. On the key `b`, the id is that of a reservation, and a check may not use it.
  ['limiter default', ((options: never) => limiter.check('once', options)) as Build, {}, { id: NAME, holdMs: NONE }],
  ['limiter default', ((options: never) => limiter.settle('b', 'a', 1, options)) as Build, {}, { deadlineMs: MS, signal: NONE }],
  ['limiter default', ((options: never) => refused.settle(1, options)) as Build, {}, { deadlineMs: MS, signal: NONE }],
  ['limiter default', ((options: never) => refused.extend(1, options)) as Build, {}, { deadlineMs: MS, signal: NONE }],
  ['limiter default', ((options: never) => refused.cancel(options)) as Build, {}, { deadlineMs: MS, signal: NONE }],
  ['limiter default', ((options: never) => limiter.refund('b', options)) as Build, {}, { receipt: NONE }],
  ['limiter default', ((options: never) => limiter.peek('b', options)) as Build, {}, { at: NONE }],
  [
    'limiter default',
    ((options: never) => limiter.wait('b', options)) as Build,
    { maxWaitMs: 0 },
    { cost: COST, deadlineMs: MS, signal: NONE, maxWaitMs: ['0', ...MS] },
  ],
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
    // A caller may pass an override that the engine returned. Its fields `limit` and `until` are not read, so any value is right.
    { rule: TEXT, values: ['[]', '[null]'], limit: [...VALUES.keys()], until: [...VALUES.keys()] },
  ],
]
