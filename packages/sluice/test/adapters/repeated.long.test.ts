import { request as httpRequest, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { getConnInfo } from '@hono/node-server/conninfo'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit as expressLimit } from '../../src/adapters/express.ts'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as honoLimit } from '../../src/adapters/hono.ts'
import { rateLimit as koaLimit } from '../../src/adapters/koa.ts'
import { rateLimit as nodeLimit } from '../../src/adapters/node.ts'
import { createEngine, type Engine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { listen } from './listen.ts'
import { listenHono } from './listen-hono.ts'
import { listenKoa } from './listen-koa.ts'

const four = createRequire(import.meta.url)('express-4') as typeof express

/** The Headers of a platform, which are made line by line. */
function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  return headers
}

async function throughExpress(framework: typeof express, engine: Engine): Promise<string> {
  const app = framework()
  app.use(expressLimit({ engine }))
  app.use((_request, response) => void response.end('hello'))
  return opened(await listen(app))
}

function opened(served: { readonly url: string; close(): Promise<void> }): string {
  onTestFinished(() => served.close())
  return served.url
}

const ADAPTERS: readonly (readonly [string, (engine: Engine) => Promise<string>])[] = [
  [
    'node',
    async (engine) => {
      const limit = nodeLimit({ engine })
      return opened(await listen((request, response) => void limit(request, response).then((passed) => passed && response.end('hello'))))
    },
  ],
  ['express 5', (engine) => throughExpress(express, engine)],
  ['express 4', (engine) => throughExpress(four, engine)],
  [
    'fastify',
    async (engine) => {
      const app = fastify()
      app.addHook('onRequest', fastifyLimit({ engine }))
      app.get('*', () => 'hello')
      return opened({ url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() })
    },
  ],
  [
    'fetch',
    async (engine) => {
      const handler = fetchLimit<[string | undefined]>({ engine, address: (_request, peer) => peer }).wrap(() => new Response('hello'))
      return opened(
        await listen((message, response) => {
          const request = new Request(`http://localhost${message.url ?? '/'}`, { headers: headersOf(message) })
          void handler(request, message.socket.remoteAddress).then((answer) => response.writeHead(answer.status).end())
        }),
      )
    },
  ],
  [
    'hono',
    async (engine) => {
      const app = new Hono()
      app.use(honoLimit({ engine, address: (c) => getConnInfo(c).remote.address }))
      app.get('*', (c) => c.text('hello'))
      return opened(await listenHono(app))
    },
  ],
  [
    'koa',
    async (engine) => {
      const app = new Koa()
      app.use(koaLimit({ engine }))
      app.use((context) => void (context.body = 'hello'))
      return opened(await listenKoa(app))
    },
  ],
]

/** Adapters whose requests are Request objects. Such an object has repeated header lines joined, and its URL has been parsed. */
const BY_REQUEST = new Set(['fetch', 'hono'])

