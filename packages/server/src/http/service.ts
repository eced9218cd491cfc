import type { RequestListener } from 'node:http'
import type { Store } from 'sluice'
import { rateLimit } from 'sluice/node'
import type { Engine } from 'sluice/policy'
import { check, checks } from '../endpoints/check.ts'
import { DEMO_ENDPOINTS, demoBackend } from '../endpoints/demo.ts'
import { auth, decide } from '../endpoints/forward.ts'
import { alive } from '../endpoints/health.ts'
import { keyRoutes, topRoute } from '../endpoints/keys.ts'
import { putPolicy, showPolicy } from '../endpoints/policy.ts'
import { EVENT_STREAM, type Live } from '../page/live.ts'
import { overviewOf } from '../page/overview.ts'
import { pageRoutes } from '../page/page.ts'
import type { HeldOverrides } from '../policy/held-overrides.ts'
import type { HeldPolicy } from '../policy/held-policy.ts'
import { storeKindOf } from '../stores/ring.ts'
import type { AllReports } from '../workers/worker-group.ts'
import { type Admission, guarded } from './admin.ts'
import { Refusal, send, sendError, sendJson } from './answer.ts'
import { route, type Routed, type Routes } from './routes.ts'

export interface ServiceParts {
  readonly engine: Engine
  readonly store: Store
  readonly policy: HeldPolicy
  /** Replaces the policy, in all processes. */
  readonly replace: HeldPolicy['replace']
  readonly overrides: HeldOverrides
  readonly reports: AllReports
  readonly metricsType: string
  readonly live: Live
  /** Puts the demo backend behind the policy. */
  readonly demo: boolean
  /** Decides who may administer; if it is absent, nobody may. */
  readonly admission?: Admission | undefined
}

/** The decision service as a handler of `node:http`. Its own endpoints are never limited. */
export function createService(parts: ServiceParts): RequestListener {
  const routes = routesOf(parts)
  return (request, response) => {
    try {
      route(routes, request, response)?.catch((error: unknown) => sendError(response, error))
    } catch (error) {
      sendError(response, error)
    }
  }
}

function routesOf(parts: ServiceParts): Routes {
  const { engine, store, policy, replace, overrides, reports, metricsType, live, demo, admission } = parts
  const [kind, offered] = [storeKindOf(store), demo ? DEMO_ENDPOINTS : []]
  const limit = rateLimit({ engine })
  const keys = keyRoutes(engine, overrides, admission)
  const forward = (routed: Routed): Promise<void> => auth(engine, routed)
  const show = (routed: Routed): Promise<void> => showPolicy(policy, kind, routed)
  const put = (routed: Routed): Promise<void> => putPolicy(replace, kind, routed)
  const decision = (routed: Routed): Promise<void> => decide(engine, routed)
  return {
    exact: new Map([
      ['/v1/check', { POST: (routed: Routed) => check(engine, routed) }],
      ['/v1/checks', { POST: (routed: Routed) => checks(engine, routed) }],
      ['/v1/auth', forward],
      ['/v1/decision', decision],
      ['/v1/overview', { GET: ({ response }: Routed) => sendJson(response, 200, overviewOf(policy.current, offered)) }],
      ['/v1/events', { GET: (routed: Routed) => events(live, routed) }],
      ['/v1/policy', guarded(admission, { GET: show, PUT: put })],
      ['/v1/keys', topRoute(reports.top, admission)],
      ['/livez', { GET: alive }],
      ['/readyz', { GET: (routed: Routed) => ready(reports, routed) }],
      ['/metrics', { GET: async ({ response }: Routed) => send(response, 200, metricsType, await reports.metrics()) }],
      ...pageRoutes(),
    ]),
    // Envoy appends the path of the request to that of the endpoint.
    below: new Map([
      ['/v1/auth', forward],
      ['/v1/decision', decision],
      ['/v1/keys', keys],
    ]),
    dots: new Map([['/v1/keys', keys]]),
    async other({ request, response, path }) {
      if (!demo) throw new Refusal(404, `There is nothing at ${path.slice(0, 200)}.`)
      if (await limit(request, response)) demoBackend(path.toLowerCase(), response)
    },
  }
}

function events(live: Live, { request, response }: Routed): void {
  if (request.method === 'HEAD') return send(response, 200, EVENT_STREAM, '')
  if (!live.listen(response)) throw new Refusal(503, 'Too many listeners.')
}

async function ready(reports: AllReports, { response }: Routed): Promise<void> {
  const { status, body } = await reports.readiness()
  sendJson(response, status, body)
}
