import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { decisionOf, rateLimit as fetchLimit } from '../../src/adapters/fetch.ts'
import { rateLimit, type RateLimited } from '../../src/adapters/node.ts'
import { createLimiter, type Decision, tokenBucket } from '../../src/index.ts'

/**
 * This file compiles with `sluice/node` and `sluice/fetch`. It is never run. The check `types` fails if a line does not compile. It also
 * fails if the line below an `@ts-expect-error` compiles.
 */
const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 20 }) })

// U2: the platform's own request, without an annotation.
const limit = rateLimit({ limiter, key: (request) => request.socket.remoteAddress ?? 'nobody' })
rateLimit({
  limiter,
  skip: (request) => request.httpVersionMajor < 1,
  onDenied: (_request, response) => void response.writeHead(429).end(),
})
// @ts-expect-error a property that the request does not have
rateLimit({ limiter, key: (request) => request.nothing })

// The response of the platform.
rateLimit({ limiter, countWhen: (response) => response.statusCode === 200, actualCost: (_response, request) => request.rawHeaders.length })
fetchLimit({ limiter, key: () => 'k', countWhen: ({ ok }, { method }) => ok && method === 'POST' })
// @ts-expect-error a property that the response does not have
fetchLimit({ limiter, key: () => 'k', countWhen: (response) => response.statusCode === 200 })

// U7: a handler sees the decision.
createServer((request: IncomingMessage & RateLimited, response) => {
  void limit(request, response).then(() => {
    const decision: Decision | undefined = request.rateLimit
    return decision?.allowed
  })
})
createServer((request, response) => void limit(request, response))

const http2 = rateLimit<Http2ServerRequest, Http2ServerResponse>({ limiter, key: (request) => request.authority })
createHttp2Server((request, response) => void http2(request, response))
// @ts-expect-error the request of another server
createServer((request, response) => void http2(request, response))

interface Account extends IncomingMessage {
  readonly account: string
}
const ofAccounts = rateLimit({ limiter, key: (request: Account) => request.account })
// @ts-expect-error a request without an account
createServer((request, response) => void ofAccounts(request, response))

// Requests of the platform, and what the platform passes after them.
fetchLimit({ limiter, key: (request) => request.headers.get('x-client') ?? 'nobody' }).wrap(() => new Response())
const platform = fetchLimit({ limiter, address: (_request, { ip }: { readonly ip: string }) => ip })
platform.wrap((request, { ip }) => new Response(`${ip} ${decisionOf(request)?.limits[0]?.remaining}`))
// @ts-expect-error without what the platform passes
void platform.check(new Request('http://localhost/'))
// @ts-expect-error a property that the request does not have
fetchLimit({ limiter, key: (request) => request.ip })
