import { type Store, StoreFailure } from 'sluice'
import type { Engine } from 'sluice/policy'
import { send } from '../http/answer.ts'
import type { Routed } from '../http/routes.ts'
import type { StoreHealth } from '../stores/store-health.ts'

/** `GET /livez`, which does not check the store. */
export function alive({ response }: Routed): void {
  send(response, 200, 'text/plain', 'ok\n')
}

/** The status and body of /readyz. */
export interface Readiness {
  readonly status: 200 | 503
  readonly body: {
    readonly status: string
    readonly store?: string
    readonly workers?: { readonly serving: number; readonly wanted: number }
  }
}

/**
 * Without the store, the service is `degraded` (200) under the failure policies `allow` and `local`, and `unavailable` (503) under `deny`.
 */
export async function readinessOf({ policy }: Engine, store: Store, draining: boolean, health?: StoreHealth): Promise<Readiness> {
  if (draining) return { status: 503, body: { status: 'draining' } }
  try {
    await store.ready({ deadline: performance.now() + policy.failure.deadlineMs })
    health?.answered()
    return { status: 200, body: { status: 'ready' } }
  } catch (error) {
    const closed = policy.failure.policy === 'deny'
    const why = error instanceof Error ? error.message : String(error)
    if (error instanceof StoreFailure) health?.failed(error.kind, why)
    return { status: closed ? 503 : 200, body: { status: closed ? 'unavailable' : 'degraded', store: health?.inWords(why) ?? why } }
  }
}
