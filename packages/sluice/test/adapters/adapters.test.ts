import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { rateLimit as expressLimit } from '../../src/adapters/express.ts'
import { rateLimit as nodeLimit } from '../../src/adapters/node.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'

const open: Server[] = []
const listen = async (server: Server): Promise<string> => {
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})
const limiter = () => createLimiter({ name: 'api', limit: tokenBucket({ rate: '1/min', burst: 2 }) })
type Options = Parameters<typeof expressLimit>[0]

/** The same questions to both adapters. */
const servers: [string, (options: Options) => Promise<string>][] = [
  [
    'node',
    (options) => {
      const limit = nodeLimit(options as never)
      return listen(
        createServer((request, response) => void limit(request, response).then((passed) => (passed ? response.end('hello') : undefined))),
      )
    },
  ],
  [
    'express',
    (options) => {
      const app = express()
      app.use('/', expressLimit(options) as never)
      app.get('/{*path}', (_request, response) => void response.end('hello'))
      return listen(createServer(app))
    },
  ],
]

describe.each(servers)('%s', (_name, serve) => {
  it('lets pass with headers, then answers 429 with a problem body', async () => {
    const url = await serve({ limiter: limiter() })
    for (const remaining of ['1', '0']) {
      const answer = await fetch(url)
      expect([answer.status, await answer.text(), answer.headers.get('ratelimit-remaining')]).toEqual([200, 'hello', remaining])
      expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=2;w=120')
    }
    const denied = await fetch(url)
    expect(denied.status).toBe(429)
    expect(denied.headers.get('content-type')).toBe('application/problem+json')
    expect(denied.headers.get('cache-control')).toBe('no-store')
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThanOrEqual(60)
    expect(await denied.json()).toMatchObject({ title: 'Quota Exceeded', status: 429, 'violated-policies': ['default'] })
  })

  it('believes no forwarding header of an untrusted peer, and one of a trusted proxy', async () => {
    const ask = async (url: string, address: string): Promise<number> =>
      (await fetch(url, { headers: { 'x-forwarded-for': address } })).status
    const direct = await serve({ limiter: limiter() })
    const statuses: number[] = []
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) statuses.push(await ask(direct, address))
    expect(statuses).toEqual([200, 200, 429])
    const proxied = await serve({ limiter: limiter(), trustedProxies: ['loopback'] })
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) expect(await ask(proxied, address)).toBe(200)
  })

  it('takes key, cost, skip and an answer of its own', async () => {
    const url = await serve({
      limiter: limiter(),
      key: (request) => String(request.headers['x-api-key']),
      cost: 2,
      skip: (request) => request.url === '/healthz',
      onDenied: (_request, response, decision) => {
        response.statusCode = 418
        response.setHeader('Content-Type', 'text/plain')
        response.end(`${decision.outcome} for ${decision.retryAfterMs} ms at ${decision.limitName}`)
      },
    })
    const ask = (path: string, key: string): Promise<Response> => fetch(url + path, { headers: { 'x-api-key': key } })
    expect((await ask('/', 'a')).status).toBe(200)
    const denied = await ask('/', 'a')
    expect([denied.status, denied.headers.get('content-type')]).toEqual([418, 'text/plain'])
    expect(await denied.text()).toMatch(/^denied for \d+ ms at default$/)
    expect((await ask('/', 'b')).status).toBe(200)
    const skipped = await ask('/healthz', 'a')
    expect([skipped.status, skipped.headers.has('ratelimit')]).toEqual([200, false])
  })
})

describe('misuse', () => {
  it.each([
    [{}, 'either limiter or engine'],
    [{ limiter: limiter(), max: 3 }, 'unknown option max'],
    [{ limiter: limiter(), trustedProxies: ['::ffff:10.0.0.0/8'] }, 'prefix of at least 96'],
  ])('%j is refused when the middleware is made', (options, message) => {
    expect(() => expressLimit(options as never)).toThrow(message)
    expect(() => nodeLimit(options as never)).toThrow(message)
  })

  it('a cost that is no cost goes to next(error)', async () => {
    const middleware = expressLimit({ limiter: limiter(), cost: () => -5 })
    const request = { method: 'GET', url: '/', originalUrl: '/', baseUrl: '', headers: {}, socket: { remoteAddress: '1.1.1.1' } }
    const error = await new Promise((resolve) => middleware(request, {} as never, resolve))
    expect(error).toMatchObject({ code: 'INVALID_COST' })
  })
})
