import type { ServerOrder } from './order.ts'

/** `web-server.js ORDER`: a web server with or without a limit before its handler. It prints its address. Only what it uses is imported. */
const order = JSON.parse(process.argv[2] ?? '') as ServerOrder
const port = await listenerOf(order.framework)
process.stdout.write(`http://127.0.0.1:${port}\n`)

async function listenerOf(framework: ServerOrder['framework']): Promise<number> {
  switch (framework) {
    case 'node':
      return (await import('./servers/node.ts')).serveNode(order)
    case 'express':
      return (await import('./servers/express.ts')).serveExpress(order)
    case 'fastify':
      return (await import('./servers/fastify.ts')).serveFastify(order)
    case 'hono':
      return (await import('./servers/hono.ts')).serveHono(order)
  }
}
