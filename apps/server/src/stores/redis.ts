import type { Cluster, Redis } from 'ioredis'
import { parseStoreUrl, type StoreUrl } from 'sluice/policy'
import { CommandFailure, EXIT } from '../failure.ts'
import { type Opening, SILENCE_MS } from './opening.ts'

const LONGEST_PAUSE_MS = 250

/** One server, one that sentinels watch, or a cluster: by a client that neither queues while the server is away nor sends anything twice. */
export async function redis(url: string, connectMs: number, space: string | undefined): Promise<Opening> {
  const place = parseStoreUrl(url)
  if (place === undefined) throw new CommandFailure(EXIT.usage, 'the URL of the store is not one: expected redis://HOST:PORT/DATABASE')
  const [{ ioredis, redisStore }, client] = await Promise.all([import('sluice/redis'), clientOf(place, connectMs)])
  let lastError: Error | undefined
  client.on('error', (error: Error) => (lastError = error))
  return {
    store: redisStore({ client: ioredis(client), ...(space === undefined ? {} : { prefix: `${space}:` }) }),
    keeps: `limits are shared by all processes on ${SHARED.get(place.scheme) ?? 'this server'}`,
    begin: () => client.connect(),
    reason: () => lastError,
    // A state is a key of its own, and goes when it is reset.
    discard: async () => {},
    close: async () => client.disconnect(),
  }
}

const SHARED: ReadonlyMap<string, string> = new Map([
  ['redis+cluster', 'this cluster'],
  ['redis+sentinel', 'the primary that these sentinels name'],
])

async function clientOf(place: StoreUrl, connectMs: number): Promise<Redis | Cluster> {
  const driver = await import('ioredis')
  const { hosts, primary } = place
  const options = { ...optionsOf(place, connectMs), lazyConnect: true }
  if (place.scheme === 'redis+cluster') {
    return new driver.Cluster([...hosts], {
      lazyConnect: true,
      enableOfflineQueue: false,
      // What was sent and not answered may have been charged: it is not sent again.
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
  })
}

function optionsOf({ scheme, username, password, database, parameters }: StoreUrl, connectMs: number) {
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
    ...(scheme === 'rediss' || parameters.get('tls') === 'true' ? { tls: {} } : {}),
  }
}

/** Full jitter: clients that were cut off together do not return together. */
function pause(times: number): number {
  return Math.ceil(Math.random() * Math.min(LONGEST_PAUSE_MS, 25 * 2 ** times))
}
