import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryStore, type Store } from 'sluice'
import { type PrometheusMetrics, prometheusMetrics, topKeys } from 'sluice/observe'
import { createEngine, type Engine, type EngineOptions, parsePolicy, type Pseudonym } from 'sluice/policy'
import { onTestFinished } from 'vitest'
import { adminAccess } from '../src/http/admin.ts'
import { createActivity } from '../src/page/activity.ts'
import { countedBy } from '../src/page/busiest-keys.ts'
import { readinessOf } from '../src/endpoints/health.ts'
import { holdTokens } from '../src/identity/hold-tokens.ts'
import { watchConnections } from '../src/http/connections.ts'
import { holdOverrides } from '../src/policy/held-overrides.ts'
import { type HeldPolicy, holdPolicy } from '../src/policy/held-policy.ts'
import { createLive } from '../src/page/live.ts'
import { serviceMetrics } from '../src/http/service-metrics.ts'
import { createService } from '../src/http/service.ts'

export const TOKEN = 'test-token-0123456789'
export const ADMIN = { authorization: `Bearer ${TOKEN}` }

export interface Local {
  readonly url: string
  readonly engine: Engine
  readonly policy: HeldPolicy
  readonly metrics: PrometheusMetrics
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
}

export interface LocalOptions {
  readonly store?: Store
  /** The URL of the store that a new policy may not change; by default the store of the first policy. */
  readonly storeUrl?: string
  readonly token?: string | undefined
  readonly pseudonym?: Pseudonym
  readonly claims?: EngineOptions['claims']
}

/** Runs the service in this process, on a free port. It is stopped when the test ends. */
export async function local(text: string, options: LocalOptions = {}): Promise<Local> {
  const { pseudonym, claims } = options
  const first = parsePolicy(text, { filename: 'first.yaml' })
  const store = options.store ?? memoryStore()
  const metrics = prometheusMetrics({
    read: serviceMetrics(store, () => ({ policy, ring: undefined, keys: undefined })),
  })
  const top = topKeys()
  const activity = createActivity(() => engine.policy)
  const engine = createEngine({
    policy: first,
    store,
    observers: [metrics, activity, top],
    ...(pseudonym === undefined ? {} : { pseudonym }),
    ...(claims === undefined ? {} : { claims }),
  })
  const policy = holdPolicy(
    first,
    options.storeUrl ?? first.store ?? 'memory:',
    async (next) => (await engine.prepare(next))(),
    async ({ text: source, filename, format }) => parsePolicy(source, { filename, ...(format === undefined ? {} : { format }) }),
  )
  const reports = {
    metrics: metrics.text,
    readiness: () => readinessOf(engine, store, false),
    top: async () => [countedBy(top)],
    activity: () => [activity.report()],
  }
  const live = createLive(reports.activity)
  const overrides = holdOverrides(engine, undefined)
  const admission = 'token' in options && options.token === undefined ? undefined : adminAccess(options.token ?? TOKEN).admits
  const server = createServer()
  const { replace } = policy
  const metricsType = metrics.contentType
  const parts = {
    engine,
    store,
    policy,
    replace,
    overrides,
    reports,
    metricsType,
    live,
    tokens: holdTokens(() => undefined, true),
    demo: false,
    admission,
    unexpected: () => {},
  }
  watchConnections(server, createService(parts))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
    await engine.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    engine,
    policy,
    metrics,
    post: (path, body, headers = {}) =>
      fetch(`${url}${path}`, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }
}
