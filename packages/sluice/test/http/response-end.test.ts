import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ResponseEnd } from '../../src/http/counting.ts'
import { finishAtEnd, finishedAfter } from '../../src/http/response-end.ts'
import { listen } from '../adapters/listen.ts'

/** A passed request that records what is done with it when its response ends. */
function noted(): { readonly log: string[]; release(): void; settle(end: ResponseEnd): void } {
  const log: string[] = []
  return {
    log,
    release: () => void log.push('release'),
    settle: ({ status, whole, response }) => void log.push(`${status} ${whole ? 'whole' : 'left'} ${String(response)}`),
  }
}

interface Fake extends EventEmitter {
  destroyed: boolean
  statusCode: number
  headersSent: boolean
  writableEnded: boolean
  end(...values: unknown[]): unknown
}

/** A response, as far as it is read. */
function fake(state: Partial<Fake> = {}): Fake {
  const end = function end(this: Fake, ...values: unknown[]): unknown {
    this.writableEnded = true
    return ['ended', this.statusCode, ...values]
  }
  return Object.assign(new EventEmitter(), { destroyed: false, statusCode: 200, headersSent: false, writableEnded: false, end }, state)
}

describe('the end of a response of node', () => {
  it('releases and settles what its handler has ended, with the status of then', () => {
    const raw = fake()
    const { log, ...passage } = noted()
    finishAtEnd(raw, passage, 'r')
    expect([log, raw.listenerCount('finish'), raw.listenerCount('close')]).toEqual([[], 1, 1])
    raw.statusCode = 201
    raw.writableEnded = true
    raw.emit('finish')
    expect(log).toEqual(['release', '201 whole r'])
  })

  it('listens to nothing if there is nothing to do; what only holds slots is only released', () => {
    const raw = fake()
    finishAtEnd(raw, {}, 'r')
    expect(raw.eventNames()).toEqual([])
    const { log, release } = noted()
    const own = raw.end
    finishAtEnd(raw, { release }, 'r')
    raw.emit('close')
    expect([log, raw.end]).toEqual([['release'], own])
    finishAtEnd(fake({ destroyed: true }), { release }, 'r')
    expect(log).toEqual(['release', 'release'])
  })

  it('whose client has left: is settled when its handler ends it, which works as before', () => {
    for (const destroyed of [true, false]) {
      const raw = fake({ destroyed })
      const { log, settle } = noted()
      finishAtEnd(raw, { settle }, 'r')
      if (!destroyed) {
        raw.emit('finish')
        raw.emit('close')
      }
      expect(log).toEqual([])
      raw.statusCode = 401
      expect(raw.end('a', 'b')).toEqual(['ended', 401, 'a', 'b'])
      expect(log).toEqual(['401 whole r'])
    }
  })

  it('whose client has left after its head was sent: is settled by that, and again at its end', () => {
    const raw = fake({ headersSent: true })
    const { log, settle } = noted()
    finishAtEnd(raw, { settle }, 'r')
    raw.emit('finish')
    raw.emit('close')
    expect(log).toEqual(['200 left r'])
    raw.end()
    expect(log).toEqual(['200 left r', '200 whole r'])
  })

  it('is settled although its end throws, and needs no function to end or to listen', () => {
    const { log, settle } = noted()
    const raw = fake({
      destroyed: true,
      end: () => {
        throw new Error('of end')
      },
    })
    finishAtEnd(raw, { settle }, 'r')
    expect(() => raw.end()).toThrow('of end')
    expect(log).toEqual(['200 whole r'])
    finishAtEnd({ destroyed: true, statusCode: 200 }, { settle }, 'r')
    finishAtEnd({ statusCode: 200 }, { settle }, 'r')
    expect(log).toHaveLength(1)
  })

  it('over a connection: once for a response that was sent, at once for one whose client has left before', async () => {
    const ends: string[] = []
    let leave = (): void => {}
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      if (request.url === '/left') {
        leave()
        await once(request.socket, 'close')
      }
      const { log, ...passage } = noted()
      finishAtEnd(response, passage, request.url)
      response.statusCode = 202
      response.end('all')
      if (response.destroyed) ends.push(log.join())
      else response.once('close', () => ends.push(log.join()))
    }
    const { url, close } = await listen((request, response) => void answer(request, response))
    onTestFinished(close)
    expect(await (await fetch(`${url}/sent`)).text()).toBe('all')
    await expect.poll(() => ends, { interval: 2 }).toEqual(['release,202 whole /sent,release,202 whole /sent'])
    const controller = new AbortController()
    leave = () => controller.abort()
    await expect(fetch(`${url}/left`, { signal: controller.signal })).rejects.toThrow('abort')
    await expect.poll(() => ends[1], { interval: 2 }).toBe('release,202 whole /left')
  })
})

