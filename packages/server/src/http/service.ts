import type { RequestListener } from 'node:http'
import type { Store } from 'sluice'
import { rateLimit } from 'sluice/node'
import type { Engine } from 'sluice/policy'
import { check, checks } from '../endpoints/check.ts'
import { DEMO_ENDPOINTS, demoBackend } from '../endpoints/demo.ts'
import { auth, decide } from '../endpoints/forward.ts'
import { alive } from '../endpoints/health.ts'
import { holdRoutes } from '../endpoints/holds.ts'
import { keyRoutes, topRoute } from '../endpoints/keys.ts'
import { putPolicy, sendPolicy } from '../endpoints/policy.ts'
import { regionRoute } from '../endpoints/regions.ts'
import { EVENT_STREAM, type Live } from '../page/live.ts'
import { pageRoutes } from '../page/page.ts'
import { freshReadings } from '../page/readings.ts'
import type { HeldOverrides } from '../policy/held-overrides.ts'
import type { HeldPolicy } from '../policy/held-policy.ts'
import type { HoldTokens } from '../identity/hold-tokens.ts'
import { REGION_PATH } from '../regions/peers.ts'
import type { Region } from '../regions/region.ts'
import { storeKindOf } from '../stores/ring.ts'
import type { ReadReports } from '../workers/messages.ts'
import { type Admission, guarded } from './admin.ts'
import { Refusal, send, sendError, sendJson } from './answer.ts'
import { route, type Routed, type Routes } from './routes.ts'

export interface ServiceParts {
  readonly engine: Engine
  readonly store: Store
  readonly policy: HeldPolicy
  /** In all processes. */
  readonly replace: HeldPolicy['replace']
  readonly overrides: HeldOverrides
  readonly reports: ReadReports
  readonly metricsType: string
  readonly live: Live
  readonly tokens: HoldTokens
  /** Whether other paths are limited by the policy and answered by the demo backend. */
  readonly demo: boolean
  /** If absent, nobody may administer. */
  readonly admission?: Admission | undefined
  /** Absent if the limits are not divided among regions. */
  readonly region?: Region | undefined
  /** Called with an error that gets 500. */
  unexpected(error: unknown): void
}

/** Its own endpoints are never limited. */
export function createService(parts: ServiceParts): RequestListener {
  const routes = routesOf(parts)
  const { unexpected } = parts
  return (request, response) => {
    try {
      route(routes, request, response)?.catch((error: unknown) => sendError(response, error, unexpected))
    } catch (error) {
      sendError(response, error, unexpected)
    }
  }
}

function routesOf(parts: ServiceParts): Routes {
  const { engine, store, policy, replace, overrides, reports, metricsType, live, tokens, demo, admission, region } = parts
  const [kind, offered] = [storeKindOf(store), demo ? DEMO_ENDPOINTS : []]
  const limit = rateLimit({ engine })
  const keys = keyRoutes(engine, overrides, admission)
  const forward = (routed: Routed): Promise<void> => auth(engine, routed)
  const show = ({ response }: Routed): Promise<void> => sendPolicy(response, policy.current, kind)
  const put = (routed: Routed): Promise<void> => putPolicy(replace, kind, routed)
  const decision = (routed: Routed): Promise<void> => decide(engine, routed)
  const proxied = { '/v1/auth': forward, '/v1/decision': decision }
  const overview = () => ({ ...freshReadings(policy.current), endpoints: offered, administration: admission !== undefined })
  return {
    exact: new Map([
      ['/v1/check', { POST: (routed: Routed) => check(engine, routed) }],
      ['/v1/checks', { POST: (routed: Routed) => checks(engine, routed) }],
      ...holdRoutes(engine, tokens),
      ...(region?.pull === undefined ? [] : [[REGION_PATH, { POST: region.pull }] as const]),
      ['/v1/regions', guarded(admission, regionRoute(region))],
      ...Object.entries(proxied),
      ['/v1/overview', { GET: ({ response }: Routed) => sendJson(response, 200, overview()) }],
      ['/v1/events', { GET: (routed: Routed) => events(live, routed) }],
      ['/v1/policy', guarded(admission, { GET: show, PUT: put })],
      ['/v1/keys', topRoute(reports.top, admission)],
      ['/livez', { GET: alive }],
      ['/readyz', { GET: (routed: Routed) => ready(reports, routed) }],
      ['/metrics', { GET: async ({ response }: Routed) => send(response, 200, metricsType, await reports.metrics()) }],
      ...pageRoutes(() => policy.current, reports.activity, region),
    ]),
    proxied,
    below: new Map([['/v1/keys', keys]]),
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

async function ready(reports: ReadReports, { response }: Routed): Promise<void> {
  const { status, body } = await reports.readiness()
  sendJson(response, status, body)
}
