import { setTimeout as pause } from 'node:timers/promises'
import type { Engine } from 'sluice/policy'
import type { Connections } from '../../http/connections.ts'
import type { DecisionLog } from '../../logs/decision-log.ts'
import type { ServiceStore } from './service-store.ts'

/**
 * Milliseconds: DRAIN_MS for the responses that are under way at SIGTERM, then CLOSE_MS for the store and the decision log to close.
 * Together they are less than five seconds.
 */
const DRAIN_MS = 4_000
const CLOSE_MS = 500

/** What a service closes at its end. */
interface Closed {
  /** The parts that watch for changes: of the policy, of the keys that verify tokens, and of the page's numbers (its event streams). */
  readonly followers: readonly { close(): void }[]
  readonly connections: Connections
  readonly engine: Engine
  readonly store: ServiceStore
  readonly decisionLog: DecisionLog
}

/** Ends a service: closes the followers, lets responses under way finish, then closes engine, store and decision log. */
export async function end({ followers, connections, engine, store, decisionLog }: Closed): Promise<void> {
  for (const follower of followers) follower.close()
  await connections.drain(DRAIN_MS)
  await engine.close()
  // A store's server that does not answer must not keep this process alive.
  await Promise.race([Promise.all([store.close(), decisionLog.close()]), pause(CLOSE_MS)])
}
