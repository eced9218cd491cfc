import { fastify as framework } from 'fastify'
import { rateLimit as express } from '../src/adapters/express.ts'
import { rateLimit as fastify, rateLimitPlugin } from '../src/adapters/fastify.ts'
import { decisionOf, rateLimit as fetchLimit } from '../src/adapters/fetch.ts'
import { rateLimit as hono } from '../src/adapters/hono.ts'
import { rateLimit as koa } from '../src/adapters/koa.ts'
import { RateLimit, RateLimitGuard, RateLimitModule, SkipRateLimit } from '../src/adapters/nest.ts'
import { rateLimit as node } from '../src/adapters/node.ts'
import { createGate, headersOf, headerWriter, problemOf } from '../src/http.ts'
import { concurrency, createLimiter, fixedWindow, memoryStore, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { otelMetrics, otelTracing, prometheusMetrics, topKeys } from '../src/observe.ts'
import { channel, throttleFunction, throttleIterable, throttleStream } from '../src/pacing.ts'
import * as policies from '../src/policy.ts'
import { exchange, exchangeRemote, regionalStore, replicate, reweigh } from '../src/regions.ts'
import { DistributedRateLimiter, hashTagOf, ioredis, nodeRedis, valkeyGlide } from '../src/redis.ts'
import { bareRedisStore } from '../src/stores/redis/index.ts'
import { pg, pglite, postgresJs, barePostgresStore } from '../src/stores/postgres/index.ts'
import * as remote from '../src/remote.ts'
import {
  type Build,
  COUNT,
  MS,
  TEXT,
  NAME,
  COST,
  FN,
  LIST,
  OBJECT,
  NONE,
  limit,
  limiter,
  far,
  raw,
  source,
  engine,
  decision,
  denied,
  facts,
  trust,
  reader,
} from './misuse-values.ts'

export type ArgumentsRow = readonly [place: string, build: Build, good: readonly unknown[], right: readonly (readonly string[])[]]

const EU = { store: memoryStore(), self: 'eu', peers: ['us'], mode: 'escrow' } as const
/** A limiter whose Redis returns nothing. That is a failure of the store, and no misuse. */
const ofClass = new DistributedRateLimiter(raw as never)

const ofSlots = createLimiter({ limit: concurrency({ limit: 1, holdMs: 1_000 }) })

/** The verbs of a reservation check their arguments in the same way, whether the reservation was granted or refused. */
const RESERVATIONS = [
  ['a granted', await limiter.reserve('granted')],
  ['a refused', await createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) }).reserve('refused', { cost: 2 })],
] as const

/**
 * Functions with positional arguments. Each row has a function, good arguments, and for each argument the names of the values that are
 * right.
 */
