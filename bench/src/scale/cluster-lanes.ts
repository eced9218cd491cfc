import { Cluster } from 'ioredis'
import { createLimiter, tokenBucket } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'
import { TIME_TO_LIVE } from '../contestants/contestant.ts'
import { PROGRAM } from '../contestants/lua.ts'
import { ALLOWED } from '../profiles.ts'
import type { BatchOptions, CallersLane } from '../redis/batches.ts'
import { type RingName, RINGS } from '../redis/rings.ts'
import type { OverGrant } from '../result/table.ts'

export interface ClusterInput extends BatchOptions {
  readonly urls: readonly string[]
  /** Absent for the bare program. */
  readonly ring?: RingName
  readonly callers: number
  readonly keys: number
}

export interface ClusterLane {
  readonly lane: CallersLane
  /** What a burst of 10 on each of 30 keys lets pass above 300. */
  audit(): Promise<OverGrant>
  close(): Promise<void>
}

/** One limiter over a cluster: decides one call for a key under a burst and tokens a day. */
interface Decider {
  decide(key: string): Promise<boolean>
  close(): Promise<void>
}

interface Limit {
  readonly tokens: number
  readonly per: '1s' | '1d'
  readonly burst: number
}

/** The next token comes after hours. */
const BITES: Limit = { tokens: 10, per: '1d', burst: 10 }
const BITTEN_KEYS = 30
const CALLS_A_KEY = 40
/** Calls in flight while over-grant is measured: few enough to be answered before the deadline. */
const AT_ONCE = 64

/** Connects to the cluster and opens a limiter, with its own keys, which are spread over the nodes. */
export async function openClusterLane({ urls, ring, callers, keys }: ClusterInput): Promise<ClusterLane> {
  const nodes = urls.map((url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) }))
  const client = new Cluster(nodes, { lazyConnect: true })
  await client.connect()
  const decider = await open(client, ring, ALLOWED)
  const space = ring ?? 'lua'
  const names = Array.from({ length: keys }, (_, key) => `scale-${space}:user:${10_000_000 + key}`)
  let next = 0
  return {
    lane: {
      name: space,
      callers,
      invoke: () => decider.decide(names[(next += 1) % keys] as string),
      passed: (answer) => answer === true,
      sent: () => ({ calls: 0, commands: 0 }),
    },
    async audit() {
      const biting = await open(client, ring, BITES)
      const found = await auditBursts((key) => biting.decide(`bite-${space}:${key}`))
      await biting.close()
      return found
    },
    async close() {
      await decider.close()
      client.disconnect()
    },
  }
}

async function open(client: Cluster, ring: RingName | undefined, { tokens, per, burst }: Limit): Promise<Decider> {
  if (ring === undefined) {
    const perSecond = per === '1s' ? tokens : tokens / 86_400
    const [digest] = await Promise.all(client.nodes('master').map((node) => node.script('LOAD', PROGRAM) as Promise<string>))
    if (digest === undefined) throw new Error('the cluster has no nodes')
    return {
      decide: async (key) => (await client.evalsha(digest, 1, key, Date.now(), perSecond, burst, 1, TIME_TO_LIVE)) === 1,
      close: async () => {},
    }
  }
  const store = redisStore({ client: ioredis(client), ring: RINGS[ring] })
  const limiter = createLimiter({ name: `scale-${ring}-${per}`, limit: tokenBucket({ rate: { tokens, per }, burst }), store })
  await limiter.ready()
  return {
    async decide(key) {
      const { outcome, allowed, degraded } = await limiter.check(key)
      if (outcome === 'undecided') throw new Error(degraded.message)
      return allowed
    },
    async close() {
      await limiter.close()
      await store.close()
    },
  }
}

/**
 * Calls each of a few keys more often than its burst permits. If fewer calls passed than the bursts permit, the over-grant is not known.
 */
export async function auditBursts(decide: (key: string) => Promise<boolean>): Promise<OverGrant> {
  let [passed, undecided] = [0, 0]
  const calls = BITTEN_KEYS * CALLS_A_KEY
  for (let from = 0; from < calls; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, calls - from) }, (_, call) => decide(String((from + call) % BITTEN_KEYS)))
    for (const answer of await Promise.allSettled(some)) {
      if (answer.status === 'rejected') undecided += 1
      else if (answer.value) passed += 1
    }
  }
  const permitted = BITTEN_KEYS * BITES.burst
  if (passed < permitted) return { notAudited: `only ${passed} of ${permitted} permitted calls passed; undecided: ${undecided}` }
  return ((passed - permitted) / permitted) * 100
}
