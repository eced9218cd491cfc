import { describe, expect, it } from 'vitest'
import { rateLimit as express } from '../src/adapters/express.ts'
import { rateLimit as fastify } from '../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../src/adapters/fetch.ts'
import { rateLimit as node } from '../src/adapters/node.ts'
import { createGate, headersOf, headerWriter, problemOf } from '../src/http.ts'
import { createLimiter, fixedWindow, memoryStore, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { prometheusMetrics, topKeys } from '../src/observe.ts'
import { throttleFunction, throttleIterable } from '../src/pacing.ts'
import * as policies from '../src/policy.ts'
import { DistributedRateLimiter, ioredis, nodeRedis, valkeyGlide } from '../src/redis.ts'
import { bareRedisStore } from '../src/stores/redis/index.ts'
import { pg, pglite, postgresJs, barePostgresStore } from '../src/stores/postgres/index.ts'
import * as remote from '../src/remote.ts'
import {
  type Build,
  VALUES,
  COUNT,
  MS,
  TEXT,
  NAME,
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
  complaint,
} from './misuse-values.ts'

/** What takes arguments by place, good ones, and of each argument which values are right. */
const ARGUMENTS: readonly (readonly [string, Build, readonly unknown[], readonly (readonly string[])[]])[] = [
  ...[
    tokenBucket,
    fixedWindow,
    slidingWindowCounter,
    slidingWindowLog,
    createLimiter,
    bareRedisStore,
    barePostgresStore,
    policies.createEngine,
  ].map((build) => [build.name, build as Build, [{}], [NONE]] as const),
  ...[node, express, fastify, fetchLimit].map((build) => ['rateLimit', build as Build, [{}], [NONE]] as const),
  ...[memoryStore, prometheusMetrics].map((build) => [build.name, build as Build, [{}], [[...OBJECT, 'undefined']]] as const),
  ...[ioredis, nodeRedis, valkeyGlide, pg, pglite, postgresJs].map((build) => [build.name, build as Build, [{}], [NONE]] as const),
  ['DistributedRateLimiter', ((client: never) => new DistributedRateLimiter(client)) as Build, [raw], [NONE]],
  ...[remote.withBreaker, remote.withCoalescing, remote.withDeniedCache, remote.withLeases, remote.remoteStore].map(
    (build) => [build.name, build as Build, [far, {}], [NONE, [...OBJECT, 'undefined']]] as const,
  ),
  ['withDividedLimit', remote.withDividedLimit, [far, 2], [NONE, [...COUNT, ...FN]]],
  ['throttleFunction', throttleFunction, [() => 1, limit, {}], [FN, NONE, [...OBJECT, 'undefined']]],
  ['throttleIterable', throttleIterable, [[], limit, {}], [[...TEXT, '[]', '[null]'], NONE, [...OBJECT, 'undefined']]],
  ['topKeys', topKeys, [5], [['undefined', ...COUNT]]],
  ['parseDuration', policies.parseDuration, ['1s'], [MS]],
  ['parseStoreUrl', policies.parseStoreUrl, ['memory:'], [TEXT]],
  ['storeParameterMistake', policies.storeParameterMistake, ['memory:'], [TEXT]],
  ['normalizePath', policies.normalizePath, ['/a'], [TEXT]],
  ['groupAddress', policies.groupAddress, ['1.2.3.4', 24, 64], [NONE, ['5', 'undefined'], ['5', 'undefined']]],
  ['clientAddress', policies.clientAddress, ['1.2.3.4', {}, trust], [['undefined', 'null', ...TEXT], OBJECT, NONE]],
  ['isTrustedPeer', policies.isTrustedPeer, ['1.2.3.4', trust], [['undefined', 'null', ...TEXT], NONE]],
  ['trustProxies', policies.trustProxies, [[], 'x-real-ip'], [LIST, ['undefined', ...NAME]]],
  ['hashKeys', policies.hashKeys, [() => 0.5], [['undefined', ...FN]]],
  ['nearest', policies.nearest, ['a', ['b']], [TEXT, LIST]],
  ['firstWrongByte', policies.firstWrongByte, [new Uint8Array(0)], [NONE]],
  ['compilePolicy', policies.compilePolicy, [policies.readPortable(source), {}], [NONE, [...OBJECT, 'undefined']]],
  ['createGate', createGate, [{ limiter }, reader], [NONE, NONE]],
  ['headerWriter', headerWriter, [{}], [[...OBJECT, 'undefined']]],
  ['headersOf', headersOf, [decision, 'a', {}], [NONE, TEXT, [...OBJECT, 'undefined']]],
  ['problemOf', problemOf, [denied, ['a']], [NONE, [...LIST, 'undefined']]],
  ...(['check', 'checkSync', 'peek', 'reset', 'refund', 'penalize', 'unblock'] as const).map(
    (verb) => [`limiter.${verb}`, ((key: never) => limiter[verb](key)) as Build, ['k'], [NAME]] as const,
  ),
  ['limiter.block', ((...given: never[]) => limiter.block(...(given as unknown as ['k', '1s']))) as Build, ['b', '1s'], [NAME, NONE]],
  ['limiter.checkMany', ((requests: never) => limiter.checkMany(requests)) as Build, [[{ key: 'k' }]], [LIST]],
  ...(['decide', 'peek', 'explain'] as const).map(
    (verb) => [`engine.${verb}`, ((given: never) => engine[verb](given)) as Build, [facts], [NONE]] as const,
  ),
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

describe('U3: no argument is taken in silence or ends in a raw error', () => {
  it.each(ARGUMENTS)('%s, each argument with each kind of value', async (place, build, good, right) => {
    const found: string[] = []
    for (const [index] of good.entries()) {
      for (const [name, value] of VALUES) {
        const run = (): unknown => (build as (...given: unknown[]) => unknown)(...good.with(index, value))
        const why = await complaint(run, (right[index] ?? NONE).includes(name), /expected|not a|write |is missing|give /)
        if (why !== undefined) found.push(`${place}, argument ${index} ${name}: ${why}`)
      }
    }
    expect(found).toEqual([])
  })
})
