import { LimiterError } from '../../../errors/limiter-error.ts'
import { hasMethods, requireMethods } from '../../../errors/options.ts'
import { keySlot } from '../key-slot.ts'
import { type ConnectionState, isEmitter, openingOf, untilConnectedOf } from './first-connection.ts'
import type { Connections, RedisPort } from './redis-port.ts'

/** What the store uses of ioredis (5 or 6) or iovalkey. */
export interface IoredisLike {
  /** Runs a command. Texts in its reply are bytes. */
  callBuffer(command: string, ...args: (string | number)[]): Promise<unknown>
  /** The socket, once it has been opened. */
  readonly stream?: { destroy(): unknown; readonly errored?: unknown } | undefined
  /** The state of the connection, such as `connecting`. */
  readonly status?: string
  /** Makes the first connection of a client with `lazyConnect`. */
  connect?(): Promise<unknown>
}

/** Methods that ioredis and iovalkey have, but do not declare. Their texts are bytes too. */
interface ScriptsLike {
  evalshaBuffer(sha1: string, count: number, ...args: (string | number)[]): Promise<unknown>
  evalBuffer(source: string, count: number, ...args: (string | number)[]): Promise<unknown>
}

interface ClusterLike {
  readonly options?: { readonly enableAutoPipelining?: boolean; readonly autoPipeliningIgnoredCommands?: readonly string[] }
  nodes(): readonly IoredisNode[]
  /** For each slot the addresses of its nodes, the primary's first. */
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
 * Adapts an ioredis or iovalkey client: of one server, of one that Sentinel watches, or a `Cluster`. The caller configures
 * (docs/stores/clients-and-topologies.md) and closes the client. A connection that gives no replies any more is ended, so that the client
 * makes another.
 * @throws LimiterError INVALID_OPTIONS for any other client, and for a `Cluster` with `enableAutoPipelining`
 */
export function ioredis(client: IoredisLike): RedisPort {
  requireMethods('ioredis', 'a client of ioredis or iovalkey', client, ['callBuffer'])
  const cluster = asCluster(client)
  if (cluster !== undefined) refuseAutoPipelining(cluster)
  const scripts = asScripts(client)
  return {
    ...(cluster === undefined ? {} : { cluster: true, nodeOf: (slot) => cluster.slots[slot]?.[0] }),
    evalsha: (sha1, keys, args) => scripts.evalshaBuffer(sha1, keys.length, ...keys, ...args),
    eval: (source, keys, args) => scripts.evalBuffer(source, keys.length, ...keys, ...args),
    connections: { of: cluster === undefined ? () => client : nodeOf(cluster), replace },
    ...firstConnection(client),
  }
}

const SCRIPT_COMMANDS = ['evalsha', 'eval']

/** Some versions refuse every pipeline with a program. Others send pipelines to the former node of a slot for ever (MOVED). */
function refuseAutoPipelining({ options }: ClusterLike): void {
  if (options?.enableAutoPipelining !== true) return
  if (SCRIPT_COMMANDS.every((name) => options.autoPipeliningIgnoredCommands?.includes(name))) return
  throw new LimiterError(
    'INVALID_OPTIONS',
    "ioredis: with enableAutoPipelining, calls of a Cluster fail. Leave it out, or set autoPipeliningIgnoredCommands: ['evalsha', 'eval']",
  )
}

/** With `enableAutoPipelining`, `callBuffer` loses the name of the command. */
function asScripts(client: IoredisLike): ScriptsLike {
  if (hasMethods(client, 'evalshaBuffer', 'evalBuffer')) return client as unknown as ScriptsLike
  return {
    evalshaBuffer: (...args) => client.callBuffer('evalsha', ...args),
    evalBuffer: (...args) => client.callBuffer('eval', ...args),
  }
}

const OPENING: readonly unknown[] = ['wait', 'connecting', 'connect']
const STATES: Readonly<Record<string, ConnectionState>> = { ready: 'connected', end: 'ended' }
const CHANGES = ['ready', 'close', 'end']
const NODE_ERROR = 'node error'

/** Without an offline queue, a client refuses calls until it is ready, even in its first milliseconds. */
function firstConnection(client: IoredisLike): Pick<RedisPort, 'opening' | 'untilConnected'> {
  if (typeof client.status !== 'string' || !isEmitter(client)) return {}
  // With `lazyConnect` a client connects only at its first call, but calls wait for the connection first.
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
  // A Cluster sends ASKING before a redirected command and ignores its promise. Unhandled, a rejection would end the process.
  for (const queue of [commandQueue, offlineQueue]) for (const { command } of queue?.toArray?.() ?? []) command?.promise?.catch(() => {})
  stream?.destroy()
}
