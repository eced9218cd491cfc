import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import { type PrivateRedis, startPrivateRedis } from './redis-server.ts'
import { until } from './until.ts'

export const SENTINEL_NAME = 'sluice'

export interface PrivateSentinel {
  readonly primary: PrivateRedis
  readonly replica: PrivateRedis
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  /** The port that sentinels name as the primary's. */
  primaryPort(): Promise<number>
  stop(): Promise<void>
}

export interface SentinelOptions {
  readonly sentinels?: number
  /** For how many milliseconds a primary must be silent until the sentinels take it for dead. */
  readonly downAfterMs?: number
  /** Returns the port at which the replica finds its primary. It is that of a proxy; by default the primary's own port. */
  readonly through?: (primaryPort: number) => Promise<number>
  /** Whether sentinels find the primary through that proxy too, and so do clients that ask these sentinels. */
  readonly allThrough?: boolean
}

const HOST = '127.0.0.1'

/** Starts a primary and its replica on free ports, watched by sentinels. @param binary the path of redis-server */
export async function startSentinels(binary: string, options: SentinelOptions = {}): Promise<PrivateSentinel> {
  const { sentinels: count = 3, downAfterMs = 500, through = async (port) => port, allThrough = false } = options
  const running: { stop(): Promise<void> }[] = []
  const clients: Redis[] = []
  const stop = async (): Promise<void> => {
    clients.forEach((client) => client.disconnect())
    // Sentinels first: they would start to fail over what is stopped.
    for (const one of running.toReversed()) await one.stop()
  }
  try {
    const primary = await startPrivateRedis(binary, ['--repl-diskless-sync-delay', '0'])
    running.push(primary)
    const link = await through(primary.port)
    // Clients connect to the replica's own port. Only the replica's link to its primary goes through the proxy.
    const replica = await startPrivateRedis(binary, ['--replicaof', `${HOST} ${link}`, '--repl-diskless-sync-delay', '0'])
    running.push(replica)
    const sentinels: { host: string; port: number }[] = []
    for (let index = 0; index < count; index += 1) {
      const one = await startSentinel(binary, allThrough ? link : primary.port, Math.floor(count / 2) + 1, downAfterMs)
      running.push(one)
      sentinels.push({ host: HOST, port: one.port })
    }
    for (const { port } of sentinels) {
      const client = new Redis(port, HOST, { retryStrategy: () => 50, maxRetriesPerRequest: 0 })
      client.on('error', () => {})
      clients.push(client)
    }
    const [first] = clients as [Redis]
    // After a pause of the machine of over two seconds, a sentinel fails nothing over for half a minute, longer than tests wait. Redis 6 has
    // no such setting.
    await until('every sentinel answers', () => Promise.all(clients.map((client) => client.ping())).then(() => true))
    for (const client of clients) await client.call('SENTINEL', 'DEBUG', 'tilt-period', '1000').catch(() => {})
    await until('every sentinel knows the replica and the others', async () => {
      const seen = await Promise.all(
        clients.map(async (client) => {
          const [replicas, others] = (await Promise.all([
            client.call('SENTINEL', 'REPLICAS', SENTINEL_NAME),
            client.call('SENTINEL', 'SENTINELS', SENTINEL_NAME),
          ])) as [unknown[], unknown[]]
          return replicas.length === 1 && others.length === count - 1
        }),
      )
      return seen.every(Boolean)
    })
    const primaryPort = async (): Promise<number> => {
      const [, port] = (await first.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', SENTINEL_NAME)) as [string, string]
      return Number(port)
    }
    return { primary, replica, sentinels, primaryPort, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startSentinel(binary: string, primaryPort: number, quorum: number, downAfterMs: number): Promise<PrivateRedis> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  const settings = [
    `sentinel monitor ${SENTINEL_NAME} ${HOST} ${primaryPort} ${quorum}`,
    `sentinel down-after-milliseconds ${SENTINEL_NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${SENTINEL_NAME} 3000`,
  ]
  writeFileSync(file, `${settings.join('\n')}\n`)
  const cleanUp = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const engine = await startPrivateRedis(binary, ['--sentinel'], port, file)
    return {
      ...engine,
      stop: async () => {
        await engine.stop()
        cleanUp()
      },
    }
  } catch (error) {
    cleanUp()
    throw error
  }
}
