import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { type AnyLimit, createLimiter, type Limiter } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { type RegionalStore, regionalStore, replicate, type ReplicateOptions, type Replicator } from '../../src/regions.ts'
import { seeded } from '../../src/testing/random.ts'
import { advised, type PrivateRedis, privateRedis } from '../faults/private-redis.ts'
import { until } from '../faults/until.ts'
import { answering, type Link, openLink } from './http-links.ts'
import type { Passed } from './over.ts'

/** A region with a server of its own. */
export interface Region {
  readonly name: string
  redis: PrivateRedis
  /** The limiters of two processes. The first process sends units to peers, and the second only publishes what it needs. */
  readonly limiters: readonly [Limiter, Limiter]
  readonly store: RegionalStore
  readonly replicator: Replicator
  /** Those that answer its peers, in turn. */
  readonly replicators: Replicator[]
  /** By which it reads its peers. */
  readonly links: Map<string, Link>
}

/** A store of one more process of a region. */
export function storeOf(port: number, self: string, peers: readonly string[]): RegionalStore {
  const client = advised(port)
  onTestFinished(() => void client.disconnect())
  const store = redisStore({ client: ioredis(client), ring: { deadline: '2s', breaker: false } })
  return regionalStore({ store, self, peers, mode: 'escrow' })
}

const limiterOf = (limit: AnyLimit, store: RegionalStore): Limiter =>
  createLimiter({ limit, store, onStoreFailure: 'deny', deadlineMs: 2_000 })

/** Regions that have a Redis server each, and read each other over links with faults. */
export async function openRegions(
  names: readonly string[],
  limit: AnyLimit,
  args: (name: string) => readonly string[],
): Promise<Map<string, Region>> {
  const random = seeded(14)
  const regions = new Map<string, Region>()
  const ports = new Map<string, number>()
  for (const name of names) {
    let turn = 0
    const server = await answering(async (request) => {
      const { replicators = [] } = regions.get(name) ?? {}
      turn += 1
      return replicators[turn % replicators.length]?.answer(request)
    })
    ports.set(name, server.port)
    onTestFinished(() => server.close())
  }
  for (const name of names) {
    const peers = names.filter((other) => other !== name)
    const redis = await privateRedis(args(name))
    const [store, other] = [storeOf(redis.port, name, peers), storeOf(redis.port, name, peers)]
    const links = new Map<string, Link>()
    for (const peer of peers) links.set(peer, await openLink(ports.get(peer) as number, random))
    onTestFinished(async () => void (await Promise.all([...links.values()].map((link) => link.close()))))
    const transport: ReplicateOptions['transport'] = async (peer, request, signal) => links.get(peer)?.ask(request, signal)
    const replicator = replicate({ store, transport, periodMs: 200, timeoutMs: 1_000 })
    const publishing = replicate({ store: other, periodMs: 200 })
    const region: Region = {
      name,
      redis,
      limiters: [limiterOf(limit, store), limiterOf(limit, other)],
      store,
      replicator,
      replicators: [replicator],
      links,
    }
    onTestFinished(async () => {
      await Promise.all([replicator.close(), publishing.close()])
      await region.redis.stop()
    })
    regions.set(name, region)
  }
  return regions
}

/** Calls one key in several regions, in both processes of each, and notes which calls passed. */
export function callsOf(regions: ReadonlyMap<string, Region>, key: string) {
  const passed: Passed[] = []
  const passedIn = new Map<string, number>()
  const check = async (name: string, limiter: Limiter): Promise<void> => {
    const sent = performance.now()
    const { outcome } = await limiter.check(key)
    if (outcome !== 'allowed') return void (await pause(5))
    passed.push([sent, performance.now()])
    passedIn.set(name, (passedIn.get(name) ?? 0) + 1)
  }
  return {
    passed,
    /** Calls as fast as regions answer, until something is true. */
    async load(names: readonly string[], what: string, holds: () => boolean): Promise<void> {
      const ending = new AbortController()
      const callers = names.flatMap((name) => {
        const { limiters } = regions.get(name) as Region
        return [...limiters, ...limiters].map(async (limiter) => {
          while (!ending.signal.aborted) await check(name, limiter)
        })
      })
      await until(what, async () => holds(), 60_000).finally(() => ending.abort())
      await Promise.all(callers)
    },
    /** Becomes true when so many more calls have passed in each of the regions. */
    moreIn(names: readonly string[], more: number): () => boolean {
      const count = (name: string): number => passedIn.get(name) ?? 0
      const before = names.map(count)
      return () => names.every((name, index) => count(name) >= (before[index] as number) + more)
    },
  }
}

/** Whether all regions decide, and agree on the era. */
export function areOpen(regions: readonly Region[]): boolean {
  const found = regions.map(({ replicator }) => replicator.status())
  return found.every(({ phase, era }) => phase === 'open' && era === found[0]?.era)
}