export const ARGUMENTS: readonly ArgumentsRow[] = [
  ...[
    tokenBucket,
    fixedWindow,
    slidingWindowCounter,
    slidingWindowLog,
    concurrency,
    createLimiter,
    bareRedisStore,
    barePostgresStore,
    policies.createEngine,
    otelMetrics,
    otelTracing,
  ].map((build) => [build.name, build as Build, [{}], [NONE]] as const),
  ['RateLimit', RateLimit, [{}], [OBJECT]],
  ['RateLimitModule', RateLimitModule.forRoot, [{}], [NONE]],
  ['RateLimitGuard', (options) => new RateLimitGuard(options), [{}], [['undefined']]],
  ['SkipRateLimit', SkipRateLimit, [true], [['undefined', 'true']]],
  ...[node, express, fastify, fetchLimit, hono, koa].map((build) => ['rateLimit', build as Build, [{}], [NONE]] as const),
  ['rateLimitPlugin', ((options: never) => rateLimitPlugin(framework(), options)) as Build, [{}], [NONE]],
  ['decisionOf', decisionOf, [new Request('http://a/')], [NONE]],
  ...[memoryStore, prometheusMetrics].map((build) => [build.name, build as Build, [{}], [[...OBJECT, 'undefined']]] as const),
  ...[ioredis, nodeRedis, valkeyGlide, pg, pglite, postgresJs].map((build) => [build.name, build as Build, [{}], [NONE]] as const),
  ['DistributedRateLimiter', ((client: never) => new DistributedRateLimiter(client)) as Build, [raw], [NONE]],
  [
    'DistributedRateLimiter.consume',
    ((...given: never[]) => ofClass.consume(...(given as unknown as ['k', 5, 1]))) as Build,
    ['k', 5, 1],
    [NAME, ['5', '0.5'], ['5', '0.5']],
  ],
  ['DistributedRateLimiter.consume, cost', ((cost: never) => ofClass.consume('k', 5, 1, cost)) as Build, [1], [['undefined', ...COST]]],
  ...[remote.withBreaker, remote.withCoalescing, remote.withDeniedCache, remote.withLeases, remote.remoteStore, remote.resilient].map(
    (build) => [build.name, build as Build, [far, {}], [NONE, [...OBJECT, 'undefined']]] as const,
  ),
  ...[exchange, exchangeRemote].map(
    (build) =>
      [build.name, build as Build, [regionalStore(EU), regionalStore({ ...EU, self: 'us', peers: ['eu'] })], [NONE, NONE]] as const,
  ),
  ['replicate', replicate, [{ store: regionalStore(EU), transport: async () => ({}) }], [NONE]],
  ['reweigh', reweigh, [regionalStore(EU), { eu: 500, us: 500 }, {}], [NONE, NONE, [...OBJECT, 'undefined']]],
  ['withDividedLimit', remote.withDividedLimit, [far, 2], [NONE, [...COUNT, ...FN]]],
  ['throttleFunction', throttleFunction, [() => 1, limit, {}], [FN, NONE, [...OBJECT, 'undefined']]],
  ['throttleIterable', throttleIterable, [[], limit, {}], [[...TEXT, '[]', '[null]'], NONE, [...OBJECT, 'undefined']]],
  ['throttleStream', throttleStream, [limit, {}], [NONE, [...OBJECT, 'undefined']]],
  ['channel', channel, [limit, { capacity: 1 }], [NONE, NONE]],
  ['topKeys', topKeys, [5], [['undefined', ...COUNT]]],
  ['topKeys.top', ((count: never) => topKeys().top(count)) as Build, [5], [['0', '5', 'Infinity']]],
  ['parseDuration', policies.parseDuration, ['1s'], [MS]],
  ['hashTagOf', hashTagOf, ['user:42'], [TEXT]],
  ['parseStoreUrl', policies.parseStoreUrl, ['memory:'], [TEXT]],
  ['storeParameterMistake', policies.storeParameterMistake, ['memory:'], [TEXT]],
  ['normalizePath', policies.normalizePath, ['/a'], [TEXT]],
  ['groupAddress', policies.groupAddress, ['1.2.3.4', 24, 64], [NONE, ['5', 'undefined'], ['5', 'undefined']]],
  ['clientAddress', policies.clientAddress, ['1.2.3.4', {}, trust], [['undefined', 'null', ...TEXT], OBJECT, NONE]],
  ['isTrustedPeer', policies.isTrustedPeer, ['1.2.3.4', trust], [['undefined', 'null', ...TEXT], NONE]],
  ['trustProxies', policies.trustProxies, [[], 'x-real-ip'], [LIST, ['undefined', ...NAME]]],
  ['limitFacts', policies.limitFacts, [limit, 1_000], [NONE, ['undefined', 'Infinity', ...MS]]],
  ['hashKeys', policies.hashKeys, [() => 0.5], [['undefined', ...FN]]],
  ['nearest', policies.nearest, ['a', ['b']], [TEXT, LIST]],
  ['firstWrongByte', policies.firstWrongByte, [new Uint8Array(0)], [NONE]],
  ['parsePolicy', policies.parsePolicy, [source, {}], [NONE, [...OBJECT, 'undefined']]],
  ['readPortable', policies.readPortable, [source, {}], [NONE, [...OBJECT, 'undefined']]],
  ['compilePolicy', policies.compilePolicy, [policies.readPortable(source), {}], [NONE, [...OBJECT, 'undefined']]],
  ['createGate', createGate, [{ limiter }, reader], [NONE, NONE]],
  ['headerWriter', headerWriter, [{}], [[...OBJECT, 'undefined']]],
  ['headersOf', headersOf, [decision, 'a', {}], [NONE, TEXT, [...OBJECT, 'undefined']]],
  ['problemOf', problemOf, [denied, ['a']], [NONE, [...LIST, 'undefined']]],
  ...(['check', 'checkSync', 'peek', 'wait', 'reset', 'refund', 'penalize', 'unblock'] as const).map(
    (verb) => [`limiter.${verb}`, ((key: never) => limiter[verb](key)) as Build, ['k'], [NAME]] as const,
  ),
  ['limiter.reserve', ((key: never) => limiter.reserve(key)) as Build, ['k'], [NAME]],
  [
    'limiter.settle',
    ((...given: never[]) => limiter.settle(...(given as unknown as ['k', 'a', 1]))) as Build,
    ['k', 'a', 1],
    [NAME, NAME, ['undefined', '0', ...COST]],
  ],
  [
    'limiter.extend',
    ((...given: never[]) => limiter.extend(...(given as unknown as ['k', 'a', 1]))) as Build,
    ['k', 'a', 1],
    [NAME, NAME, MS],
  ],
  ...RESERVATIONS.map(
    ([name, { settle }]) =>
      [
        `settle of ${name} reservation`,
        settle as Build,
        [1, {}],
        [
          ['undefined', '0', ...COST],
          [...OBJECT, 'undefined'],
        ],
      ] as const,
  ),
  ...RESERVATIONS.map(
    ([name, { extend }]) => [`extend of ${name} reservation`, extend as Build, [1, {}], [MS, [...OBJECT, 'undefined']]] as const,
  ),
  ...RESERVATIONS.map(
    ([name, { cancel }]) => [`cancel of ${name} reservation`, cancel as Build, [{}], [[...OBJECT, 'undefined']]] as const,
  ),
  ['limiter.cancel', ((...given: never[]) => limiter.cancel(...(given as unknown as ['k', 'a']))) as Build, ['k', 'a'], [NAME, NAME]],
  ['limiter.block', ((...given: never[]) => limiter.block(...(given as unknown as ['k', '1s']))) as Build, ['b', '1s'], [NAME, NONE]],
  ['limiter.release', ((...given: never[]) => ofSlots.release(...(given as unknown as ['k', 'h']))) as Build, ['k', 'h'], [NAME, TEXT]],
  ['engine.release', ((given: never) => engine.release(given)) as Build, [decision], [NONE]],
  ['limiter.withLimit', ((given: never) => limiter.withLimit(given)) as Build, [limit], [NONE]],
  ['limiter.checkMany', ((requests: never) => limiter.checkMany(requests)) as Build, [[{ key: 'k' }]], [LIST]],
  ...(['decide', 'peek', 'explain'] as const).map(
    (verb) => [`engine.${verb}`, ((given: never) => engine[verb](given)) as Build, [facts], [NONE]] as const,
  ),
  ['engine.reserve', ((given: never) => engine.reserve(given)) as Build, [facts], [NONE]],
  ['engine.settle', ((given: never) => engine.settle(given, 'a', 1)) as Build, [facts], [NONE]],
  ['engine.extend', ((given: never) => engine.extend(given, 'a', 1)) as Build, [facts], [NONE]],
  ['engine.cancel', ((given: never) => engine.cancel(given, 'a')) as Build, [facts], [NONE]],
  ['engine.decideMany', ((requests: never) => engine.decideMany(requests)) as Build, [[facts]], [LIST]],
  ['engine.decideMany([...])', ((request: never) => engine.decideMany([request])) as Build, [facts], [NONE]],
  ...(['decideKey', 'inspectKey', 'resetKey', 'overridesOfKey', 'withdrawKey'] as const).map(
    (verb) => [`engine.${verb}`, ((target: never) => engine[verb](target)) as Build, [{ key: 'a' }], [NONE]] as const,
  ),
  [
    'engine.blockKey',
    ((...given: never[]) => engine.blockKey(...(given as unknown as [{ key: 'a' }, '1s']))) as Build,
    [{ key: 'a' }, '1s'],
    [NONE, ['null']],
  ],
  ...(['withdraw', 'override', 'reload', 'prepare'] as const).map(
    (verb) => [`engine.${verb}`, ((given: never) => engine[verb](given)) as Build, [{ rule: 'a', values: [] }], [NONE]] as const,
  ),
]
