import { keySlot } from './key-slot.ts'
import { type ConnectionState, isEmitter, untilConnectedOf } from './first-connection.ts'
import { openingOf } from './opening.ts'
import { type Connections, type RedisPort, validClient } from './redis-port.ts'

/** The part of an ioredis client (version 5 or 6) that is used; iovalkey has the same. */
export interface IoredisLike {
  /** A command of any name, with texts of its reply as bytes. */
  callBuffer(command: string, ...args: (string | number)[]): Promise<unknown>
  /** The socket, where it has been opened. */
  readonly stream?: { destroy(): unknown; readonly errored?: unknown } | undefined
  /** What became of its connection, such as `connecting`. */
  readonly status?: string
  connect?(): Promise<unknown>
}

/** What an ioredis `Cluster` has besides. */
interface ClusterLike {
  nodes(): readonly IoredisNode[]
  /** By slot the addresses of its nodes, the primary's first. */
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
 * An ioredis or iovalkey client as the store's port: of one server, of one that Sentinel watches, or a `Cluster`. The client stays
 * the caller's: it is neither configured nor closed, but a connection that has fallen silent is ended so that it makes another. For
 * limits that stay exact through a lost connection create it with `autoResendUnfulfilledCommands: false` and `maxRetriesPerRequest: 0`,
 * a Cluster with `retryDelayOnFailover: 0`; for no queue while the server is away, with `enableOfflineQueue: false`: calls wait for the first connection all
 * the same, within their deadlines.
 * @throws LimiterError INVALID_OPTIONS for what is no such client
 */
export function ioredis(client: IoredisLike): RedisPort {
  const valid = validClient('ioredis', 'ioredis or iovalkey', client, ['callBuffer'])
  const cluster = asCluster(valid)
  return {
    ...(cluster === undefined ? {} : { cluster: true }),
    evalsha: (sha1, keys, args) => valid.callBuffer('evalsha', sha1, keys.length, ...keys, ...args),
    eval: (source, keys, args) => valid.callBuffer('eval', source, keys.length, ...keys, ...args),
    connections: { of: cluster === undefined ? () => valid : nodeOf(cluster), replace },
    ...firstConnection(valid),
  }
}

const OPENING: readonly unknown[] = ['wait', 'connecting', 'connect']
const STATES: Readonly<Record<string, ConnectionState>> = { ready: 'connected', end: 'ended' }
const CHANGES = ['ready', 'close', 'end']
/** Of a Cluster. */
const NODE_ERROR = 'node error'

/** Without its offline queue the client refuses calls until it is ready, also those of its first milliseconds. */
function firstConnection(client: IoredisLike): Pick<RedisPort, 'opening' | 'untilConnected'> {
  if (typeof client.status !== 'string' || !isEmitter(client)) return {}
  // With `lazyConnect` it connects when it is first called.
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
  return 'nodes' in client && typeof client.nodes === 'function' && 'slots' in client ? (client as ClusterLike) : undefined
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
  // A Cluster sends ASKING before what is redirected and forgets it: rejected, it would be nobody's and end the process.
  for (const queue of [commandQueue, offlineQueue]) for (const { command } of queue?.toArray?.() ?? []) command?.promise?.catch(() => {})
  stream?.destroy()
}
