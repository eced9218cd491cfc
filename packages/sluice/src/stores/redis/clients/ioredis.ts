import { hasMethods, requireMethods } from '../../../errors/options.ts'
import { keySlot } from '../key-slot.ts'
import { type ConnectionState, isEmitter, openingOf, untilConnectedOf } from './first-connection.ts'
import type { Connections, RedisPort } from './redis-port.ts'

/** The part of an ioredis client (version 5 or 6) that the store uses; iovalkey has the same members. */
export interface IoredisLike {
  /** Runs a command of any name. Texts in its reply are bytes. */
  callBuffer(command: string, ...args: (string | number)[]): Promise<unknown>
  /** The socket, once it has been opened. */
  readonly stream?: { destroy(): unknown; readonly errored?: unknown } | undefined
  /** The state of its connection, such as `connecting`. */
  readonly status?: string
  /** Makes the first connection of a client with `lazyConnect`. */
  connect?(): Promise<unknown>
}

/** The additional members of an ioredis `Cluster`. */
interface ClusterLike {
  nodes(): readonly IoredisNode[]
  /** For each slot, the addresses of the nodes that serve it, the primary's first. */
  readonly slots: readonly (readonly string[] | undefined)[]
}

interface IoredisNode {
  readonly options: { readonly host?: string; readonly port?: number }
  readonly stream?: { destroy(): unknown } | undefined
  readonly commandQueue?: Queue
  readonly offlineQueue?: Queue
}

interface Queue {
  toArray?(): readonly { readonly command?: { readonly promise?: Promise<unknown> } }[]
}

/**
 * Adapts an ioredis or iovalkey client to the store's port. The client may be of one server, of one that Sentinel watches, or a `Cluster`.
 * The caller owns the client: the adapter neither configures nor closes it. If a connection gives no replies any more, the adapter ends it,
 * so that the client makes another. For limits that stay exact when a connection is lost, create the client with
 * `autoResendUnfulfilledCommands: false` and `maxRetriesPerRequest: 0`, a Cluster also with `retryDelayOnFailover: 0`. To avoid a queue
 * while the server is unreachable, set `enableOfflineQueue: false`; calls still wait for the first connection, within their deadlines.
 * @throws LimiterError INVALID_OPTIONS for any other client
 */
export function ioredis(client: IoredisLike): RedisPort {
  requireMethods('ioredis', 'a client of ioredis or iovalkey', client, ['callBuffer'])
  const cluster = asCluster(client)
  return {
    ...(cluster === undefined ? {} : { cluster: true, nodeOf: (slot) => cluster.slots[slot]?.[0] }),
    evalsha: (sha1, keys, args) => client.callBuffer('evalsha', sha1, keys.length, ...keys, ...args),
    eval: (source, keys, args) => client.callBuffer('eval', source, keys.length, ...keys, ...args),
    connections: { of: cluster === undefined ? () => client : nodeOf(cluster), replace },
    ...firstConnection(client),
  }
}

const OPENING: readonly unknown[] = ['wait', 'connecting', 'connect']
const STATES: Readonly<Record<string, ConnectionState>> = { ready: 'connected', end: 'ended' }
const CHANGES = ['ready', 'close', 'end']
/** The event of a Cluster that carries the error of one of its nodes. */
const NODE_ERROR = 'node error'

/**
 * The members of the port with which calls wait for the first connection. Without an offline queue, a client refuses calls until it is
 * ready, even in its first milliseconds.
 */
function firstConnection(client: IoredisLike): Pick<RedisPort, 'opening' | 'untilConnected'> {
  if (typeof client.status !== 'string' || !isEmitter(client)) return {}
  // With `lazyConnect`, the client connects at its first call. A wait for the connection comes before that, so it must start the
  // connection.
  const begin = (): void => {
    if (client.status === 'wait') client.connect?.().catch(() => {})
  }
  const untilConnected = untilConnectedOf(client, {
    state: () => STATES[client.status ?? ''] ?? 'trying',
    lastError: () => client.stream?.errored ?? undefined,
    begin,
    changes: CHANGES,
    errors: [NODE_ERROR],
  })
  if (!OPENING.includes(client.status)) return { untilConnected }
  const opening = openingOf(client, CHANGES)
  return {
    untilConnected,
    opening() {
      const first = opening()
      if (first !== undefined) begin()
      return first
    },
  }
}

function asCluster(client: object): ClusterLike | undefined {
  return hasMethods(client, 'nodes') && 'slots' in client ? (client as ClusterLike) : undefined
}

function nodeOf(cluster: ClusterLike): Connections['of'] {
  return (key) => {
    const address = key === undefined ? undefined : cluster.slots[keySlot(key)]?.[0]
    if (address === undefined) return undefined
    return cluster.nodes().find(({ options }) => `${options.host}:${options.port}` === address)
  }
}

function replace(connection: object): void {
  const { commandQueue, offlineQueue, stream } = connection as IoredisNode
  // Before a redirected command, a Cluster sends ASKING, and nobody handles the promise of ASKING. A rejection of it would end the process,
  // so it is handled here.
  for (const queue of [commandQueue, offlineQueue]) for (const { command } of queue?.toArray?.() ?? []) command?.promise?.catch(() => {})
  stream?.destroy()
}