/** Sends header lines exactly as given here: a list of values becomes one line for each value. */
function send(url: string, path: string, headers: Record<string, string | string[]>): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    httpRequest({ hostname, port, path, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}

const POLICY = `
version: 1
rules:
  - { name: by-header, match: { path: /header }, key: ["header:x-api-key"], rate: 1/h, burst: 3 }
  - { name: by-token, match: { path: /token }, key: ["header:authorization"], rate: 1/h, burst: 3 }
  - { name: by-query, match: { path: /query }, key: ["query:k"], rate: 1/h, burst: 3 }
  - { name: by-cookie, match: { path: /cookie }, key: ["cookie:sid"], rate: 1/h, burst: 3 }
  - { name: by-agent, match: { path: /agent }, key: ["header:user-agent"], rate: 1/h, burst: 3 }
  - { name: by-weight, match: { path: /weight }, key: [], rate: 1/h, burst: 30, cost: { from: header:x-weight, max: 30 } }
`

describe.each(ADAPTERS)('S8: what identifies and appears more than once is one shared value: %s', (_name, start) => {
  const url = () => start(createEngine({ policy: parsePolicy(POLICY), store: memoryStore() }))
  const passed = async (count: number, one: (index: number) => Promise<number>): Promise<number> => {
    let allowed = 0
    for (let index = 0; index < count; index += 1) if ((await one(index)) === 200) allowed += 1
    return allowed
  }

  it.each([
    ['after', (index: number) => ['real', `junk${index}`]],
    ['before', (index: number) => [`junk${index}`, 'real']],
    ['around', (index: number) => [`junk${index}`, 'real', `more${index}`]],
    ['empty', (index: number) => ['real', ...Array.from({ length: index + 1 }, () => '')]],
    ['the same', () => ['real', 'real']],
  ])('a header, with another line %s', async (_where, lines) => {
    const base = await url()
    expect(await passed(5, (index) => send(base, '/header', { 'x-api-key': lines(index) }))).toBe(3)
    expect(await send(base, '/header', { 'x-api-key': 'real' })).toBe(200)
  })

  it('a field of which node keeps the first line only', async () => {
    const base = await url()
    expect(await passed(5, (index) => send(base, '/token', { authorization: [`Bearer junk${index}`, 'Bearer real'] }))).toBe(3)
    expect(await send(base, '/token', { authorization: 'Bearer real' })).toBe(200)
  })

  it.each([
    ['with another one', (index: number) => `k=junk${index}&%6b=real`],
    ['behind a semicolon', (index: number) => `x=1;k=real&k=junk${index}`],
    ['before a semicolon', (index: number) => `k=real;x=${index}`],
  ])('a parameter of the query, %s', async (_where, query) => {
    const base = await url()
    expect(await passed(5, (index) => send(base, `/query?${query(index)}`, {}))).toBe(3)
    expect(await send(base, '/query?k=real', {})).toBe(200)
  })

  it.each([
    ['on one line', (index: number) => `sid=junk${index}; sid=real`],
    ['on two lines', (index: number) => [`sid=junk${index}`, 'sid=real']],
    ['with a comma', (index: number) => `sid=real, sid=junk${index}`],
    ['in quotes', (index: number) => `sid="junk${index}"; other=1; sid=real`],
  ])('a cookie %s', async (_where, cookies) => {
    const base = await url()
    expect(await passed(5, (index) => send(base, '/cookie', { cookie: cookies(index) }))).toBe(3)
    expect(await send(base, '/cookie', { cookie: 'sid=real; other=1' })).toBe(200)
  })

  it('a User-Agent, but not one with a comma in its comment', async () => {
    const base = await url()
    const browser = (version: number) => `Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0`
    expect(await passed(4, (index) => send(base, '/agent', { 'user-agent': browser(index) }))).toBe(4)
    expect(await passed(5, (index) => send(base, '/agent', { 'user-agent': [browser(1), `junk${index}`] }))).toBe(3)
  })

  it('U10: of a cost that appears twice the highest cost is charged', async () => {
    const base = await url()
    expect(await send(base, '/weight', { 'x-weight': ['10', '20'] })).toBe(200)
    expect(await send(base, '/weight', { 'x-weight': '11' })).toBe(429)
    expect(await send(base, '/weight', { 'x-weight': '10' })).toBe(200)
  })
})

describe.each(ADAPTERS.filter(([name]) => !BY_REQUEST.has(name)))('S8: lines are distinguished from commas: %s', (_name, start) => {
  it('a value with a comma on one line is a value of its own', async () => {
    const url = await start(createEngine({ policy: parsePolicy(POLICY), store: memoryStore() }))
    for (let index = 0; index < 6; index += 1) expect(await send(url, '/header', { 'x-api-key': `a, ${index}` })).toBe(200)
  })
})

describe.each(ADAPTERS)('S9: a target that cannot be read is a bad request: %s', (name, serve) => {
  const BOMB = '/a;%2f..%5c%252e%252e%253b//x/../y;z%2f%5c;%2f'

  it('400 with a problem body, and nothing is charged', async () => {
    const engine = createEngine({
      policy: parsePolicy('version: 1\nrules: [{ name: a, match: { path: /api/*/edit }, key: ["query:k"], rate: 1/h, burst: 3 }]'),
      store: memoryStore(),
    })
    const base = await serve(engine)
    // The parser of a URL resolves the dots of the third.
    const targets = ['/api/1#/edit', '/api/1/edit?k=junk#&k=real', ...(BY_REQUEST.has(name) ? [] : [BOMB])]
    for (const target of targets)
      for (let index = 0; index < 5; index += 1) expect([target, await send(base, target, {})]).toEqual([target, 400])
    for (let index = 0; index < 5; index += 1) expect(await send(base, '/api/1/edit?k=real', {})).toBe(index < 3 ? 200 : 429)
  })
})
