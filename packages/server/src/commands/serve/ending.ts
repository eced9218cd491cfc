import { setTimeout as pause } from 'node:timers/promises'
import type { Engine } from 'sluice/policy'
import type { Connections } from '../../http/connections.ts'
import type { DecisionLog } from '../../logs/decision-log.ts'
import type { ServiceStore } from './service-store.ts'

/** Milliseconds for responses under way at SIGTERM, then for closing store and decision log. Together they are less than five seconds. */
const DRAIN_MS = 4_000
const CLOSE_MS = 500

interface Closed {
  readonly followers: readonly { close(): void }[]
  readonly connections: Connections
  readonly engine: Engine
  readonly store: ServiceStore
  readonly decisionLog: DecisionLog
}

export async function end({ followers, connections, engine, store, decisionLog }: Closed): Promise<void> {
  for (const follower of followers) follower.close()
  await connections.drain(DRAIN_MS)
  await engine.close()
  // A server that does not answer must not keep this process alive.
  await Promise.race([Promise.all([store.close(), decisionLog.close()]), pause(CLOSE_MS)])
}
