import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import type { BareRedisOptions } from '../../src/redis.ts'
import { resilient } from '../../src/remote.ts'
import { ioredis, type RedisPort, bareRedisStore } from '../../src/stores/redis/index.ts'
import { advised, noRedis, privateRedis, type PrivateRedis } from './private-redis.ts'

const FLOOD_MS = 3_000
const FLOODERS = 200
const KNOWN = 50

interface Seen {
  readonly sent: number
  readonly refused: number
  readonly flooded: number
  readonly passed: number
  /** `calls`: how many programs were run in Redis. `batches`: how many batches they were run for. */
  readonly calls: number
  readonly batches: number
}

describe.skipIf(noRedis)('R6: a flood of new keys, and the keys of another limiter that are there', () => {
  let server: PrivateRedis
  beforeAll(async () => {
    server = await privateRedis()
  })
  afterAll(() => server.stop())

  const flood = async (prefix: string, options: Partial<BareRedisOptions>): Promise<Seen> => {
    const client = advised(server.port)
    const port = ioredis(client)
    const counts = { sent: 0, refused: 0, flooded: 0, passed: 0, calls: 0, batches: 0 }
    const counted: RedisPort = {
      ...port,
      evalsha: (...args) => {
        counts.calls += 1
        return port.evalsha(...args)
      },
    }
    const inner = bareRedisStore({ client: counted, prefix, ...options })
    const store = resilient({
      ...inner,
      decide: (groups, callOptions) => {
        if (callOptions?.charge !== false) counts.batches += 1
        return inner.decide(groups, callOptions)
      },
    })
    const flooded = createLimiter({ name: 'flooded', limit: tokenBucket({ rate: '1/h', burst: 3 }), store })
    const other = createLimiter({ name: 'other', limit: tokenBucket({ rate: '100000/s', burst: 100_000 }), store })
    await other.ready()
    // As few at a time as may be new.
    for (let user = 0; user < KNOWN; user += 1) await other.check(`user${user}`)
    const until = performance.now() + FLOOD_MS
    const flooder = async (index: number): Promise<void> => {
      for (let turn = 0; performance.now() < until; turn += 1) {
        const { allowed } = await flooded.check(`${prefix}${index}:${turn}`)
        counts.flooded += 1
        if (allowed) counts.passed += 1
        await new Promise((resolve) => void setTimeout(resolve, 5))
      }
    }
    const user = async (index: number): Promise<void> => {
      while (performance.now() < until) {
        const { allowed } = await other.check(`user${index}`)
        counts.sent += 1
        if (!allowed) counts.refused += 1
        await new Promise((resolve) => void setTimeout(resolve, 10))
      }
    }
    await Promise.all([
      ...Array.from({ length: FLOODERS }, (_, index) => flooder(index)),
      ...Array.from({ length: KNOWN }, (_, index) => user(index)),
    ])
    await store.close()
    client.disconnect()
    return counts
  }
  const report = (name: string, { sent, refused, flooded, passed, calls, batches }: Seen): string =>
    `${name}: ${((100 * refused) / sent).toFixed(1)} % of ${sent} calls of known keys refused; ${passed} of ${flooded} new keys passed; ${(calls / batches).toFixed(2)} programs a batch`

  it('shared costs at most one call more for a batch, and refuses hardly more of them than no bound does', async ({ skip }) => {
    const open = await flood('open:', {})
    const shared = await flood('shared:', { maxNewKeys: 100, onFull: 'shared' })
    console.log([report('left out', open), report('shared', shared)].join('\n'))
    // At most two programs for each batch, and a few more: probes of the breaker, and programs that are loaded.
    expect(shared.calls).toBeLessThan(2.2 * shared.batches + 20)
    expect(shared.passed).toBeLessThan(0.2 * shared.flooded)
    const isGood = shared.refused < 0.05 * shared.sent
    // Other programs may have begun after the first flood. Then another one without a bound meets them too.
    const others = isGood ? open : await flood('again:', {})
    const busy = [open, others].some(({ refused, sent }) => refused > 0.02 * sent)
    skip(busy, 'this machine is too busy for a deadline of 50 ms: without a bound calls are refused as well')
    // If each new key cost a program of its own, nearly all calls of known keys would be refused.
    expect(shared.refused / shared.sent).toBeLessThan(0.05)
  })
})
