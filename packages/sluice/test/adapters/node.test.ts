import type { IncomingMessage, ServerResponse } from 'node:http'
import { rateLimit } from '../../src/adapters/node.ts'
import { adapterSuite } from '../../src/testing/index.ts'
import { listen, OWN } from './listen.ts'

adapterSuite<IncomingMessage>('node', {
  header: ({ headers }, name) => headers[name]?.toString(),
  path: ({ url }) => url ?? '',
  serve: async (options, answer) => {
    const onDenied: Parameters<typeof rateLimit<IncomingMessage, ServerResponse>>[0]['onDenied'] = (_request, response, decision) => {
      response.statusCode = 418
      response.end(answer?.(decision))
    }
    const limit = rateLimit<IncomingMessage, ServerResponse>(answer === undefined ? options : { ...options, onDenied })
    return listen((request, response) => {
      limit(request, response).then(
        (passed) => {
          if (passed) response.writeHead(200, OWN).end('hello')
        },
        () => response.writeHead(500).end(),
      )
    })
  },
})
