import { keySlot } from '../key-slot.ts'
import { isEmitter, openingOf, untilConnectedOf } from './first-connection.ts'
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

/** The part of a node-redis client (version 5 or 6) that the store uses. */
export interface NodeRedisLike extends NodeRedisCommands {
  // oxlint-disable-next-line typescript/no-explicit-any -- its options depend on the modules it was made with
  withCommandOptions(options: any): NodeRedisCommands
}

/** The type of texts in replies ($), which are returned as bytes. */
const BLOB_STRING = 36
const { Buffer } = globalThis as unknown as { readonly Buffer: unknown }

/**
 * Adapts a client of node-redis (`createClient`, `createSentinel` or `createCluster`) to the store's port. It switches off the client's
 * timeout per command for the store's calls, whose deadlines share one timer. The caller owns the client: this neither configures nor
 * closes it. It does destroy and reopen a connection that has fallen silent (not with Sentinel, which does not expose its connections).
 * Create the client with `disableOfflineQueue: true`; it never resends a command. Some connections fall silent while they are made: give
 * it a short `socket.connectTimeout`, a `socket.socketTimeout` with a `pingInterval` below that, and a `reconnectStrategy` without an
 * end.
 * @throws LimiterError INVALID_OPTIONS for any other client
 */
export function nodeRedis(client: NodeRedisLike): RedisPort {
  const valid = validClient('nodeRedis', 'node-redis 5 or 6 (the package redis)', client, ['evalSha', 'eval', 'withCommandOptions'])
  const commands = valid.withCommandOptions({ timeout: 0, typeMapping: { [BLOB_STRING]: Buffer } })
  const cluster = asCluster(valid)
  const of = cluster === undefined ? ofClient(valid) : ofNode(cluster)
  return {
    ...(cluster === undefined ? {} : { cluster: true, nodeOf: (slot) => cluster.slots[slot]?.master.address }),
    ...(of === undefined ? {} : { connections: { of, replace } }),
    ...firstConnection(valid),
    evalsha: (sha1, keys, args) => commands.evalSha(sha1, { keys: [...keys], arguments: args.map(String) }),
    eval: (source, keys, args) => commands.eval(source, { keys: [...keys], arguments: args.map(String) }),
  }
}

/**
 * Waits for the first connection. A client whose `connect()` was not awaited is open and not yet ready: until then it refuses calls if it
 * has no offline queue.
 */
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

/** A connection and the methods to replace it. */
interface Connection {
  readonly isReady: boolean
  destroy(): void
  connect(): Promise<unknown>
}

interface ClusterLike {
  /** Nodes by slot; a node's client is created at its first use. */
  readonly slots: readonly ({ readonly master: { readonly address?: string; readonly client?: unknown } } | undefined)[]
}

/** Only a cluster has a client for each node. */
function asCluster(client: object): ClusterLike | undefined {
  return 'nodeClient' in client && 'slots' in client ? (client as ClusterLike) : undefined
}

function asConnection(client: unknown): Connection | undefined {
  const held = client as Partial<Connection> | undefined
  const whole = typeof held?.isReady === 'boolean' && typeof held.destroy === 'function' && typeof held.connect === 'function'
  // A client of Sentinel has the same methods, but several connections.
  return whole && !('getSentinelNode' in held) ? (held as Connection) : undefined
}

function ofClient(client: object): Connections['of'] | undefined {
  const connection = asConnection(client)
  return connection && (() => connection)
}

function ofNode(cluster: ClusterLike): Connections['of'] {
  return (key) => (key === undefined ? undefined : asConnection(cluster.slots[keySlot(key)]?.master.client))
}

/** Replaces a connection, unless it is still being made: a second attempt would leave two. */
function replace(connection: object): void {
  const { isReady } = connection as Connection
  if (!isReady) return
  ;(connection as Connection).destroy()
  ;(connection as Connection).connect().catch(() => {})
}
