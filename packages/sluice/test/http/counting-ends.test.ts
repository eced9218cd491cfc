import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import Koa from 'koa'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type FetchOptions, rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as koaLimit } from '../../src/adapters/koa.ts'
import { rateLimit as nodeLimit } from '../../src/adapters/node.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import type { Limiter } from '../../src/index.ts'
import { listen } from '../adapters/listen.ts'
import { listenHttp2 } from '../adapters/listen-http2.ts'
import { listenKoa } from '../adapters/listen-koa.ts'
import { key, left, soon, tenTokens } from './counted.ts'

describe('what a request used, if its client leaves', () => {
  /** Serves a request whose handler has begun to answer, and calls `rest` only after the client has left. Returns the limiter. */
  const leaving = async (
    options: Omit<GateOptions<IncomingMessage, ServerResponse>, 'limiter' | 'key'>,
    rest: (response: ServerResponse) => void,
  ): Promise<Limiter> => {
    const limiter = tenTokens()
    const limit = nodeLimit({ limiter, key, cost: 8, ...options })
    const { url, close } = await listen((request, response) => {
      void limit(request, response).then(() => {
        response.write('begun')
        response.once('close', () => rest(response))
      })
    })
    onTestFinished(close)
    const controller = new AbortController()
    const answer = await fetch(url, { signal: controller.signal })
    await answer.body?.getReader().read()
    expect(await left(limiter)).toBe(2)
    controller.abort()
    return limiter
  }

  it('is settled when the handler ends its response nevertheless, once', async () => {
    let used = 3
    const limiter = await leaving({ actualCost: () => used }, (response) => {
      used = 5
      response.end('rest')
      response.end()
    })
    await soon(limiter, 5)
  })

  it('is what was reserved, if the handler never ends its response', async () => {
    const actualCost = vi.fn<() => number>(() => 1)
    let noticed = (): void => {}
    const isLeft = new Promise<void>((resolve) => (noticed = resolve))
    const limiter = await leaving({ countWhen: 'success', actualCost }, noticed)
    await isLeft
    expect([await left(limiter), actualCost.mock.calls.length]).toEqual([2, 0])
  })

  it('a handler of Koa that fails has made no response: a failure', async () => {
    for (const [countWhen, remaining] of [
      ['success', 10],
      ['failure', 2],
      [() => false, 2],
    ] as const) {
      const limiter = tenTokens()
      const app = new Koa()
      app.silent = true
      app.use(koaLimit({ limiter, key, cost: 8, countWhen }))
      let failed = (): void => {}
      const hasFailed = new Promise<void>((resolve) => (failed = resolve))
      app.use(async ({ req }) => {
        await once(req.socket, 'close')
        failed()
        throw new Error('of the handler')
      })
      const { url, close } = await listenKoa(app)
      onTestFinished(close)
      const controller = new AbortController()
      const sent = fetch(url, { signal: controller.signal }).catch(() => 'left')
      await soon(limiter, 2)
      controller.abort()
      expect(await sent).toBe('left')
      await hasFailed
      await soon(limiter, remaining)
    }
  })

  it('a stream of HTTP/2 that its client cancels is settled by the end that the handler makes', async () => {
    const limiter = tenTokens()
    const limit = nodeLimit<Http2ServerRequest, Http2ServerResponse>({ limiter, key, cost: 8, countWhen: 'failure' })
    let ended = (): void => {}
    const { session, close } = await listenHttp2((request, response) => {
      void limit(request, response).then(async () => {
        await once(response, 'close')
        response.statusCode = Number(request.url.slice(1))
        response.end()
        ended()
      })
    })
    onTestFinished(close)
    for (const status of [200, 401]) {
      const hasEnded = new Promise<void>((resolve) => (ended = resolve))
      const stream = session.request({ ':path': `/${status}` }).on('error', () => {})
      await soon(limiter, 2)
      stream.close()
      await hasEnded
      expect(await left(limiter)).toBe(status === 200 ? 10 : 2)
    }
  })
})

