import { EventEmitter } from 'node:events'
import { type ClientHttp2Stream, connect, constants, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { rateLimit } from '../../src/adapters/node.ts'
import { createGate, type RequestReader } from '../../src/http/gate.ts'
import { onAborted, onClose } from '../../src/http/leaving.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'

describe('clients that leave', () => {
  it('a connection has one listener, however many requests of it wait', () => {
    const connection = Object.assign(new EventEmitter(), { destroyed: false })
    const fns = Array.from({ length: 20 }, () => vi.fn<() => void>())
    const stops = fns.map((fn) => onClose(connection, fn))
    expect(connection.listenerCount('close')).toBe(1)
    stops[0]?.()
    connection.emit('close')
    expect(fns.map((fn) => fn.mock.calls.length)).toEqual([0, ...Array.from({ length: 19 }, () => 1)])
    expect(connection.listenerCount('close')).toBe(0)
    const stop = onClose(connection, vi.fn<() => void>())
    stop()
    stop()
    expect(connection.listenerCount('close')).toBe(0)
  })

  it('a connection is listened to until the last request of it has ended, and each learns only once that it has closed', () => {
    const connection = Object.assign(new EventEmitter(), { destroyed: false })
    const [first, second, third] = [1, 2, 3].map(() => vi.fn<() => void>())
    const stop = onClose(connection, first as () => void)
    onClose(connection, second as () => void)
    const stopThird = onClose(connection, third as () => void)
    const close = connection.listeners('close')[0] as () => void
    stop()
    // `stop` is called twice. The second call must not count as the stop of another request.
    stop()
    stopThird()
    expect(connection.listenerCount('close')).toBe(1)
    close()
    close()
    expect([first, second, third].map((fn) => fn?.mock.calls.length)).toEqual([0, 1, 0])
  })

  it('are noticed by the signal of their request, once, unless that was ended', () => {
    const [controller, ended] = [new AbortController(), new AbortController()]
    const [fn, other] = [vi.fn<() => void>(), vi.fn<() => void>()]
    onAborted(controller, fn)
    onAborted(ended, other)()
    expect([fn.mock.calls.length, other.mock.calls.length]).toEqual([0, 0])
    controller.abort()
    ended.abort()
    expect([fn.mock.calls.length, other.mock.calls.length]).toEqual([1, 0])
  })

  it('are noticed at once if they have left', () => {
    const fn = vi.fn<() => void>()
    onClose({ destroyed: true }, fn)()
    onAborted({ signal: AbortSignal.abort() }, fn)()
    onAborted({}, fn)()
    expect(fn).toHaveBeenCalledTimes(2)
  })

  it('a stream of HTTP/2 that closes gives its place back, and the others of its connection wait on', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/min', burst: 1 }), clock })
    const limit = rateLimit<Http2ServerRequest, Http2ServerResponse>({ limiter, key: () => 'k', onDenied: 'wait', maxWaitMs: 600_000 })
    const server = createServer((request, response) => void limit(request, response).then((passed) => passed && response.end('hello')))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    onTestFinished(() => {
      session.destroy()
      server.close()
    })
    const missing = async (tokens: number): Promise<void> => {
      await expect.poll(async () => (await limiter.peek('k')).retryAfterMs, { interval: 5 }).toBe(tokens * 60_000)
    }
    const text = async (stream: ClientHttp2Stream): Promise<string> => {
      let body = ''
      for await (const chunk of stream) body += String(chunk)
      return body
    }
    expect(await text(session.request({ ':path': '/1' }))).toBe('hello')
    const second = text(session.request({ ':path': '/2' }))
    await missing(2)
    const third = session.request({ ':path': '/3' }).on('error', () => {})
    await missing(3)
    third.close(constants.NGHTTP2_CANCEL)
    await missing(2)
    clock.advance(60_000)
    expect(await second).toBe('hello')
  })

  it('do not pass, and errors of a wait are passed on', async () => {
    const reader: RequestReader<object> = {
      method: () => 'GET',
      target: () => '/',
      headers: () => ({}),
      onLeave: (_, leave) => (leave(), () => {}),
    }
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
    const gate = createGate({ limiter, key: () => 'k', onDenied: 'wait' } as object, reader)
    expect(await gate.check({}, undefined)).toEqual({ identity: '', left: true })
    const wrong = createGate({ limiter, key: () => '', onDenied: 'wait' } as object, { ...reader, onLeave: () => () => {} })
    await expect(wrong.check({}, undefined)).rejects.toMatchObject({ code: 'INVALID_KEY' })
  })

  it('engines do not wait', () => {
    const engine = { decide: () => Promise.reject(new Error('never')) }
    const reader: RequestReader<object> = { method: () => 'GET', target: () => '/', headers: () => ({}) }
    expect(() => createGate({ engine, onDenied: 'wait' } as object, reader)).toThrow(
      "onDenied: 'wait' is for a limiter; an engine decides at once",
    )
    expect(() => createGate({ limiter: { check() {} }, onDenied: 'wait' } as object, reader)).toThrow("with onDenied: 'wait'")
  })
})
