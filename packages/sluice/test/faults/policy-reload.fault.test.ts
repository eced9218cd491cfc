import { describe, expect, it, onTestFinished } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../src/testing.ts'
import { facts } from '../engine/bench.ts'
import { expectInTime } from './in-time.ts'
import { advised, noRedis, privateRedis } from './private-redis.ts'
import { continueTree, noProcesses, stopTree } from './process-tree.ts'
import { report } from './stopped.ts'
import { wait } from './under-fault.ts'
import { until } from './until.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const policy = (rate: number, burst: number): ReturnType<typeof parsePolicy> =>
  parsePolicy(`version: 1\nfailure: { deadline: 50ms, policy: deny }\nrules: [{ name: all, key: [], rate: ${rate}/s, burst: ${burst} }]`)

describe.skipIf(noRedis || noProcesses)('a policy that is reloaded while the store is away', () => {
  it('holds from the first decision after it: no free burst, nobody locked out, and no failure is a denial', async () => {
    const server = await privateRedis()
    onTestFinished(server.stop)
    const client = advised(server.port)
    onTestFinished(() => client.disconnect())
    await new Promise((resolve) => client.once('ready', resolve))
    const trace: (TraceEntry & { readonly policy: number })[] = []
    let current = 0
    const engine = createEngine({ policy: policy(200, 100), store: noting(bareRedisStore({ client: ioredis(client) })) })
    onTestFinished(() => engine.close())
    function noting(store: Store): Store {
      return {
        ...store,
        decide: async (groups, options) => {
          const before = current
          const verdicts = await store.decide(groups, options)
          trace.push(
            ...verdicts.map(verbs.decided).map(({ at, outcome }) => ({ at, cost: 1, allowed: outcome === 'allowed', policy: before })),
          )
          return verdicts
        },
      }
    }
    const outcomes: string[] = []
    const state = { running: true, stopped: false }
    const callers = Array.from({ length: 16 }, async () => {
      while (state.running) {
        const began = state.stopped
        const { outcome } = await engine.decide(facts())
        if (began && state.stopped) outcomes.push(outcome)
        await wait(2)
      }
    })
    const reload = async (rate: number, burst: number): Promise<void> => {
      await stopTree(server.pid)
      state.stopped = true
      await wait(300)
      engine.reload(policy(rate, burst))
      current += 1
      await wait(300)
      state.stopped = false
      continueTree(server.pid)
      const resumed = performance.now()
      await until('the new policy decides', async () => trace.some((entry) => entry.policy === current))
      const recovery = performance.now() - resumed
      report('reloaded', { recovery })
      expectInTime('the recovery', recovery, 1_000)
      await busyFor(700)
    }
    await busyFor(500)
    await reload(10, 5)
    await reload(300, 30)
    state.running = false
    await Promise.all(callers)

    expect(new Set(outcomes)).toEqual(new Set(['undecided']))
    for (const [index, [rate, burst]] of (
      [
        [200, 100],
        [10, 5],
        [300, 30],
      ] as const
    ).entries()) {
      const own = trace.filter((entry) => entry.policy === index)
      const found = audit(own, limitOf(rate, burst))
      const admitted = own.filter(({ allowed }) => allowed).length
      report(`${rate}/s, ${burst}`, { admitted, overGrant: found.overGrant })
      expect(found.overGrant).toBe(0)
      // It is the limit that denies, not a lock.
      expect(admitted).toBeGreaterThan(rate / 4)
    }
  })
})

/** Lets the callers call for so many milliseconds, of which time for which the machine stopped this process is no part. */
async function busyFor(ms: number): Promise<void> {
  for (let [left, look] = [ms, performance.now()]; left > 0;) {
    await wait(5)
    const now = performance.now()
    left -= Math.min(20, now - look)
    look = now
  }
}

function limitOf(rate: number, burst: number): ReturnType<typeof tokenBucket> {
  return tokenBucket({ rate: `${rate}/s`, burst })
}
