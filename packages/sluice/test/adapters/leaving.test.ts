import { connect } from 'node:net'
import { once } from 'node:events'
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as honoLimit } from '../../src/adapters/hono.ts'
import { rateLimit as koaLimit } from '../../src/adapters/koa.ts'
import { rateLimit as nodeLimit } from '../../src/adapters/node.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import { concurrency, createLimiter, fixedWindow, type Limiter } from '../../src/index.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { manualClock } from '../../src/time/manual.ts'
import { Hono } from 'hono'
import Koa from 'koa'
import { listenHttp2 } from './listen-http2.ts'
import { APPS } from './status-apps.ts'

const key = (): string => 'k'

// The clocks stand still: no hold ends by itself.
const slots = (): Limiter => createLimiter({ limit: concurrency({ limit: 3, holdMs: 60_000 }), clock: manualClock() })
const tokens = (): Limiter => createLimiter({ limit: fixedWindow({ limit: 3, window: '1h' }), maxHolds: 3, clock: manualClock() })

const SOON = { interval: 2 }

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function left(limiter: Limiter): Promise<number | undefined> {
  return (await limiter.peek('k')).limits[0]?.remaining
}

describe.each(APPS)('%s', (_name, serve) => {
  const served = async (limiter: Limiter, options: GateOptions<unknown> = {}): Promise<string> => {
    const { url, close } = await serve({ limiter, key, ...options })
    onTestFinished(close)
    return url
  }
  const takesThree = async (limiter: Limiter, options?: GateOptions<unknown>): Promise<void> => {
    const { port, hostname } = new URL(await served(limiter, options))
    const socket = connect(Number(port), hostname).on('error', () => {})
    // Three requests are sent on one connection. The first response never ends, so the other two wait behind it: one response has ended,
    // one has not.
    socket.write(['/begun/200', '/200', '/left/200'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
    await once(socket, 'data')
    // Each request takes one of three slots. Adapters that read a body into a buffer count the ended response as sent, and so give its slot
    // back. The other two slots stay taken.
    await expect.poll(() => left(limiter), SOON).toBeLessThan(2)
    socket.destroy()
  }

  it('requests that wait behind others of their connection give their slots back when the client leaves', async () => {
    const limiter = slots()
    await takesThree(limiter)
    await expect.poll(() => left(limiter), SOON).toBe(3)
  })

  it('and are settled by the responses of their handlers', async () => {
    const limiter = tokens()
    await takesThree(limiter, { countWhen: 'failure' })
    await expect.poll(() => left(limiter), SOON).toBe(3)
  })

  it('the response to HEAD, whose body nobody reads, gives its slot back and is settled', async () => {
    const limiter = slots()
    expect((await sendRequest(await served(limiter), { path: '/200', method: 'HEAD' })).status).toBe(200)
    await expect.poll(() => left(limiter), SOON).toBe(3)
    const counted = tokens()
    const url = await served(counted, { cost: 3, actualCost: () => 1 })
    expect((await sendRequest(url, { path: '/200', method: 'HEAD' })).status).toBe(200)
    await expect.poll(() => left(counted), SOON).toBe(2)
  })
})

describe('a signal that aborts while the handler is at work gives the slot back', () => {
  const never = (): Promise<Response> => new Promise(() => {})
  const aborted = async (limiter: Limiter, send: (request: Request) => unknown): Promise<void> => {
    const controller = new AbortController()
    void send(new Request('http://localhost/', { signal: controller.signal }))
    await expect.poll(() => left(limiter), SOON).toBe(2)
    controller.abort()
    await expect.poll(() => left(limiter), SOON).toBe(3)
  }

  it('fetch', async () => {
    const limiter = slots()
    await aborted(limiter, fetchLimit({ limiter, key }).wrap(never))
  })

  it('hono', async () => {
    const limiter = slots()
    const app = new Hono()
    app.use(honoLimit({ limiter, key }))
    app.get('/', never)
    await aborted(limiter, (request) => app.fetch(request))
  })
})

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void

const HTTP2_APPS: readonly [name: string, listener: (options: GateOptions<unknown>) => Listener][] = [
  [
    'node',
    (options) => {
      const limit = nodeLimit<Http2ServerRequest, Http2ServerResponse>(options)
      return (request, response) => void limit(request, response).then((passed) => (passed ? response.end('all') : undefined))
    },
  ],
  [
    'koa',
    (options) => {
      const app = new Koa()
      app.silent = true
      app.use(koaLimit(options))
      app.use((context) => void (context.body = 'all'))
      const handle = app.callback()
      return (request, response) => void handle(request as never, response as never)
    },
  ],
]

describe.each(HTTP2_APPS)('%s: a stream of HTTP/2 that its client cancels while its key is read', (_name, listener) => {
  const cancelled = async (limiter: Limiter, options: GateOptions<unknown> = {}): Promise<void> => {
    let found = (_key: string): void => {}
    let asked = (_request: Http2ServerRequest): void => {}
    const request = new Promise<Http2ServerRequest>((resolve) => (asked = resolve))
    const keyOf = (): Promise<string> => new Promise((resolve) => (found = resolve))
    const handle = listener({ limiter, key: keyOf, ...options })
    const { session, close } = await listenHttp2((incoming, response) => {
      handle(incoming, response)
      asked(incoming)
    })
    onTestFinished(close)
    const stream = session.request({ ':path': '/' }).on('error', () => {})
    const { stream: served } = await request
    stream.close(constants.NGHTTP2_CANCEL)
    if (!served.closed) await once(served, 'close')
    await turn()
    found('k')
    await turn()
  }

  it('gives its slot back', async () => {
    const limiter = slots()
    await cancelled(limiter)
    await expect.poll(() => left(limiter), SOON).toBe(3)
  })

  it('is settled by the response of its handler', async () => {
    const limiter = tokens()
    await cancelled(limiter, { countWhen: 'failure' })
    await expect.poll(() => left(limiter), SOON).toBe(3)
  })
})