describe('the end of a Response', () => {
  const request = (signal?: AbortSignal): { signal?: AbortSignal } => (signal === undefined ? {} : { signal })

  it('is the same response if there is nothing to do, or it has no body', () => {
    const { log, ...passage } = noted()
    const [plain, empty] = [new Response('all'), new Response(null, { status: 204 })]
    expect(finishedAfter(plain, {}, request())).toBe(plain)
    expect(finishedAfter(empty, passage, request(), 'c')).toBe(empty)
    expect(log).toEqual(['release', '204 whole c'])
  })

  it('comes with the last chunk, and nothing is read ahead', async () => {
    const { log, ...passage } = noted()
    let pulled = 0
    const chunks = ['a', 'b']
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1
          const chunk = chunks.shift()
          if (chunk === undefined) controller.close()
          else controller.enqueue(Buffer.from(chunk))
        },
      },
      { highWaterMark: 0 },
    )
    const sent = finishedAfter(new Response(body, { status: 203, headers: { 'x-own': '1' } }), passage, request(), 'c')
    await new Promise((resolve) => setImmediate(resolve))
    expect([pulled, log, sent.status, sent.headers.get('x-own')]).toEqual([0, [], 203, '1'])
    const reader = sent.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('a')
    expect([pulled, log]).toEqual([1, []])
    await reader?.read()
    expect(await reader?.read()).toEqual({ done: true, value: undefined })
    expect(log).toEqual(['release', '203 whole c'])
  })

  it('comes when it has failed, or its source has ended after it was cancelled, with the reason', async () => {
    const { log, ...passage } = noted()
    const failing = new ReadableStream({ pull: (controller) => controller.error(new Error('lost')) })
    await expect(finishedAfter(new Response(failing), passage, request(), 'c').text()).rejects.toThrow('lost')
    expect(log.splice(0)).toEqual(['release', '200 whole c'])
    const body = new ReadableStream({ cancel: async (reason) => void log.push(`cancel ${reason}`) })
    await finishedAfter(new Response(body), passage, request(), 'c').body?.cancel('why')
    expect(log.splice(0)).toEqual(['release', '200 left c', 'cancel why', 'release', '200 whole c'])
    const broken = new ReadableStream({ cancel: () => Promise.reject(new Error('of cancel')) })
    await expect(finishedAfter(new Response(broken), passage, request(), 'c').body?.cancel()).rejects.toThrow('of cancel')
    expect(log).toEqual(['release', '200 left c', 'release', '200 whole c'])
  })

  it('is known in part when its client leaves, or has left', async () => {
    const { log, ...passage } = noted()
    const controller = new AbortController()
    const body = (): ReadableStream => new ReadableStream({ start: (source) => source.close() })
    const sent = finishedAfter(new Response(body()), passage, request(controller.signal), 'c')
    expect(log).toEqual([])
    controller.abort()
    expect(log.splice(0)).toEqual(['release', '200 left c'])
    await sent.text()
    expect(log.splice(0)).toEqual(['release', '200 whole c'])
    finishedAfter(new Response(body()), passage, request(controller.signal), 'c')
    expect(log).toEqual(['release', '200 left c'])
  })
})
