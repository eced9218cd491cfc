import { keySlot } from './key-slot.ts'
import { isEmitter, untilConnectedOf } from './first-connection.ts'
import { openingOf } from './opening.ts'
import { type Connections, type RedisPort, validClient } from './redis-port.ts'

interface EvalOptions {
  readonly keys: string[]
  readonly arguments: string[]
}

/** Commands of a node-redis client. */
interface NodeRedisCommands {
  evalSha(sha1: string, options: EvalOptions): Promise<unknown>
  eval(source: string, options: EvalOptions): Promise<unknown>
}

/** The part of a node-redis client (version 5 or 6) that is used. */
export interface NodeRedisLike extends NodeRedisCommands {
  // oxlint-disable-next-line typescript/no-explicit-any -- its options depend on the modules it was made with
  withCommandOptions(options: any): NodeRedisCommands
}

/** The type of texts in replies ($), which are wanted as they are. */
const BLOB_STRING = 36
const { Buffer } = globalThis as unknown as { readonly Buffer: unknown }

/**
 * A client of node-redis (`createClient`, `createSentinel` or `createCluster`) as the store's port. Its time-out per command is
 * switched off for the store's calls, whose deadlines share one timer. The client stays the caller's: it is neither configured nor
 * closed, but a connection that has fallen silent is destroyed and made again (not with Sentinel, which does not show its connections).
 * Create it with `disableOfflineQueue: true`; it never sends again what it has sent. For connections that fall silent while they are
 * made, give it a short `socket.connectTimeout`, a `socket.socketTimeout` with a `pingInterval` below that, and a `reconnectStrategy` that goes on.
 * @throws LimiterError INVALID_OPTIONS for what is no such client
 */
export function nodeRedis(client: NodeRedisLike): RedisPort {
  const valid = validClient('nodeRedis', 'node-redis 5 or 6 (the package redis)', client, ['evalSha', 'eval', 'withCommandOptions'])
  const commands = valid.withCommandOptions({ timeout: 0, typeMapping: { [BLOB_STRING]: Buffer } })
  const cluster = asCluster(valid)
  const of = cluster === undefined ? ofClient(valid) : ofNode(cluster)
  return {
    ...(cluster === undefined ? {} : { cluster: true }),
    ...(of === undefined ? {} : { connections: { of, replace } }),
    ...firstConnection(valid),
    evalsha: (sha1, keys, args) => commands.evalSha(sha1, { keys: [...keys], arguments: args.map(String) }),
    eval: (source, keys, args) => commands.eval(source, { keys: [...keys], arguments: args.map(String) }),
  }
}

/** A client whose `connect()` was not awaited is open and not yet ready: without its offline queue it refuses calls so long. */
function firstConnection(client: object): Pick<RedisPort, 'opening' | 'untilConnected'> {
  const held = client as { readonly isOpen?: unknown; readonly isReady?: unknown }
  if (typeof held.isOpen !== 'boolean' || typeof held.isReady !== 'boolean' || !isEmitter(client)) return {}
  const untilConnected = untilConnectedOf(client, {
    state: () => (held.isReady === true ? 'connected' : held.isOpen === true ? 'trying' : 'ended'),
    changes: ['ready', 'end'],
    errors: ['terminated'],
  })
  if (!held.isOpen || held.isReady) return { untilConnected }
  return { untilConnected, opening: openingOf(client, ['ready', 'reconnecting', 'end']) }
}

/** One connection and what keeps it. */
interface Connection {
  readonly isReady: boolean
  destroy(): void
  connect(): Promise<unknown>
}

interface ClusterLike {
  /** By slot the nodes; the client of a node is made when it is first asked for. */
  readonly slots: readonly ({ readonly master: { readonly client?: unknown } } | undefined)[]
}

/** Only a cluster is asked for the client of a node. */
function asCluster(client: object): ClusterLike | undefined {
  return 'nodeClient' in client && 'slots' in client ? (client as ClusterLike) : undefined
}

function asConnection(client: unknown): Connection | undefined {
  const held = client as Partial<Connection> | undefined
  const whole = typeof held?.isReady === 'boolean' && typeof held.destroy === 'function' && typeof held.connect === 'function'
  // A client of Sentinel has the same, and several connections behind it.
  return whole && !('getSentinelNode' in held) ? (held as Connection) : undefined
}

function ofClient(client: object): Connections['of'] | undefined {
  const connection = asConnection(client)
  return connection && (() => connection)
}

function ofNode(cluster: ClusterLike): Connections['of'] {
  return (key) => (key === undefined ? undefined : asConnection(cluster.slots[keySlot(key)]?.master.client))
}

/** One that is being made is left alone: a second attempt beside the first would leave two. */
function replace(connection: object): void {
  const { isReady } = connection as Connection
  if (!isReady) return
  ;(connection as Connection).destroy()
  ;(connection as Connection).connect().catch(() => {})
}
