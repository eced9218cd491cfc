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
 * Starts a redis-server with a folder that is removed when it stops. It keeps nothing on disk, unless arguments say so.
 * @param binary the program
 * @param chosen the port, so that it can come back where it was; default a free one
 * @param file of settings
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

/** As the documentation advises: nothing is queued or sent again while the server is away, and it is soon back. */
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

/** The same of a cluster, where a command whose connection was lost would be sent again unless configured not to. */
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

/** Any answer to PING will do: a server with a password refuses, a lonely replica complains, but they are there. */
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
