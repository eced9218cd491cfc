import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import type { CallGroup, Store } from '../../src/stores/store.ts'
import { audit, Reference, type TraceEntry } from '../../src/testing.ts'
import { systemTime } from '../../src/time/system.ts'
import type { Time } from '../../src/time/time.ts'
import { advised, noRedis } from './private-redis.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const HOUR = 3_600_000_000
const limit = tokenBucket({ rate: '200/s', burst: 20 })
/** More calls than this must be allowed, so that the limit was refilled again and again. */
const ENOUGH = 100

function wrong(by: number): Time {
  return { ...systemTime, now: () => systemTime.now() + by }
}

describe.skipIf(noRedis)('clients whose clocks are wrong by an hour', () => {
  it('change nothing: the server decides by its own', async () => {
    const { port } = new URL(inject('engines').redis ?? '')
    const client = advised(Number(port))
    onTestFinished(() => client.disconnect())
    await new Promise((resolve) => client.once('ready', resolve))
    const trace: TraceEntry[] = []
    const groups: CallGroup[] = []
    const key = `clock-${process.pid}-${performance.now()}`
    const limiters = [-HOUR, 0, HOUR].map((by) => {
      const clock = wrong(by)
      const store = bareRedisStore({ client: ioredis(client), clock })
      return createLimiter({ name: 'clocks', limit, store: noting(store, groups, trace), clock, deadlineMs: 5_000 })
    })
    const until = performance.now() + 500
    // If this process is kept from running, it gets fewer tokens in half a second. So it goes on until it has enough.
    const goesOn = (): boolean => performance.now() < until || trace.filter(({ allowed }) => allowed).length <= ENOUGH
    const callers = limiters.map(async (limiter) => {
      while (goesOn()) expect((await limiter.check(key)).outcome).not.toBe('undecided')
    })
    await Promise.all(callers)
    const reference = new Reference()
    const [group] = groups as [CallGroup]
    const permitted = trace
      .map(({ at }) => at)
      .sort((a, b) => a - b)
      .filter((at) => reference.decide(group, at).outcome === 'allowed')
    expect(audit(trace, limit).overGrant).toBe(0)
    expect(trace.filter(({ allowed }) => allowed).length).toBe(permitted.length)
    expect(permitted.length).toBeGreaterThan(ENOUGH)
  })
})

/** The store, with what it answered written down. */
function noting(store: Store, groups: CallGroup[], trace: TraceEntry[]): Store {
  return {
    ...store,
    decide: async (batch, options) => {
      const verdicts = await store.decide(batch, options)
      groups.push(...batch)
      trace.push(...verdicts.map(verbs.decided).map(({ at, outcome }) => ({ at, cost: 1, allowed: outcome === 'allowed' })))
      return verdicts
    },
  }
}
