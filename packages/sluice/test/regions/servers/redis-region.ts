import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { ioredis, redisStore } from '../../../src/redis.ts'
import type { Store } from '../../../src/stores/store.ts'
import { advised, advisedBySentinel, type PrivateRedis, startPrivateRedis } from '../../faults/redis-server.ts'
import { SENTINEL_NAME, startSentinels } from '../../faults/sentinel-servers.ts'
import { tcpProxy } from '../../faults/tcp-proxy.ts'
import { until } from '../../faults/until.ts'
import { nowMicros } from './trace.ts'

/** The servers of a region, and the stores of its processes. */
export interface RegionServer {
  readonly kind: string
  /** The stores of the region's processes. The first process sends and receives units. */
  readonly stores: readonly Store[]
  stop(): Promise<void>
}

export interface LosableRedis extends RegionServer {
  save(): Promise<void>
  kill(): Promise<void>
  /** Starts the server that was killed. @param snapshot true: with what was saved last; false: empty */
  start(snapshot: boolean): Promise<void>
}

export interface FailingOver extends RegionServer {
  /**
   * Cuts the sentinels, the replica and the first process off from the primary, which still answers the second process. Waits until the
   * replica is promoted. Returns an instant just before the promotion, in microseconds since 1970.
   */
  failOver(): Promise<number>
  /** Ends the old primary, which has answered until now. Returns the instant. */
  killOld(): Promise<number>
}

const RING = { deadline: '2s' } as const
const SNAPSHOT = 'saved.rdb'
/**
 * After so many milliseconds of silence, sentinels take the primary for dead: before the failover, and from then on. If the machine stops
 * for a moment, nothing must be promoted early.
 */
const [PATIENT_MS, DOWN_MS] = [600_000, 1_500]
/** Sentinels that were stopped for 2 s promote nothing for 30 s. */
const PROMOTED_MS = 60_000

const storeOf = (client: Redis): Store => redisStore({ client: ioredis(client), ring: RING })

/** Two processes on one redis-server. @param appends whether it has an append-only file */
export async function redisRegion(binary: string, appends: boolean): Promise<LosableRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-region-'))
  const appendonly = appends ? 'yes' : 'no'
  let server: PrivateRedis = await startPrivateRedis(binary, ['--dir', folder, '--appendonly', appendonly])
  const clients = [advised(server.port), advised(server.port)] as const
  const [client] = clients
  return {
    kind: `Redis, appendonly ${appendonly}`,
    stores: clients.map(storeOf),
    async save() {
      await client.save()
      copyFileSync(join(folder, 'dump.rdb'), join(folder, SNAPSHOT))
    },
    async kill() {
      server.signal('SIGKILL')
      await server.stop()
    },
    async start(snapshot) {
      for (const name of readdirSync(folder)) if (name !== SNAPSHOT) rmSync(join(folder, name), { recursive: true })
      if (snapshot) copyFileSync(join(folder, SNAPSHOT), join(folder, 'dump.rdb'))
      // With an append-only file, a server does not read snapshots.
      server = await startPrivateRedis(binary, ['--dir', folder], server.port)
      await until('the client is connected', async () => (await client.config('SET', 'appendonly', appendonly)) === 'OK')
    },
    async stop() {
      for (const one of clients) one.disconnect()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A region with two processes. The first finds its server through sentinels, and the second knows only the address of the first primary.
 */
export async function sentinelRegion(binary: string): Promise<FailingOver> {
  let link: Awaited<ReturnType<typeof tcpProxy>> | undefined
  const through = async (port: number): Promise<number> => {
    link = await tcpProxy(port, () => 0)
    return link.port
  }
  const servers = await startSentinels(binary, { through, allThrough: true, downAfterMs: PATIENT_MS })
  const { primary, replica } = servers
  const clients = [advisedBySentinel(servers.sentinels, SENTINEL_NAME), advised(primary.port)]
  return {
    kind: 'Redis, Sentinel and a replica',
    stores: clients.map(storeOf),
    async failOver() {
      if ((await servers.primaryPort()) === replica.port) throw new Error('the replica was promoted already')
      for (const { host, port } of servers.sentinels) await impatient(port, host)
      let before = nowMicros()
      link?.blackhole()
      const isPromoted = async (): Promise<boolean> => {
        const asked = nowMicros()
        if ((await servers.primaryPort()) === replica.port) return true
        before = asked
        return false
      }
      await until('the replica is promoted', isPromoted, PROMOTED_MS)
      return before
    },
    async killOld() {
      primary.signal('SIGKILL')
      await primary.stop()
      return nowMicros()
    },
    async stop() {
      for (const one of clients) one.disconnect()
      await servers.stop()
      await link?.stop()
    },
  }
}

async function impatient(port: number, host: string): Promise<void> {
  const client = new Redis(port, host)
  try {
    await client.call('SENTINEL', 'SET', SENTINEL_NAME, 'down-after-milliseconds', DOWN_MS)
  } finally {
    client.disconnect()
  }
}
