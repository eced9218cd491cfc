import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, freePort, startEngine } from '@sluice/scripts/engines'
import { Cluster, Redis, type RedisOptions } from 'ioredis'

export interface PrivateRedis extends Engine {
  readonly port: number
}

/**
 * Starts a redis-server in a folder that is removed when the server stops. It keeps nothing on disk, unless `extra` says so.
 * @param binary the path of the program
 * @param chosen the port, so that the server can be started again at the same place; by default a free one
 * @param file a file of settings
 */
export async function startPrivateRedis(
  binary: string,
  extra: readonly string[] = [],
  chosen?: number,
  file?: string,
): Promise<PrivateRedis> {
  const port = chosen ?? (await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'sluice-fault-'))
  const nothingKept = file === undefined ? ['--save', '', '--appendonly', 'no'] : [file]
  const args = [...nothingKept, '--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--shutdown-timeout', '0', ...extra]
  const engine = await startEngine(binary, args, {
    url: `redis://127.0.0.1:${port}`,
    ready: () => answers(port),
    cleanUp: () => rmSync(folder, { recursive: true, force: true }),
  })
  return { ...engine, port }
}

/** What a client sends to a server before its first command. */
export type Greeting = Pick<RedisOptions, 'enableReadyCheck' | 'disableClientInfo' | 'protocol'>

/**
 * The options that the documentation advises. While the server is away, the client queues nothing, and sends nothing again. It soon
 * reconnects.
 */
const ADVISED = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 500,
  retryStrategy: (times) => (times === 1 ? 1 : 50),
} satisfies RedisOptions

export function advised(port: number, options: Greeting = {}): Redis {
  const client = new Redis(port, '127.0.0.1', { ...ADVISED, ...options })
  client.on('error', () => {})
  return client
}

/** The same by way of sentinels. */
export function advisedBySentinel(sentinels: readonly { host: string; port: number }[], name: string): Redis {
  const client = new Redis({ ...ADVISED, sentinels: [...sentinels], name, sentinelRetryStrategy: () => 50 })
  client.on('error', () => {})
  return client
}

/**
 * A cluster client with the options that the documentation advises. Without them, it would send a command again after its connection was
 * lost.
 */
export function advisedCluster(nodes: readonly { host: string; port: number }[]): Cluster {
  const client = new Cluster([...nodes], {
    enableOfflineQueue: false,
    retryDelayOnFailover: 0,
    slotsRefreshTimeout: 500,
    clusterRetryStrategy: () => 50,
    redisOptions: { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, connectTimeout: 500 },
  })
  client.on('error', () => {})
  return client
}

/**
 * Whether a server answers a PING at all. A server with a password answers with an error, and so may a replica without its primary, but
 * both run.
 */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
  try {
    await once(socket, 'data', { signal: AbortSignal.timeout(500) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
