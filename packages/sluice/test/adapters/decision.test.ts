import { createRequire } from 'node:module'
import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import { fastify } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit as expressLimit } from '../../src/adapters/express.ts'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.ts'
import { decisionOf, rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as nodeLimit, type RateLimited } from '../../src/adapters/node.ts'
import { createLimiter, type Decision, type Limiter, tokenBucket } from '../../src/index.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { listen } from './listen.ts'

const four = createRequire(import.meta.url)('express-4') as typeof express

interface Case {
  /** Limiters that each request comes to, one after another. */
  readonly limiters: readonly Limiter[]
  readonly skip?: boolean
  /** Begins the response before the limits. */
  readonly begin?: boolean
  onDenied?(decision: Decision | undefined): void
}
/** Starts a server. Its handler ends the response with the decision that the handler sees. */
type Start = (served: Case) => Promise<string>

const seen = (decision: Decision | undefined): string =>
  decision === undefined ? 'nothing' : `${decision.outcome} ${decision.limits.map(({ name, remaining }) => `${name}=${remaining}`).join()}`

const opened = (served: { readonly url: string; close(): Promise<void> }): string => {
  onTestFinished(() => served.close())
  return served.url
}

const throughExpress = (framework: typeof express): Start => {
  return async ({ limiters, skip = false, begin = false, onDenied }) => {
    const app = framework()
    if (begin) app.use((_request, response, next) => (response.write('begun, '), next()))
    for (const limiter of limiters)
      app.use(
        expressLimit({
          limiter,
          skip: () => skip,
          ...(onDenied === undefined
            ? {}
            : { onDenied: (request, response) => (onDenied(request.rateLimit), void response.end('denied')) }),
        }),
      )
    app.use((request, response) => void response.end(seen(request.rateLimit)))
    return opened(await listen(app))
  }
}

const ADAPTERS: readonly (readonly [string, Start])[] = [
  ['express 5', throughExpress(express)],
  ['express 4', throughExpress(four)],
  [
    'node',
    async ({ limiters, skip = false, begin = false, onDenied }) => {
      const limits = limiters.map((limiter) =>
        nodeLimit({
          limiter,
          skip: () => skip,
          ...(onDenied === undefined
            ? {}
            : { onDenied: (request, response: ServerResponse) => (onDenied(request.rateLimit), void response.end('denied')) }),
        }),
      )
      const handle = async (request: IncomingMessage & RateLimited, response: ServerResponse): Promise<void> => {
        if (begin) response.write('begun, ')
        for (const limit of limits) if (!(await limit(request, response))) return
        response.end(seen(request.rateLimit))
      }
      return opened(await listen((request, response) => void handle(request, response)))
    },
  ],
  [
    'fastify',
    async ({ limiters, skip = false, begin = false, onDenied }) => {
      const app = fastify()
      if (begin) app.addHook('onRequest', async (_request, reply) => void reply.raw.write('begun, '))
      for (const limiter of limiters)
        app.addHook(
          'onRequest',
          fastifyLimit({
            limiter,
            skip: () => skip,
            ...(onDenied === undefined ? {} : { onDenied: (request) => (onDenied(request.rateLimit), 'denied') }),
          }),
        )
      app.get('/', (request, reply) => {
        if (!begin) return reply.send(seen(request.rateLimit))
        reply.hijack()
        reply.raw.end(seen(request.rateLimit))
      })
      return opened({ url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() })
    },
  ],
]

const limiter = (name: string, burst: number): Limiter => createLimiter({ limits: { [name]: tokenBucket({ rate: '1/h', burst }) } })

describe.each(ADAPTERS)('U7: a handler sees the decision: %s', (_name, start) => {
  it('of the last limit, with what is left; and onDenied sees that of the denial', async () => {
    const denied: string[] = []
    const limiters = [limiter('wide', 5), limiter('narrow', 2)]
    const url = await start({ limiters, onDenied: (decision) => void denied.push(seen(decision)) })
    expect([(await sendRequest(url)).text, (await sendRequest(url)).text]).toEqual(['allowed narrow=1', 'allowed narrow=0'])
    expect([(await sendRequest(url)).text, denied]).toEqual(['denied', ['denied narrow=0']])
  })

  it('and none of a request that was skipped', async () => {
    expect((await sendRequest(await start({ limiters: [limiter('one', 1)], skip: true }))).text).toBe('nothing')
  })
})

describe.each(ADAPTERS)('U8: a denial after the head was sent ends the answer: %s', (_name, start) => {
  it('and what may pass goes on', async () => {
    const url = await start({ limiters: [limiter('one', 1)], begin: true })
    expect(await sendRequest(url)).toMatchObject({ status: 200, text: 'begun, allowed one=0' })
    expect(await sendRequest(url)).toMatchObject({ status: 200, text: 'begun, ' })
  })
})

describe('U7: a handler sees the decision: fetch', () => {
  it('by decisionOf, for this request object only', async () => {
    const shown: string[] = []
    const skip = ({ headers }: Request): boolean => headers.has('x-skip')
    const limit = fetchLimit({
      limiter: limiter('one', 1),
      key: () => 'all',
      skip,
      onDenied: (request) => (shown.push(seen(decisionOf(request))), new Response('denied')),
    })
    const handler = limit.wrap(
      (request) => (shown.push(seen(decisionOf(request)), seen(decisionOf(request.clone()))), new Response('hello')),
    )
    await handler(new Request('http://localhost/'))
    await handler(new Request('http://localhost/'))
    await handler(new Request('http://localhost/', { headers: { 'x-skip': '1' } }))
    expect(shown).toEqual(['allowed one=0', 'nothing', 'denied one=0', 'nothing', 'nothing'])
    const [checked, unchecked] = [new Request('http://localhost/'), new Request('http://localhost/')]
    await limit.check(checked)
    expect([seen(decisionOf(checked)), seen(decisionOf(unchecked))]).toEqual(['denied one=0', 'nothing'])
  })
})
