import { hasMethods, requireMethods } from '../../../errors/options.ts'
import { keySlot } from '../key-slot.ts'
import { isEmitter, openingOf, untilConnectedOf } from './first-connection.ts'
import type { Connections, RedisPort } from './redis-port.ts'

interface EvalOptions {
  readonly keys: string[]
  readonly arguments: string[]
}

interface NodeRedisCommands {
  evalSha(sha1: string, options: EvalOptions): Promise<unknown>
  eval(source: string, options: EvalOptions): Promise<unknown>
}

/** What the store uses of node-redis (5 or 6). */
export interface NodeRedisLike extends NodeRedisCommands {
  /** Returns a view of the client whose commands have these options. */
  // oxlint-disable-next-line typescript/no-explicit-any -- its options depend on the modules it was made with
  withCommandOptions(options: any): NodeRedisCommands
}

/** The type of texts in replies (`$` in the protocol RESP). */
const BLOB_STRING = 36
const { Buffer } = globalThis as unknown as { readonly Buffer: unknown }
const COMMAND_OPTIONS = { timeout: 0, typeMapping: { [BLOB_STRING]: Buffer } }

/**
 * Adapts a client of node-redis (`createClient`, `createSentinel` or `createCluster`). The caller configures
 * (docs/stores/clients-and-topologies.md) and closes the client. Its timeout per command does not apply to the store's calls. A connection
 * that gives no replies any more is replaced, except with Sentinel. A client of Sentinel needs `maxCommandRediscovers: 0`, or it sends calls
 * again whose connection was lost.
 * @throws LimiterError INVALID_OPTIONS for any other client
 */
export function nodeRedis(client: NodeRedisLike): RedisPort {
  const methods = ['evalSha', 'eval', 'withCommandOptions']
  requireMethods('nodeRedis', 'a client of node-redis 5 or 6 (the package redis)', client, methods)
  if ('getSentinelNode' in client) return bySentinel(client as unknown as SentinelLike)
  const commands = client.withCommandOptions(COMMAND_OPTIONS)
  const cluster = asCluster(client)
  const connection = asConnection(client)
  const of = cluster === undefined ? connection && (() => connection) : ofNode(cluster)
  return {
    ...(cluster === undefined ? {} : { cluster: true, nodeOf: (slot) => cluster.slots[slot]?.master.address }),
    ...(of === undefined ? {} : { connections: { of, replace } }),
    ...firstConnection(client),
    evalsha: (sha1, keys, args) => commands.evalSha(sha1, { keys: [...keys], arguments: args.map(String) }),
    eval: (source, keys, args) => commands.eval(source, { keys: [...keys], arguments: args.map(String) }),
  }
}

/** What the store uses of a client of Sentinel. Only it has `getSentinelNode`. */
interface SentinelLike {
  sendCommand(isReadonly: boolean, args: readonly string[], options: object): Promise<unknown>
}

/**
 * Version 5 ignores `withCommandOptions` here. Before the first connection, calls wait in the client: not every version emits the events
 * that the store could wait for.
 */
function bySentinel(client: SentinelLike): RedisPort {
  const runAs = (command: string): RedisPort['eval'] => {
    return (program, keys, args) =>
      client.sendCommand(false, [command, program, String(keys.length), ...keys, ...args.map(String)], COMMAND_OPTIONS)
  }
  return { evalsha: runAs('EVALSHA'), eval: runAs('EVAL') }
}

/** If `connect()` was not awaited, the client is open but not ready. Without an offline queue it then refuses calls. */
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

interface Connection {
  readonly isReady: boolean
  destroy(): void
  connect(): Promise<unknown>
}

interface ClusterLike {
  /** The nodes by slot. A node's client is created at first use. */
  readonly slots: readonly ({ readonly master: { readonly address?: string; readonly client?: unknown } } | undefined)[]
}

/** Only a cluster's client has `nodeClient`. */
function asCluster(client: object): ClusterLike | undefined {
  return 'nodeClient' in client && 'slots' in client ? (client as ClusterLike) : undefined
}

function asConnection(client: unknown): Connection | undefined {
  const held = client as Connection | undefined
  return typeof held?.isReady === 'boolean' && hasMethods(held, 'destroy', 'connect') ? held : undefined
}

function ofNode(cluster: ClusterLike): Connections['of'] {
  return (key) => (key === undefined ? undefined : asConnection(cluster.slots[keySlot(key)]?.master.client))
}

/** Not while the connection is being made: a second attempt would leave two connections. */
function replace(connection: object): void {
  const { isReady } = connection as Connection
  if (!isReady) return
  ;(connection as Connection).destroy()
  ;(connection as Connection).connect().catch(() => {})
}
