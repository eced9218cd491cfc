import { Get, UseGuards } from '@nestjs/common'
import express from 'express'
import { fastify } from 'fastify'
import { type Context, Hono } from 'hono'
import Koa from 'koa'
import { expect, it, onTestFinished } from 'vitest'
import { rateLimit as expressLimit } from '../../src/adapters/express.ts'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as honoLimit } from '../../src/adapters/hono.ts'
import { rateLimit as koaLimit } from '../../src/adapters/koa.ts'
import { RateLimitGuard } from '../../src/adapters/nest.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import { concurrency, createLimiter, tokenBucket } from '../../src/index.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { manualClock } from '../../src/time/manual.ts'
import { listen } from './listen.ts'
import { listenHono } from './listen-hono.ts'
import { listenKoa } from './listen-koa.ts'
import { controller, PLATFORMS, start } from './nest-apps.ts'

type Two = readonly [outer: GateOptions<unknown>, inner: GateOptions<unknown>]
type Fields = Readonly<Record<string, unknown>>

const fieldsOf = async ({ url, close }: { url: string; close(): Promise<void> }): Promise<Fields> => {
  onTestFinished(close)
  return (await sendRequest(url, { path: '/' })).headers
}

const APPS: readonly [name: string, answered: (limits: Two) => Promise<Fields>][] = [
  [
    'express',
    async (limits) => {
      const app = express()
      for (const options of limits) app.use(expressLimit(options))
      app.use((_request, response) => void response.end('hello'))
      return fieldsOf(await listen(app))
    },
  ],
  [
    'koa',
    async (limits) => {
      const app = new Koa()
      for (const options of limits) app.use(koaLimit(options))
      app.use((context) => void (context.body = 'hello'))
      return fieldsOf(await listenKoa(app))
    },
  ],
  [
    'fastify',
    async (limits) => {
      const app = fastify()
      for (const options of limits) app.addHook('onRequest', fastifyLimit(options))
      app.get('/', async () => 'hello')
      return (await app.inject({ url: '/' })).headers
    },
  ],
  ...[(c: Context) => c.text('hello'), () => new Response('hello')].map((handler, at): (typeof APPS)[number] => [
    at === 0 ? 'hono' : 'hono with a response of its own',
    async (limits) => {
      const app = new Hono()
      for (const options of limits) app.use(honoLimit(options))
      app.get('/', handler)
      return fieldsOf(await listenHono(app))
    },
  ]),
  [
    'fetch',
    async ([outer, inner]) => {
      // The inner limit of a handler writes its fields first.
      const handler = fetchLimit(inner).wrap(fetchLimit(outer).wrap(() => new Response('hello')))
      return Object.fromEntries((await handler(new Request('http://localhost/'))).headers)
    },
  ],
  ...PLATFORMS.map(([name, platform]): (typeof APPS)[number] => [
    name,
    async (limits) => {
      const guards = limits.map((options) => new RateLimitGuard(options))
      const routes = controller({ hello: { run: () => 'hello', by: [Get()] } }, UseGuards(...guards))
      return fieldsOf(await start(platform, { controllers: [routes] }))
    },
  ]),
]

it.each(APPS)('%s: the fields with one value are of the nearer limit; slots have no reset', async (_name, answered) => {
  const key = (): string => 'k'
  const clock = manualClock()
  const slots = (limit: number): GateOptions<unknown> => ({
    limiter: createLimiter({ limit: concurrency({ limit, holdMs: 60_000 }), clock }),
    key,
  })
  const bucket = (): GateOptions<unknown> => ({ limiter: createLimiter({ limit: tokenBucket({ rate: '1/min', burst: 50 }), clock }), key })
  const near: unknown[] = ['2', '1', undefined]
  const cases: readonly (readonly [Two, readonly unknown[]])[] = [
    [[bucket(), slots(2)], near],
    [[slots(2), bucket()], near],
    [
      [bucket(), slots(90)],
      ['50', '49', '60'],
    ],
  ]
  for (const [limits, expected] of cases) {
    const fields = await answered(limits)
    expect([fields['ratelimit-limit'], fields['ratelimit-remaining'], fields['ratelimit-reset']]).toEqual(expected)
  }
})
