import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { scopeOf } from '../../src/keys/encode.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { keySlot, SLOTS } from '../../src/stores/redis/key-slot.ts'
import { plainName } from '../stores/redis/plain-name.ts'
import { type ClusterNode, failOver, privateCluster, type PrivateCluster } from './private-cluster.ts'
import { advisedCluster, noRedis } from './private-redis.ts'
import { sharesOf, type Singles, startSingles, window } from './singles.ts'
import { report } from './stopped.ts'
import { until } from './until.ts'

const NODE_TIMEOUT_MS = 1_000
const SHARDS = 3
const MAX_UNDECIDED = 0.02
const scope = scopeOf('default', 'default', 'tb')

const slotOf = (key: string): number => keySlot(plainName('sluice:', { scope, key }))

/** Other programs on the machine may disturb a measurement. So a test that misses its bound is repeated once. */
const AGAIN = { retry: 1 }

describe.skipIf(noRedis)('R1: one of three shards in trouble', AGAIN, () => {
  let cluster: PrivateCluster
  beforeEach(async () => {
    cluster = await privateCluster(NODE_TIMEOUT_MS)
  })
  afterEach(() => cluster?.stop())

  /** Starts callers on keys that are spread over the shards. `others` tells whether a key is not on the slots of the node in trouble. */
  async function start(): Promise<{ singles: Singles; victim: ClusterNode; others: (key: string) => boolean }> {
    const client = advisedCluster(cluster.addresses)
    onTestFinished(() => client.disconnect())
    await new Promise((resolve) => client.once('ready', resolve))
    const store = redisStore({ client: ioredis(client) })
    // A client that is ready may not have connected to every node.
    await until('the store is ready', () => store.ready().then(() => true))
    onTestFinished(() => store.close())
    const singles = await startSingles(store, { callers: 24, pauseMs: 3 })
    const victim = cluster.nodes[0] as ClusterNode
    const share = Math.ceil(SLOTS / SHARDS)
    return { singles, victim, others: (key) => slotOf(key) >= share }
  }

  const check = ({ load }: Singles, name: string, from: number, to: number, others: (key: string) => boolean): void => {
    const [own, rest] = [sharesOf(load, from, to, ({ key }) => !others(key)), sharesOf(load, from, to, ({ key }) => others(key))]
    report(name, { calls: rest.calls, undecided: rest.undecided, ownCalls: own.calls, ownUndecided: own.undecided })
    expect(own.calls).toBeGreaterThan(50)
    expect(rest.calls).toBeGreaterThan(200)
    expect(rest.undecided).toBeLessThanOrEqual(MAX_UNDECIDED)
  }

  it('stopped: calls of the others go on', async () => {
    const { singles, victim, others } = await start()
    const [from] = await window(NODE_TIMEOUT_MS * 0.8, () => victim.signal('SIGSTOP'))
    victim.signal('SIGCONT')
    await singles.load.recovery()
    await singles.stop()
    check(singles, 'one of three shards stopped', from, performance.now(), others)
  })

  it('killed: calls of the others go on until its replica has taken over, and after', async () => {
    const { singles, victim, others } = await start()
    const from = performance.now()
    victim.signal('SIGKILL')
    await until('another node holds its slots', async () => (await cluster.ownerOf(0)) !== victim)
    await singles.load.recovery()
    await singles.stop()
    check(singles, 'one of three shards killed', from, performance.now(), others)
  })

  it('failed over by hand twenty times', { timeout: 120_000 }, async () => {
    const { singles } = await start()
    // Calls to the failed-over shard may fail: with any client, Redis 7.0 answers nobody for seconds if a node takes over again soon after
    // it handed over. The test uses the second shard. Clients read the map of slots from the first node, so that one is left alone.
    const share = Math.ceil(SLOTS / SHARDS)
    const others = (key: string): boolean => Math.floor(slotOf(key) / share) !== 1
    const from = performance.now()
    for (let round = 0; round < 20; round += 1) {
      await failOver(cluster, share)
      await window(500)
    }
    await singles.load.recovery()
    await singles.stop()
    check(singles, 'twenty failovers', from, performance.now(), others)
  })
})
