import { Cluster, Redis } from 'ioredis'
import { createEngine, parsePolicy } from 'sluice/policy'
import { ioredis, redisStore } from 'sluice/redis'
import { programStats } from './command-stats.ts'
import { type RingName, RINGS } from './rings.ts'

export interface TripsInput {
  readonly urls: readonly string[]
  readonly callers: number
  readonly requests: number
  readonly ring: RingName
}

export interface TripsResult {
  /** The programs that all nodes ran, per request. */
  readonly trips: number
  readonly microseconds: number
  readonly refused: number
  /** Requests that the store did not decide. */
  readonly undecided: number
}

const RULES = [
  ['global', ''],
  ['tenant', 'header:x-tenant'],
  ['endpoint', 'path:template'],
] as const
const LIMIT = 'rate: 1000000/s, burst: 10000000'
const TENANTS = 20
const ENDPOINTS = 8

/** Calls an engine of three rules over a cluster, and counts the programs that the nodes ran. */
export async function countTrips({ urls, callers, requests, ring }: TripsInput): Promise<TripsResult> {
  const nodes = urls.map((url) => new Redis(url))
  const client = new Cluster(urls.map((url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) })))
  const text = RULES.map(([name, key]) => `  - { name: ${name}, key: [${key}], ${LIMIT} }`)
  const store = redisStore({ client: ioredis(client), ring: RINGS[ring] })
  const engine = createEngine({ policy: parsePolicy(['version: 1', 'rules:', ...text].join('\n')), store })
  let [next, refused, undecided] = [0, 0, 0]
  const spend = async (count: number): Promise<void> => {
    let left = count
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1
        next += 1
        const headers = { 'x-tenant': `tenant-${next % TENANTS}` }
        const { outcome } = await engine.decide({ method: 'GET', path: `/api/service-${next % ENDPOINTS}/items`, headers })
        if (outcome === 'undecided') undecided += 1
        else if (outcome !== 'allowed') refused += 1
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
  }
  const programs = async (): Promise<number> => (await Promise.all(nodes.map(programStats))).reduce((sum, { calls }) => sum + calls, 0)
  await spend(requests)
  // Starts counting here, because the first requests had to find the nodes of the slots.
  ;[refused, undecided] = [0, 0]
  const before = await programs()
  const started = performance.now()
  await spend(requests)
  const elapsed = performance.now() - started
  const trips = (await programs()) - before
  await engine.close()
  await store.close()
  for (const node of nodes) node.disconnect()
  client.disconnect()
  return { trips: trips / requests, microseconds: (elapsed * 1e3) / requests, refused, undecided }
}