describe('what a Response used', () => {
  const handled = (
    limiter: Limiter,
    options: Partial<FetchOptions<[]>>,
    handler: () => Response,
    signal?: AbortSignal,
  ): Promise<Response> =>
    fetchLimit({ limiter, key, cost: 8, ...options }).wrap(handler)(
      new Request('http://localhost/', signal === undefined ? {} : { signal }),
    )
  const body = (source: UnderlyingDefaultSource<string>): ReadableStream<Uint8Array> =>
    new ReadableStream(source, { highWaterMark: 0 }).pipeThrough(new TextEncoderStream())

  it('is known at the end of its body, by the response and its request', async () => {
    const limiter = tenTokens()
    let tokens = 0
    const actualCost = (response: Response, request: Request): number => tokens + response.status + request.method.length
    const response = await handled(limiter, { actualCost }, () => {
      const words = ['a', 'b']
      return new Response(
        body({
          pull(controller) {
            const word = words.shift()
            tokens -= 100
            if (word === undefined) controller.close()
            else controller.enqueue(word)
          },
        }),
        { status: 299 },
      )
    })
    expect(await left(limiter)).toBe(2)
    expect(await response.text()).toBe('ab')
    expect([tokens, await left(limiter)]).toEqual([-300, 8])
  })

  it('is known when the reader has cancelled it, and its source has ended; or when it has failed', async () => {
    const limiter = tenTokens()
    let used = 8
    const cancelled = await handled(limiter, { actualCost: () => used }, () => {
      const source = { start: (controller: { enqueue(text: Uint8Array): void }) => controller.enqueue(Buffer.from('a')), cancel }
      async function cancel(): Promise<void> {
        await Promise.resolve()
        used = 1
      }
      return new Response(new ReadableStream(source))
    })
    await cancelled.body?.cancel()
    expect(await left(limiter)).toBe(9)
    const failing = await handled(
      limiter,
      { actualCost: () => 2 },
      () => new Response(body({ pull: () => Promise.reject(new Error('lost')) })),
    )
    await expect(failing.text()).rejects.toThrow('lost')
    expect(await left(limiter)).toBe(7)
  })

  it('is what was reserved, if the client left and nobody reads the body; its status counts all the same', async () => {
    const limiter = tenTokens()
    const endless = (): Response => new Response(body({}))
    await handled(limiter, { actualCost: () => 0, cost: 1 }, endless, AbortSignal.abort())
    await handled(limiter, { countWhen: 'success', cost: 1 }, endless, AbortSignal.abort())
    expect(await left(limiter)).toBe(8)
    await handled(limiter, { countWhen: 'failure' }, endless, AbortSignal.abort())
    expect(await left(limiter)).toBe(8)
    const controller = new AbortController()
    await handled(limiter, { countWhen: ({ status }) => status === 201 }, endless, controller.signal)
    expect(await left(limiter)).toBe(0)
    controller.abort()
    expect(await left(limiter)).toBe(8)
  })

  it('a response without a body has ended; a handler that fails has made none, which is a failure', async () => {
    const limiter = tenTokens()
    await handled(limiter, { countWhen: 'failure' }, () => new Response(null, { status: 204 }))
    expect(await left(limiter)).toBe(10)
    const fail = (): never => {
      throw new Error('of the handler')
    }
    await expect(handled(limiter, { countWhen: 'success', actualCost: () => 1 }, fail)).rejects.toThrow('of the handler')
    expect(await left(limiter)).toBe(10)
    for (const options of [{ countWhen: 'failure' }, { countWhen: () => false }, { actualCost: () => 0 }] as const)
      await expect(handled(limiter, { ...options, cost: 1 }, fail)).rejects.toThrow('of the handler')
    expect(await left(limiter)).toBe(7)
  })
})
