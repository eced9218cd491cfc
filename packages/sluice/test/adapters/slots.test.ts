import type { ServerResponse } from 'node:http'
import express from 'express'
import { Hono } from 'hono'
import { stream } from 'hono/streaming'
import Koa from 'koa'
import { Readable } from 'node:stream'
import { fastify } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { rateLimit as expressLimit } from '../../src/adapters/express.ts'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as honoLimit } from '../../src/adapters/hono.ts'
import { rateLimit as koaLimit } from '../../src/adapters/koa.ts'
import { rateLimit as nodeLimit } from '../../src/adapters/node.ts'
import { concurrency, createLimiter, type Limiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import type { Served } from '../../src/testing/adapter-bench.ts'
import { manualClock } from '../../src/time/manual.ts'
import { listen } from './listen.ts'
import { listenHono } from './listen-hono.ts'

const key = (): string => 'k'

/** Begins a response of which the rest never comes. */
function begin(response: ServerResponse): void {
  response.writeHead(200)
  response.write('begun')
}

/** A response body that begins and never ends. */
const endless = (): ReadableStream<Uint8Array> => new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('begun')) })

const servers: readonly [name: string, serve: (limiter: Limiter) => Promise<Served>][] = [
  [
    'node',
    async (limiter) => {
      const limit = nodeLimit({ limiter, key })
      return listen((request, response) => void limit(request, response).then((passed) => (passed ? begin(response) : undefined)))
    },
  ],
  [
    'express',
    async (limiter) => {
      const app = express()
      app.use(expressLimit({ limiter, key }))
      app.use((_request, response) => begin(response))
      return listen(app)
    },
  ],
  [
    'koa',
    async (limiter) => {
      const app = new Koa()
      // It would report each client that leaves.
      app.silent = true
      app.use(koaLimit({ limiter, key }))
      app.use((context) => void (context.body = Readable.from(endless())))
      const callback = app.callback()
      return listen((request, response) => void callback(request, response))
    },
  ],
  [
    'fastify',
    async (limiter) => {
      const app = fastify()
      app.addHook('onRequest', fastifyLimit({ limiter, key }))
      app.get('/', (_request, reply) => reply.send(Readable.from(endless())))
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      return {
        url,
        close: async () => {
          app.server.closeAllConnections()
          await app.close()
        },
      }
    },
  ],
  [
    'hono',
    async (limiter) => {
      const app = new Hono()
      app.use(honoLimit({ limiter, key }))
      app.get('/', (c) =>
        stream(c, async (writer) => {
          await writer.write('begun')
          await new Promise<void>((resolve) => writer.onAbort(resolve))
        }),
      )
      return listenHono(app)
    },
  ],
]

it.each(servers)(
  '%s: a slot is held while the response is sent; its end is not cancelled with the connection of a client that closes it',
  async (_, serve) => {
    // The clock stands still: no hold ends by itself.
    const limiter = createLimiter({ limit: concurrency({ limit: 1, holdMs: 60_000 }), clock: manualClock() })
    const { url, close } = await serve(limiter)
    onTestFinished(close)
    const free = async (): Promise<number | undefined> => (await limiter.peek('k')).limits[0]?.remaining
    for (let turn = 0; turn < 3; turn += 1) {
      const controller = new AbortController()
      const response = await fetch(url, { signal: controller.signal })
      const reader = response.body?.getReader()
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('begun')
      expect(await free()).toBe(0)
      expect((await fetch(url)).status).toBe(429)
      controller.abort()
      await expect.poll(free).toBe(1)
    }
  },
)

it('fetch: a slot is held until the body was read, was cancelled or failed, or the handler failed; without a body it is not held', async () => {
  const limiter = createLimiter({ limit: concurrency({ limit: 1, holdMs: 60_000 }), clock: manualClock() })
  const free = async (): Promise<number | undefined> => {
    await new Promise((resolve) => setImmediate(resolve))
    return (await limiter.peek('k')).limits[0]?.remaining
  }
  const handled = (handler: () => Response, signal?: AbortSignal): Promise<Response> =>
    fetchLimit({ limiter, key }).wrap(handler)(new Request('http://localhost/', signal === undefined ? {} : { signal }))

  const read = await handled(() => new Response('all', { status: 201, headers: { 'x-own': '1' } }))
  expect([read.status, read.headers.get('x-own'), read.headers.get('ratelimit'), await free()]).toEqual([201, '1', '"default";r=0', 0])
  expect([await read.text(), await free()]).toEqual(['all', 1])

  const cancelled = await handled(() => new Response(endless()))
  expect(await free()).toBe(0)
  await cancelled.body?.cancel()
  expect(await free()).toBe(1)

  const failing = await handled(() => new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('lost')) })))
  await expect(failing.text()).rejects.toThrow('lost')
  expect(await free()).toBe(1)

  const thrown = handled(() => {
    throw new Error('of the handler')
  })
  await expect(thrown).rejects.toThrow('of the handler')
  expect(await free()).toBe(1)

  await handled(() => new Response(null, { status: 204 }))
  expect(await free()).toBe(1)

  const controller = new AbortController()
  await handled(() => new Response(endless()), controller.signal)
  controller.abort()
  expect(await free()).toBe(1)
})

it('a policy: concurrency with other rules, all or nothing, also where a rule only reports', async () => {
  const clock = manualClock()
  const policy = parsePolicy(`version: 1
rules:
  - { name: at-once, key: [], algorithm: concurrency, limit: 2, hold: 60s }
  - { name: rate, key: [], rate: 1/h, burst: 3 }
  - { name: dry, key: [], algorithm: concurrency, limit: 1, hold: 60s, mode: shadow }
`)
  const engine = createEngine({ policy, store: memoryStore({ clock }), clock })
  const facts = { method: 'GET', path: '/', headers: {} }
  const first = await engine.decide(facts)
  expect(first).toMatchObject({ allowed: true, hold: { id: expect.any(String), expiresAt: clock.now() / 1_000 + 60_000 } })
  expect(await engine.decide(facts)).toMatchObject({ allowed: true, shadow: [{ rule: 'dry', outcome: 'denied' }] })
  expect(await engine.decide(facts)).toMatchObject({ allowed: false, reason: 'concurrency', limitName: 'at-once', violated: ['at-once'] })
  await engine.release(first)
  await engine.release(first)
  const third = await engine.decide(facts)
  expect(third).toMatchObject({ allowed: true, shadow: [{ outcome: 'allowed' }] })
  expect('retryAfterMs' in (await engine.peek(facts))).toBe(true)
  await engine.resetKey({ key: 'x' })
  await engine.release({ ...third })
  expect(await engine.decide(facts)).toMatchObject({ allowed: false })

  const limit = nodeLimit({ engine: createEngine({ policy, store: memoryStore({ clock }), clock }) })
  const { url, close } = await listen((request, response) => {
    void limit(request, response).then((passed) => (passed ? response.end('hello') : undefined))
  })
  onTestFinished(close)
  for (let turn = 0; turn < 3; turn += 1) expect((await fetch(url)).status).toBe(200)
  expect((await fetch(url)).headers.get('ratelimit')).toMatch(/"at-once";r=\d, "rate";r=0;t=\d+|"rate";r=0;t=\d+, "at-once";r=\d/)
})

it('a limiter without slots has no hold, and its responses no listener', async () => {
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 5 }) })
  expect('hold' in (await limiter.check('k'))).toBe(false)
})
