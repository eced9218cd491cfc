import type { Store } from 'sluice'
import type { Engine } from 'sluice/policy'

/** Whether decisions can be made, and how: the status and body of /readyz. */
export interface Readiness {
  readonly status: 200 | 503
  readonly body: { readonly status: string; readonly store?: string }
}

/** A lost store is degraded, not dead: ready as long as the policy lets requests pass or decides here. */
export async function readinessOf({ policy: { failure } }: Engine, store: Store, draining: boolean): Promise<Readiness> {
  if (draining) return { status: 503, body: { status: 'draining' } }
  try {
    await store.ready({ deadline: performance.now() + failure.deadlineMs })
    return { status: 200, body: { status: 'ready' } }
  } catch (error) {
    const closed = failure.policy === 'deny'
    const why = error instanceof Error ? error.message : String(error)
    return { status: closed ? 503 : 200, body: { status: closed ? 'unavailable' : 'degraded', store: why } }
  }
}
