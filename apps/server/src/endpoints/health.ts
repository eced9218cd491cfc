import type { Store } from 'sluice'
import type { Engine } from 'sluice/policy'
import { send, sendJson } from '../answer.ts'
import type { Asked } from '../routes.ts'

/** `GET /livez`: the process answers. What it depends on is asked for by /readyz. */
export function alive({ response }: Asked): void {
  send(response, 200, 'text/plain', 'ok\n')
}

/** `GET /readyz`: a lost store is degraded, not dead: ready as long as the policy lets requests pass or decides here. */
export async function ready(engine: Engine, store: Store, draining: () => boolean, { response }: Asked): Promise<void> {
  if (draining()) return sendJson(response, 503, { status: 'draining' })
  const { deadlineMs, policy } = engine.policy.failure
  try {
    await store.ready({ deadline: performance.now() + deadlineMs })
    sendJson(response, 200, { status: 'ready' })
  } catch (error) {
    const closed = policy === 'deny'
    const why = error instanceof Error ? error.message : String(error)
    sendJson(response, closed ? 503 : 200, { status: closed ? 'unavailable' : 'degraded', store: why })
  }
}
