import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { leasedBucketKernel, type LeasedState, leasing } from '../../../src/algorithms/leased-bucket.ts'
import { concurrency, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, Change, StateId } from '../../../src/stores/store.ts'
import { START } from '../../../src/testing/store-suite/bench.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { CORNERS, runCorner } from '../held-corners.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `held-corners-${process.pid}:`
const SECOND = 1_000_000

describe.skipIf(url === undefined)('corners of holds in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })
  const numbersOf = async (id: StateId) => readValue(await redis.getBuffer(plainName(prefix, id))).numbers
  const callOf = (key: string, limit: AnyLimit, cost: number): Call => ({ id: { scope: { text: 'one:' }, key }, limit, cost, phase: 0 })

  it.each(Object.keys(CORNERS))('%s', (name) => runCorner(store, numbersOf, name))

  it('gives back to a bucket of which tokens are leased what it had room for, in whole millionths', async () => {
    for (const rate of ['7/s', '10/s', '333/s', '100/min']) {
      const limit = tokenBucket({ rate, burst: 13 })
      for (const after of [1, 500_001, 700_000, 1_000_003, 1_142_857]) {
        for (const used of [0, SECOND, 3 * SECOND + 1, 8 * SECOND]) {
          const call = callOf(`leased ${rate} ${after} ${used}`, limit, 8 * SECOND)
          await store.decide([heldGroup([call], 'h', 60 * SECOND)], { now: START })
          const request = {
            call: { ...call, cost: SECOND },
            want: 2 * SECOND,
            holder: 7,
            sequence: 1,
            life: 3_600 * SECOND,
            kept: 0,
            returned: 0,
          }
          expect(await store.lease?.([request], { now: START })).toMatchObject([{ granted: 2 * SECOND }])
          const decode = async (): Promise<LeasedState> => leasedBucketKernel.codec.decodeState((await numbersOf(call.id)) ?? [])
          const before = await decode()
          const record = (await numbersOf(recordOf(call.id.key, 'h'))) as readonly number[]
          const [at, mark] = [record[0] as number, record[7] as number]
          const now = START + after
          const { plan } = leasing(limit) as typeof limit
          const expected = leasedBucketKernel.settle?.(plan, before, now, { held: call.cost, actual: used, at, mark }, 0)
          await store.change([settlementOf([call], 'h', used)], { now })
          expect(await numbersOf(call.id)).toEqual(leasedBucketKernel.codec.encodeState(expected?.state as LeasedState))
        }
      }
    }
  })

  it('counts 2^40 micro-tokens for a hold of fewer, and says so again', async () => {
    const call = callOf('2^40', tokenBucket({ rate: '1000000/s', burst: 2_000_000 }), SECOND)
    await store.decide([heldGroup([call], 'h', 60 * SECOND)], { now: START })
    const settlement = settlementOf([call], 'h', 2 ** 40)
    const parts = [{ held: SECOND, charged: 2 ** 40, overage: 0 }]
    expect(await store.change([settlement], { now: START })).toMatchObject([{ hold: { status: 'settled', parts } }])
    expect(await store.change([settlement], { now: START })).toMatchObject([{ hold: { status: 'settled', repeated: true, parts } }])
  })

  it.each([
    tokenBucket({ rate: '1/day', burst: 10 }),
    fixedWindow({ limit: 10, window: '300d' }),
    slidingWindowCounter({ limit: 10, window: '300d' }),
    slidingWindowLog({ limit: 10, window: '300d' }),
    concurrency({ limit: 10, holdMs: 60_000 }),
  ])('a hold of one state that a newer version wrote is not changed: $algorithm.name', async (limit: AnyLimit) => {
    const call = callOf(`newer ${limit.algorithm.tag}`, limit, SECOND)
    const [state, record] = [call.id, recordOf(call.id.key, 'h')].map((id) => plainName(prefix, id)) as [string, string]
    await store.decide([heldGroup([call], 'h', 60 * SECOND)])
    const held = await redis.getBuffer(record)
    const value = Buffer.from([1, 2, 3])
    await redis.set(state, value, 'PX', 60_000)
    const extension: Change = { kind: 'extend', id: recordOf(call.id.key, 'h'), calls: [call], holder: 'h', micros: 90 * SECOND }
    const isSlot = limit.algorithm.tag === 'cc'
    const changes = [
      settlementOf([call], 'h', 0),
      settlementOf([call], 'h', 9 * SECOND),
      ...(isSlot ? [extension, settlementOf([call], 'h', undefined)] : []),
    ]
    for (const change of changes) expect(await store.change([change])).toMatchObject([{ failure: { kind: 'setup', executed: 'no' } }])
    expect([await redis.getBuffer(state), await redis.getBuffer(record)]).toEqual([value, held])
  })
})
