import type { IncomingMessage, ServerResponse } from 'node:http'
import { LimiterError, type Store } from 'sluice'
import { headersOf, problemOf } from 'sluice/http'
import { rateLimit } from 'sluice/node'
import type { PrometheusMetrics } from 'sluice/observe'
import { type Engine, normalizePath } from 'sluice/policy'
import { BadRequest, readJson, send, sendJson, sendProblem } from './answer.ts'
import { DEMO_ENDPOINTS, demoBackend } from './demo.ts'
import { EVENT_STREAM, type Live } from './live.ts'
import { overviewOf } from './overview.ts'
import { servePage } from './page.ts'
import { readQuestion } from './question.ts'

export interface ServiceParts {
  readonly engine: Engine
  readonly store: Store
  readonly metrics: PrometheusMetrics
  readonly live: Live
  /** Puts the demo backend behind the policy. */
  readonly demo: boolean
}

interface Target {
  readonly path: string
  readonly query: URLSearchParams
}

type Handler = (request: IncomingMessage, response: ServerResponse, target: Target) => Promise<void> | void

/** The decision service as a handler of `node:http`. Its own endpoints are never limited. */
export function createService(parts: ServiceParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { engine, metrics, live, demo } = parts
  const limit = rateLimit({ engine })
  const routes: ReadonlyMap<string, { readonly method: string; readonly handle: Handler }> = new Map([
    ['/v1/check', { method: 'POST', handle: (request, response, target) => check(parts, request, response, target) }],
    [
      '/v1/overview',
      { method: 'GET', handle: (_request, response) => sendJson(response, 200, overviewOf(engine.policy, demo ? DEMO_ENDPOINTS : [])) },
    ],
    ['/v1/events', { method: 'GET', handle: (request, response) => events(live, request, response) }],
    ['/livez', { method: 'GET', handle: (_request, response) => send(response, 200, 'text/plain', 'ok\n') }],
    ['/readyz', { method: 'GET', handle: (_request, response) => ready(parts, response) }],
    ['/metrics', { method: 'GET', handle: (_request, response) => send(response, 200, metrics.contentType, metrics.text()) }],
  ])

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = targetOf(request)
    const { path } = target
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = routes.get(path)
    if (route !== undefined) {
      if (method === route.method) return route.handle(request, response, target)
      response.setHeader('Allow', route.method)
      return sendProblem(response, 405, 'Method Not Allowed', `${path} answers ${route.method}.`)
    }
    if (method === 'GET' && servePage(path, response)) return
    if (!demo) return sendProblem(response, 404, 'Not Found', `There is nothing at ${path}.`)
    if (await limit(request, response)) demoBackend(path.toLowerCase(), response)
  }
  return (request, response) => {
    answer(request, response).catch((error: unknown) => refuse(response, error))
  }
}

/** A request is answered by the very spelling of its path that it is limited by: what reads two spellings can be evaded. */
function targetOf({ url = '/' }: IncomingMessage): Target {
  return { path: normalizePath(url), query: new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]) }
}

async function check({ engine }: ServiceParts, request: IncomingMessage, response: ServerResponse, { query }: Target): Promise<void> {
  const question = readQuestion(await readJson(request))
  const decision = 'key' in question ? await engine.decideKey(question) : await engine.decide(question)
  const { identity, ...told } = decision
  const asStatus = query.get('status') === 'http'
  if (!asStatus) return sendJson(response, 200, told)
  for (const [name, value] of headersOf(decision, identity, engine.headers)) response.setHeader(name, value)
  sendJson(response, decision.allowed ? 200 : problemOf(decision).status, told)
}

function events(live: Live, request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'HEAD') return send(response, 200, EVENT_STREAM, '')
  if (!live.listen(response)) sendProblem(response, 503, 'Service Unavailable', 'Too many listeners.')
}

/** A lost store is degraded, not dead: ready as long as the policy lets requests pass or decides here. */
async function ready({ engine, store }: ServiceParts, response: ServerResponse): Promise<void> {
  try {
    await store.ready({ deadline: performance.now() + engine.policy.failure.deadlineMs })
    sendJson(response, 200, { status: 'ready' })
  } catch (error) {
    const closed = engine.policy.failure.policy === 'deny'
    const why = error instanceof Error ? error.message : String(error)
    sendJson(response, closed ? 503 : 200, { status: closed ? 'unavailable' : 'degraded', store: why })
  }
}

/** Bad questions are the caller's (400); anything else is ours (500) and is told to the log, not to the caller. */
function refuse(response: ServerResponse, error: unknown): void {
  // Whoever left in the middle of a question gets no answer, and no line in the log.
  if (response.headersSent || response.destroyed || response.socket?.destroyed === true) return void response.destroy()
  // What was not read of the question would be taken for the next one.
  if (!response.req.complete) response.setHeader('Connection', 'close')
  if (error instanceof BadRequest || error instanceof LimiterError) return sendProblem(response, 400, 'Bad Request', error.message)
  process.stderr.write(`sluice: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  sendProblem(response, 500, 'Internal Server Error', 'The request could not be answered.')
}
