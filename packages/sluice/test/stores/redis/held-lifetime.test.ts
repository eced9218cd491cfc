import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { HOLD_RECORDS } from '../../../src/algorithms/hold-record.ts'
import { concurrency, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, Change, HoldChange, StateId, Store } from '../../../src/stores/store.ts'
import { seeded } from '../../../src/testing/random.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { draws } from '../../draws.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `held-lifetime-${process.pid}:`
const SECOND = 1_000_000
const MINUTE = 60 * SECOND
/** Limits so slow that no state equals the initial state again while the test runs. */
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '1/h', burst: 100 }),
  tokenBucket({ rate: '7/d', burst: 100 }),
  fixedWindow({ limit: 100, window: '1d', align: 'first' }),
  slidingWindowCounter({ limit: 100, window: '1d' }),
  slidingWindowLog({ limit: 100, window: '1d' }),
  concurrency({ limit: 100, holdMs: 3_600_000 }),
]

describe.skipIf(url === undefined)('law 6 on the clock of Redis, for holds', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const port = ioredis(redis)
  beforeAll(() => redis.connect())
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })

  /** Expects that each key expires when the numbers of its state say so. A key lives through the last millisecond in which it is needed. */
  const livesAsItSays = async (own: string, kept: number, limits: ReadonlyMap<StateId, AnyLimit>): Promise<number> => {
    let found = 0
    for (const [id, { algorithm, plan }] of limits) {
      const name = plainName(own, id)
      const [value, expires] = await Promise.all([redis.getBuffer(name), redis.pexpiretime(name)])
      const { numbers, ends } = readValue(value)
      if (value === null || numbers === undefined) continue
      const needed = algorithm.expiresAt(plan, algorithm.codec.decodeState(numbers))
      expect([id, expires]).toEqual([id, Math.floor((Math.max(needed, ends) + kept) / 1_000) + 1])
      // The value of slots also contains this instant, which the sweep of hashes reads.
      if (algorithm.tag === 'cc' && ends === 0) expect(Number(`0x${value.subarray(1, 8).toString('hex')}`)).toBe(needed)
      found += 1
    }
    return found
  }

  it.each<[string, number, (own: string) => Store]>([
    ['as it says', 0, (own) => bareRedisStore({ client: port, prefix: own })],
    [
      'ten minutes longer with maxNewKeys',
      600 * SECOND,
      (own) => bareRedisStore({ client: port, prefix: own, clock: manualClock(), maxNewKeys: 1_000_000 }),
    ],
  ])(
    'what a hold, its settlement and its extension leave lives %s',
    async (name, kept, open) => {
      const own = `${prefix}${name.length}:`
      const store = open(own)
      const random = seeded(41)
      const pick = (count: number): number => Math.floor(random() * count)
      const holds: { readonly calls: readonly Call[]; readonly id: string }[] = []
      const limits = new Map<StateId, AnyLimit>()
      let found = 0
      for (let turn = 0; turn < draws(400, 20); turn += 1) {
        const key = `k${turn % 5}`
        const groups = Array.from({ length: 1 + pick(3) }, (_, index) => {
          const first = pick(LIMITS.length)
          const some = LIMITS.slice(first, first + 1 + (pick(2) === 0 ? 0 : pick(5)))
          const calls = some.map((limit): Call => {
            const scope = { text: `${limit.algorithm.tag}${LIMITS.indexOf(limit)}:` }
            return { id: { scope, key }, limit, cost: 1 + pick(3 * SECOND), phase: 0 }
          })
          const id = `t${turn}.${index}`
          holds.push({ calls, id })
          for (const call of calls) limits.set(call.id, call.limit)
          limits.set(recordOf(key, id), HOLD_RECORDS)
          return heldGroup(calls, id, (1 + pick(30)) * MINUTE)
        })
        for (const { outcome } of await store.decide(groups)) expect(['allowed', 'denied']).toContain(outcome)
        found += await livesAsItSays(own, kept, limits)
        const changes = holds.splice(0, 1 + pick(3)).map(({ calls, id }): Change => {
          const [{ id: state, cost }] = calls as readonly [Call]
          const kind = pick(8)
          if (kind < 5) return settlementOf(calls, id, [undefined, 0, cost, 2 * cost, 5 * cost][kind]) as HoldChange
          const slot = calls.find(({ limit }) => limit.algorithm.tag === 'cc')
          if (kind === 5 && slot !== undefined) return { kind: 'release', call: slot, holder: id }
          if (kind === 6) return { kind: 'adjust', call: calls[0] as Call, amount: pick(2) === 0 ? cost : -cost }
          return { kind: 'extend', id: recordOf(state.key, id), calls, holder: id, micros: (1 + pick(90)) * MINUTE }
        })
        // One time in three, the states of a change are blocked first, for a shorter or longer time than they are needed.
        const blocked = pick(3) > 0 ? [] : changes.flatMap((change) => ('calls' in change ? change.calls.map(({ id }) => id) : []))
        const blocks = blocked.map((id): Change => ({ kind: 'block', id, micros: (1 + pick(2) * 3_000) * MINUTE }))
        for (const { failure } of await store.change([...blocks, ...changes])) expect(failure).toBeUndefined()
        found += await livesAsItSays(own, kept, limits)
        for (const id of [...limits.keys()].slice(0, -40)) limits.delete(id)
      }
      expect(found).toBeGreaterThan(100)
    },
    60_000,
  )
})
