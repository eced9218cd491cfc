import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, findRedis, freePort, startEngine } from '@sluice/scripts/engines'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { inject } from 'vitest'

const found = inject('engines').redis === undefined ? undefined : findRedis()

/** Where there is no server program, faults cannot be made. */
export const noRedis: boolean = found === undefined || 'missing' in found

export interface PrivateRedis extends Engine {
  readonly port: number
}

/** A Redis of the test's own, on a port that may be chosen, so that it can come back where it was, and with a file of settings. */
export async function privateRedis(extra: readonly string[] = [], chosen?: number, file?: string): Promise<PrivateRedis> {
  if (found === undefined || 'missing' in found) throw new Error('there is no redis-server')
  const port = chosen ?? (await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'sluice-fault-'))
  const nothingKept = file === undefined ? ['--save', '', '--appendonly', 'no'] : [file]
  const args = [...nothingKept, '--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--shutdown-timeout', '0', ...extra]
  const engine = await startEngine(found.path, args, {
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
