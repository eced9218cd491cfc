import { rateLimit as fetchLimit } from '../src/adapters/fetch.ts'
import { Hono } from 'hono'
import { rateLimit as honoLimit } from '../src/adapters/hono.ts'
import { createGate, type GateOptions } from '../src/http.ts'
import { prometheusMetrics } from '../src/observe.ts'
import { throttleFunction } from '../src/pacing.ts'
import { createEngine, parsePolicy } from '../src/policy.ts'
import { COST, denied, engine, FLAG, limiter, NAME, near, NONE, reader, TEXT } from './misuse-values.ts'

/** Calls a function that a program passed. */
type Call = (fn: never) => unknown
export type FunctionsRow = readonly [place: string, call: Call, right: readonly string[], later: readonly string[]]

const byGate =
  (options: (fn: never) => GateOptions<unknown>): Call =>
  (fn) =>
    createGate(options(fn), reader).check({}, '192.0.2.1')
/** A limiter that refuses everything. */
const refusing = { ...limiter, check: async () => denied, checkSync: () => denied }
const keyed = parsePolicy(`version: 1
identifiers: { mode: hmac, secretFile: a }
jwt: { verified: upstream }
rules: [{ name: a, key: ["jwt:sub"], rate: 1/s, burst: 9 }]`)
const byHono =
  (options: (fn: never) => object): Call =>
  (fn) => {
    const app = new Hono()
    app.onError((error) => {
      throw error
    })
    app.use(honoLimit({ limiter, ...options(fn) }))
    app.get('/', (context) => context.text('hello'))
    return app.request('http://a/')
  }
const request = new Request('http://a/')
const OPTIONAL = ['undefined', 'null']

/**
 * Functions that a caller passes. Each row has the place in messages, what calls the function, and the results that are right: returned,
 * and by a promise.
 */
export const FUNCTIONS: readonly FunctionsRow[] = [
  ['key', byGate((key) => ({ limiter, key })), NAME, NAME],
  ['cost', byGate((cost) => ({ limiter, key: () => 'k', cost })), COST, COST],
  ['cost', byGate((cost) => ({ engine, cost })), COST, COST],
  ['cost', (cost) => throttleFunction(() => 1, limiter, { cost, maxWaitMs: 0 })(), COST, NONE],
  ['limit', byGate((limit) => ({ limiter, key: () => 'k', limit })), NONE, NONE],
  ['limit', byGate((limit) => ({ limiter, key: () => 'k', limit })), NONE, NONE],
  ['skip', byGate((skip) => ({ limiter, key: () => 'k', skip })), ['undefined', ...FLAG], ['undefined', ...FLAG]],
  ['skip', byGate((skip) => ({ engine, skip })), ['undefined', ...FLAG], ['undefined', ...FLAG]],
  ['limiter.check', byGate((check) => ({ limiter: { check, checkSync: check } as never, key: () => 'k' })), NONE, NONE],
  ['engine.decide', byGate((decide) => ({ engine: { decide } })), NONE, NONE],
  ['address', (address) => fetchLimit({ limiter, address }).check(request), [...OPTIONAL, ...TEXT], NONE],
  ['onDenied', (onDenied) => fetchLimit({ limiter: refusing, key: () => 'k', onDenied }).check(request), NONE, NONE],
  ['address', byHono((address) => ({ address })), [...OPTIONAL, ...TEXT], NONE],
  ['onDenied', byHono((onDenied) => ({ limiter: refusing, key: () => 'k', onDenied })), NONE, NONE],
  ['handler', (handler) => fetchLimit({ limiter, key: () => 'k', skip: () => true }).wrap(handler)(request), NONE, NONE],
  ['pseudonym', (pseudonym) => createEngine({ policy: keyed, store: near, pseudonym }), NONE, NONE],
  ['read', (read) => prometheusMetrics({ read: [{ name: 'a', help: 'b', type: 'gauge', read }] }).text(), ['[]'], NONE],
]
