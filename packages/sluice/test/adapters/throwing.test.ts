import { describe, expect, it, onTestFinished } from 'vitest'
import express from 'express'
import { fastify } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import Koa from 'koa'
import { rateLimit as expressLimit } from '../../src/adapters/express.ts'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as honoLimit } from '../../src/adapters/hono.ts'
import { rateLimit as koaLimit } from '../../src/adapters/koa.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import { concurrency, createLimiter, fixedWindow, type Limiter } from '../../src/index.ts'
import type { Served } from '../../src/testing/adapter-bench.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { manualClock } from '../../src/time/manual.ts'
import { listen } from './listen.ts'
import { listenHono } from './listen-hono.ts'
import { listenKoa } from './listen-koa.ts'

const key = (): string => 'k'
const SOON = { interval: 2 }

// The clocks stand still: no hold ends by itself.
const slots = (): Limiter => createLimiter({ limit: concurrency({ limit: 3, holdMs: 60_000 }), clock: manualClock() })
const tokens = (): Limiter => createLimiter({ limit: fixedWindow({ limit: 3, window: '1h' }), maxHolds: 3, clock: manualClock() })

async function left(limiter: Limiter): Promise<number | undefined> {
  return (await limiter.peek('k')).limits[0]?.remaining
}

/** Which middleware throws after the handler has answered: one outside the limit (`around`), or one between the limit and the handler. */
type Place = 'around' | 'between'
type Options = GateOptions<unknown>

const failed = (): never => {
  throw new Error('after next')
}

const APPS: readonly [name: string, serve: (options: Options, place: Place) => Promise<Served>][] = [
  [
    'express',
    (options, place) => {
      const app = express()
      const limit = expressLimit(options)
      const throwing: express.RequestHandler = (_request, _response, next) => {
        next()
        failed()
      }
      for (const use of place === 'around' ? [throwing, limit] : [limit, throwing]) app.use(use)
      app.use((_request, _response, next) => setImmediate(next))
      app.use(failed)
      // Without it express prints each error.
      const quiet: express.ErrorRequestHandler = (_error, _request, response, _next) => {
        if (!response.headersSent) response.status(500).end('failed')
      }
      app.use(quiet)
      return listen(app)
    },
  ],
  [
    'koa',
    (options, place) => {
      const app = new Koa()
      app.silent = true
      const throwing: Koa.Middleware = async (_context, next) => {
        await next()
        failed()
      }
      const limit = koaLimit(options)
      for (const use of place === 'around' ? [throwing, limit] : [limit, throwing]) app.use(use)
      app.use((context) => void (context.body = 'all'))
      return listenKoa(app)
    },
  ],
  [
    'fastify',
    async (options, place) => {
      const app = fastify({ forceCloseConnections: true })
      const limit = fastifyLimit(options)
      if (place === 'between') app.addHook('onRequest', limit)
      let thrown = false
      app.addHook('onSend', async (_request, _reply, payload) => {
        thrown = !thrown
        return thrown ? failed() : payload
      })
      if (place === 'around') app.addHook('preHandler', limit)
      app.get('/', () => 'all')
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
    },
  ],
  [
    'hono',
    (options, place) => {
      const app = new Hono()
      app.onError((_error, c) => c.text('failed', 500))
      const throwing = async (_c: unknown, next: () => Promise<void>): Promise<void> => {
        await next()
        failed()
      }
      const limit = honoLimit(options)
      for (const use of place === 'around' ? [throwing, limit] : [limit, throwing]) app.use(use)
      app.get('/', (c) => c.text('all'))
      return listenHono(app)
    },
  ],
  [
    'hono, two limits',
    (options, place) => {
      const app = new Hono()
      app.onError((_error, c) => c.text('failed', 500))
      const throwing = async (_c: unknown, next: () => Promise<void>): Promise<void> => {
        await next()
        failed()
      }
      const [limit, other] = [honoLimit(options), honoLimit({ limiter: slots(), key })]
      for (const use of place === 'around' ? [throwing, limit, other] : [limit, other, throwing]) app.use(use)
      app.get('/', (c) => c.text('all'))
      return listenHono(app)
    },
  ],
]

describe.each(APPS)('%s: a middleware throws after the handler has answered', (_name, serve) => {
  describe.each<Place>(['around', 'between'])('%s', (place) => {
    const sent = async (options: Options): Promise<number> => {
      const { url, close } = await serve(options, place)
      onTestFinished(close)
      return (await sendRequest(url, { path: '/' })).status
    }

    it('the slot ends with the response', async () => {
      const limiter = slots()
      expect(await sent({ limiter, key })).toBe(500)
      await expect.poll(() => left(limiter), SOON).toBe(3)
    })

    it('the response that was sent counts', async () => {
      const limiter = tokens()
      expect(await sent({ limiter, key, countWhen: 'success' })).toBe(500)
      await expect.poll(() => left(limiter), SOON).toBe(3)
    })
  })
})

describe('fetch', () => {
  const answered = async (
    limiter: Limiter,
    handler: () => Promise<Response>,
    around: (made: Promise<Response>) => unknown,
  ): Promise<void> => {
    const handle = fetchLimit({ limiter, key }).wrap(handler)
    await around(handle(new Request('http://localhost/')))
  }

  it('a handler that throws gives its slot back', async () => {
    const limiter = slots()
    await answered(
      limiter,
      async () => failed(),
      (made) => expect(made).rejects.toThrow('after next'),
    )
    await expect.poll(() => left(limiter), SOON).toBe(3)
  })

  it('code around the limit that drops its response cancels the body', async () => {
    const limiter = slots()
    await answered(
      limiter,
      async () => new Response('all'),
      async (made) => {
        const { body } = await made
        expect(await left(limiter)).toBe(2)
        await body?.cancel()
      },
    )
    await expect.poll(() => left(limiter), SOON).toBe(3)
  })
})

describe('hono: a middleware around the limit', () => {
  const send = async (around: MiddlewareHandler): Promise<{ text: string; limiter: Limiter }> => {
    const limiter = slots()
    const app = new Hono()
    app.use(around)
    app.use(honoLimit({ limiter, key }))
    app.get('/', (c) => c.text('all'))
    const response = await app.request('/')
    expect(await left(limiter)).toBe(2)
    const text = await response.text()
    await expect.poll(() => left(limiter), SOON).toBe(3)
    return { text, limiter }
  }

  it('that sends the body on in another response holds the slot until it was sent', async () => {
    const { text } = await send(async (c, next) => {
      await next()
      c.res = new Response(c.res.body?.pipeThrough(new TransformStream()), c.res)
    })
    expect(text).toBe('all')
  })

  it('that sets a field, or the same response again, holds the slot until it was sent', async () => {
    const { text } = await send(async (c, next) => {
      await next()
      c.header('x-more', '1')
      const { res } = c
      c.res = undefined
      c.res = res
    })
    expect(text).toBe('all')
  })

  it('that sends another response holds the slot until that was sent', async () => {
    const { text } = await send(async (c, next) => {
      await next()
      c.res = new Response('other')
    })
    expect(text).toBe('other')
  })
})
