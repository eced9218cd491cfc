import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Store } from 'sluice'
import { rateLimit } from 'sluice/node'
import type { PrometheusMetrics } from 'sluice/observe'
import type { Engine } from 'sluice/policy'
import { type Admission, guarded } from './admin.ts'
import { Refusal, send, sendError, sendJson } from './answer.ts'
import type { Counted } from '../page/busiest-keys.ts'
import { DEMO_ENDPOINTS, demoBackend } from '../endpoints/demo.ts'
import { check, checks } from '../endpoints/check.ts'
import { auth, decide } from '../endpoints/forward.ts'
import { alive, ready } from '../endpoints/health.ts'
import { keyRoutes, topRoute } from '../endpoints/keys.ts'
import { putPolicy, showPolicy } from '../endpoints/policy.ts'
import type { HeldOverrides } from '../policy/held-overrides.ts'
import type { HeldPolicy } from '../policy/held-policy.ts'
import { EVENT_STREAM, type Live } from '../page/live.ts'
import { overviewOf } from '../page/overview.ts'
import { pageRoutes } from '../page/page.ts'
import { type Asked, findHandler, type Routes } from './routes.ts'
import { storeKindOf } from '../stores/store-kind.ts'

export interface ServiceParts {
  readonly engine: Engine
  readonly store: Store
  readonly policy: HeldPolicy
  readonly overrides: HeldOverrides
  /** The counts of keys of each process. */
  readonly counted: () => Promise<readonly Counted[]>
  readonly metrics: PrometheusMetrics
  readonly live: Live
  /** Puts the demo backend behind the policy. */
  readonly demo: boolean
  /** Decides who may administer; if it is absent, nobody may. */
  readonly admission?: Admission | undefined
  /** Whether the service is about to end and not ready for more requests. */
  readonly draining?: () => boolean
}

/** The decision service as a handler of `node:http`. Its own endpoints are never limited. */
export function createService(parts: ServiceParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { engine, demo } = parts
  const routes = routesOf(parts)
  const limit = rateLimit({ engine })

  const behind = async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    if (!demo) throw new Refusal(404, 'Not Found', `There is nothing at ${path.slice(0, 200)}.`)
    if (await limit(request, response)) demoBackend(path.toLowerCase(), response)
  }
  return (request, response) => {
    try {
      const found = findHandler(routes, request, response)
      const answered = typeof found === 'function' ? found() : behind(request, response, found.path)
      answered?.catch((error: unknown) => sendError(response, error))
    } catch (error) {
      sendError(response, error)
    }
  }
}

function routesOf({
  engine,
  store,
  policy,
  overrides,
  counted,
  metrics,
  live,
  demo,
  admission,
  draining = () => false,
}: ServiceParts): Routes {
  const kind = storeKindOf(store)
  const keys = keyRoutes(engine, overrides, admission)
  return {
    exact: new Map([
      ['/v1/check', { POST: (asked: Asked) => check(engine, asked) }],
      ['/v1/checks', { POST: (asked: Asked) => checks(engine, asked) }],
      ['/v1/auth', (asked: Asked) => auth(engine, asked)],
      ['/v1/decision', (asked: Asked) => decide(engine, asked)],
      ['/v1/overview', { GET: ({ response }: Asked) => sendJson(response, 200, overviewOf(policy.current, demo ? DEMO_ENDPOINTS : [])) }],
      ['/v1/events', { GET: (asked: Asked) => events(live, asked) }],
      [
        '/v1/policy',
        guarded(admission, { GET: (asked) => showPolicy(policy, kind, asked), PUT: (asked) => putPolicy(policy, kind, asked) }),
      ],
      ['/v1/keys', topRoute(counted, admission)],
      ['/livez', { GET: alive }],
      ['/readyz', { GET: (asked: Asked) => ready(engine, store, draining, asked) }],
      ['/metrics', { GET: ({ response }: Asked) => send(response, 200, metrics.contentType, metrics.text()) }],
      ...pageRoutes(),
    ]),
    // Envoy appends the path of the request to that of the endpoint.
    below: new Map([
      ['/v1/auth', (asked: Asked) => auth(engine, asked)],
      ['/v1/decision', (asked: Asked) => decide(engine, asked)],
      ['/v1/keys', keys],
    ]),
    dots: new Map([['/v1/keys', keys]]),
  }
}

function events(live: Live, { request, response }: Asked): void {
  if (request.method === 'HEAD') return send(response, 200, EVENT_STREAM, '')
  if (!live.listen(response)) throw new Refusal(503, 'Service Unavailable', 'Too many listeners.')
}
