import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { All, Req, Res } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { rateLimit as expressLimit } from '../../src/adapters/express.ts'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.ts'
import { rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit as honoLimit } from '../../src/adapters/hono.ts'
import { rateLimit as koaLimit } from '../../src/adapters/koa.ts'
import { RateLimitGuard, RateLimitModule } from '../../src/adapters/nest.ts'
import { rateLimit as nodeLimit } from '../../src/adapters/node.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import type { Served } from '../../src/testing/adapter-bench.ts'
import { listen } from './listen.ts'
import { listenHono } from './listen-hono.ts'
import { listenKoa } from './listen-koa.ts'
import { controller, PLATFORMS, start } from './nest-apps.ts'

type Options = GateOptions<unknown>

/**
 * Returns the status that a path asks for, such as 200 for /200. For a path below /left, returns only after the client has left. For a path
 * below /begun, the response is the beginning of a body that never ends.
 */
async function statusOf({ url = '', socket }: IncomingMessage): Promise<{ status: number; begun: boolean }> {
  if (url.startsWith('/left/')) await once(socket, 'close')
  return { status: Number(url.split('/').at(-1)), begun: url.startsWith('/begun/') }
}

const endless = (): ReadableStream<Uint8Array> => new ReadableStream({ start: (controller_) => controller_.enqueue(Buffer.from('begun')) })

/** Answers through Node's response object. A body that has only begun is never ended. */
async function sendRaw(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, begun } = await statusOf(request)
  response.writeHead(status)
  if (begun) response.write('begun')
  else response.end('all')
}

/** One application for each adapter, behind a limiter. It answers with the status that a path asks for. */
export const APPS: readonly [name: string, serve: (options: Options) => Promise<Served>][] = [
  [
    'node',
    async (options) => {
      const limit = nodeLimit(options)
      return listen(
        (request, response) => void limit(request, response).then((passed) => (passed ? sendRaw(request, response) : undefined)),
      )
    },
  ],
  [
    'express',
    async (options) => {
      const app = express()
      app.use(expressLimit(options))
      app.use((request, response, next) => void sendRaw(request, response).catch(next))
      return listen(app)
    },
  ],
  [
    'koa',
    async (options) => {
      const app = new Koa()
      app.silent = true
      app.use(koaLimit(options))
      app.use(async (context) => {
        const { status, begun } = await statusOf(context.req)
        context.status = status
        context.body = begun ? Readable.from(endless()) : 'all'
      })
      return listenKoa(app)
    },
  ],
  [
    'fastify',
    async (options) => {
      const app = fastify({ forceCloseConnections: true })
      app.addHook('onRequest', fastifyLimit(options))
      app.get('/*', async (request, reply) => {
        const { status, begun } = await statusOf(request.raw)
        return reply.code(status).send(begun ? Readable.from(endless()) : 'all')
      })
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
    },
  ],
  [
    'hono',
    async (options) => {
      const app = new Hono<{ Bindings: { incoming: IncomingMessage } }>()
      app.use(honoLimit(options))
      app.get('/*', async (c) => {
        const { status, begun } = await statusOf(c.env.incoming)
        return c.body(begun ? endless() : 'all', status as 200)
      })
      return listenHono(app as unknown as Hono)
    },
  ],
  [
    'fetch',
    async (options) => {
      const { wrap } = fetchLimit<[{ incoming: IncomingMessage }]>(options)
      const handler = wrap(async (_request, { incoming }) => {
        const { status, begun } = await statusOf(incoming)
        return new Response(begun ? endless() : 'all', { status })
      })
      return listenHono({ fetch: handler } as unknown as Hono)
    },
  ],
  ...PLATFORMS.map(([name, platform, all]): (typeof APPS)[number] => [
    name,
    (options) => {
      const byRequest: MethodDecorator = (target, method) => {
        Req()(target, method, 0)
        Res()(target, method, 1)
      }
      interface Reply {
        readonly raw?: unknown
        status(code: number): { send(body: unknown): void }
      }
      const run = async (request: IncomingMessage & { raw?: IncomingMessage }, response: ServerResponse & Reply): Promise<void> => {
        if (response.raw === undefined) return sendRaw(request, response)
        const { status, begun } = await statusOf(request.raw ?? request)
        response.status(status).send(begun ? Readable.from(endless()) : 'all')
      }
      return start(platform, {
        imports: [RateLimitModule.forRoot(options)],
        controllers: [controller({ answer: { run, by: [All(all), byRequest] } })],
        providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
      })
    },
  ]),
]
