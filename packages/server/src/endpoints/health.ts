import type { Store } from 'sluice'
import type { Engine } from 'sluice/policy'
import { send, sendJson } from '../http/answer.ts'
import { readinessOf } from './readiness.ts'
import type { Asked } from '../http/routes.ts'

/** `GET /livez`: 200 while the process answers. It does not check the store; /readyz does. */
export function alive({ response }: Asked): void {
  send(response, 200, 'text/plain', 'ok\n')
}

/** `GET /readyz`: whether decisions can be made here, and how. */
export async function ready(engine: Engine, store: Store, draining: () => boolean, { response }: Asked): Promise<void> {
  const { status, body } = await readinessOf(engine, store, draining())
  sendJson(response, status, body)
}
