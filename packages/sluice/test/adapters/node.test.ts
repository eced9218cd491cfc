import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit } from '../../src/adapters/node.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { adapterSuite } from '../../src/testing.ts'
import { manualClock } from '../../src/time/manual.ts'
import { listen, OWN } from './listen.ts'

adapterSuite<IncomingMessage>('node', {
  header: ({ headers }, name) => headers[name]?.toString(),
  path: ({ url }) => url ?? '',
  serve: async (options, answer, mayAnswer) => {
    const onDenied: Parameters<typeof rateLimit<IncomingMessage, ServerResponse>>[0]['onDenied'] = (_request, response, decision) => {
      response.statusCode = 418
      response.end(answer?.(decision))
    }
    const limit = rateLimit<IncomingMessage>(answer === undefined ? options : { ...options, onDenied })
    return listen((request, response) => {
      limit(request, response).then(
        async (passed) => {
          if (!passed) return
          await mayAnswer
          response.writeHead(200, OWN).end('hello')
        },
        () => response.writeHead(500).end(),
      )
    })
  },
})

describe('node', () => {
  // Its clock stands still: on the system clock, a pause of a second before the next request would leave `t=3599`.
  const limiter = () => createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }), clock: manualClock() })

  it('limits the compatible handlers of HTTP/2', async () => {
    const limited = rateLimit<Http2ServerRequest, Http2ServerResponse>({ limiter: limiter() })
    const server = createHttp2Server((request, response) => {
      void limited(request, response).then((passed) => (passed ? response.end('hello') : undefined))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    onTestFinished(() => {
      session.destroy()
      server.close()
    })
    const statuses: unknown[] = []
    for (let count = 0; count < 2; count += 1) {
      const stream = session.request({ ':path': '/' })
      stream.on('response', (headers) => statuses.push([headers[':status'], headers['ratelimit']]))
      stream.resume()
      await once(stream, 'close')
    }
    expect(statuses).toEqual([
      [200, '"default";r=0;t=3600'],
      [429, '"default";r=0;t=3600'],
    ])
  })

  it('counts all who come by a socket of the file system as one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
    const limited = rateLimit({ limiter: limiter() })
    const server = createServer(
      (request, response) => void limited(request, response).then((passed) => (passed ? response.end('hello') : undefined)),
    )
    const socketPath = join(folder, 'socket')
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    onTestFinished(async () => {
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true })
    })
    const status = () =>
      new Promise((resolve, reject) => {
        get({ socketPath, agent: false, headers: { 'x-forwarded-for': '1.1.1.1' } }, (answer) => resolve(answer.resume().statusCode)).on(
          'error',
          reject,
        )
      })
    expect([await status(), await status()]).toEqual([200, 429])
  })
})
