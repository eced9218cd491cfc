import type { Cluster, Redis } from 'ioredis'
import { parseStoreUrl, type StoreUrl } from 'sluice/policy'
import { usage } from '../cli/failure.ts'
import { countByScan } from './key-count.ts'
import { type Opener, SILENCE_MS } from './opening.ts'
import { withoutPassword } from './store-name.ts'
import { readTlsFiles, type TlsFiles } from './tls-files.ts'
import { within } from './within.ts'

/** The client does not queue calls while the server is unreachable, and does not resend calls. */
export const redis: Opener = async ({ url, connectMs, space, folder }) => {
  const place = parseStoreUrl(url)
  if (place === undefined) throw usage(`store ${withoutPassword(url)} is not the URL of a store: expected redis://HOST:PORT/DATABASE`)
  if (place.scheme === 'redis+cluster' && Number(place.database ?? 0) !== 0)
    throw usage(`store ${withoutPassword(url)} names database ${place.database}: a cluster has database 0 alone`)
  const client = await clientOf(place, connectMs, folder)
  const { ioredis, redisStore } = await import('sluice/redis')
  const prefix = space === undefined ? 'sluice:' : `${space}:`
  let lastError: Error | undefined
  let unselected: Error | undefined
  client.on('error', (error: Error & { readonly command?: { readonly name?: unknown } }) => {
    lastError = error
    if (error.command?.name !== 'select') return
    // A failed SELECT leaves the client in database 0, so it reconnects before it sends a call.
    unselected = error
    client.disconnect(true)
  })
  // An earlier error does not explain a later failure.
  client.on('ready', () => {
    lastError = undefined
    unselected = undefined
  })
  return {
    // `untilConnected` is unset, because this service decides what to retry, and /readyz must not wait for an unreachable store.
    store: redisStore({
      client: { ...ioredis(client), untilConnected: undefined },
      ring: false,
      prefix,
    }),
    keeps: `limits are shared by all processes on ${SHARED.get(place.scheme) ?? 'this server'}`,
    // The client reconnects by itself once it has begun.
    begin: async () => (client.status === 'wait' || client.status === 'end' ? client.connect() : undefined),
    advise: () => adviceOn(client),
    async audit(request) {
      const { auditRedis } = await import('./audit/redis.ts')
      await within(2 * connectMs, client.connect()).catch((error: unknown) => {
        throw unselected ?? lastError ?? error
      })
      return auditRedis(client, place, request)
    },
    countKeys: countByScan(client, prefix),
    // A failed SELECT caused the later error on the dropped connection.
    reason: () => unselected ?? lastError,
    close: async () => client.disconnect(),
  }
}

const SHARED: ReadonlyMap<string, string> = new Map([
  ['redis+cluster', 'this cluster'],
  ['redis+sentinel', 'the primary that these sentinels name'],
])

async function clientOf(place: StoreUrl, connectMs: number, folder: string): Promise<Redis | Cluster> {
  const driver = await import('ioredis')
  const { hosts, primary } = place
  const secure = place.scheme === 'rediss' || place.parameters.get('tls') === 'true'
  const tls = secure ? readTlsFiles(place.parameters, { ca: 'ca', cert: 'cert', key: 'key' }, folder) : undefined
  const options = { ...optionsOf(place, connectMs, tls), lazyConnect: true }
  if (place.scheme === 'redis+cluster') {
    return new driver.Cluster([...hosts], {
      lazyConnect: true,
      enableOfflineQueue: false,
      // A command without a reply may have been charged.
      retryDelayOnFailover: 0,
      clusterRetryStrategy: pause,
      redisOptions: options,
    })
  }
  if (place.scheme !== 'redis+sentinel') return new driver.Redis({ ...options, ...hosts[0] })
  return new driver.Redis({
    ...options,
    sentinels: [...hosts],
    name: primary ?? '',
    sentinelRetryStrategy: pause,
    failoverDetector: true,
    // Without these, the client would connect to sentinels and primary without TLS.
    ...('tls' in options ? { sentinelTLS: options.tls, enableTLSForSentinelMode: true } : {}),
  })
}

function optionsOf({ username, password, database }: StoreUrl, connectMs: number, tls: TlsFiles | undefined) {
  return {
    connectTimeout: connectMs,
    socketTimeout: SILENCE_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: pause,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { db: Number(database) }),
    ...(tls === undefined ? {} : { tls }),
  }
}

/** None if this account may not read the settings. */
async function adviceOn(client: Redis | Cluster): Promise<readonly string[]> {
  const nodes = 'nodes' in client ? client.nodes('master') : [client]
  const texts = await Promise.all(nodes.map((node) => node.info().catch(() => '')))
  return [...new Set(texts.flatMap(adviceFrom))]
}

function adviceFrom(info: string): string[] {
  const setting = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]
  const isReplica = setting('role') === 'slave' && setting('slave_read_only') === '1'
  const policy = setting('maxmemory_policy') ?? 'noeviction'
  const evicting = `has maxmemory-policy ${policy}: what it evicts forgets what keys have used, and denied keys pass; set noeviction`
  return [
    ...(isReplica ? ['is a read-only replica, which can decide nothing; name its primary'] : []),
    ...(policy === 'noeviction' ? [] : [evicting]),
  ]
}

/** Milliseconds before the next attempt. Later pauses are random, so that processes do not all reconnect together. */
function pause(times: number): number {
  return times === 1 ? 1 : 10 + Math.random() * 190
}
