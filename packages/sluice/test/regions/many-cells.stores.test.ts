import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { memoryStore, tokenBucket } from '../../src/index.ts'
import { exchangeRemote, type RegionalKey, type RegionalStore, regionalStore } from '../../src/regions.ts'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import type { CallGroup, Store } from '../../src/stores/store.ts'
import { until } from '../faults/until.ts'
import { ownStore } from '../conformance/postgres-rows.ts'

const { redis, postgres } = inject('engines')
/** More than a program reads with one command. */
const CELLS = 4_100
const AT_ONCE = 32
const TOKEN = 1_000_000
/** Each region holds 500 units, which are 500 tokens. */
const limit = tokenBucket({ rate: '1000/s', burst: 1_000 })
const scope = { text: 'many:tb:' }
const keyOf = (index: number): RegionalKey => ({ id: { scope, key: `k${index}` }, limit })
const BEYOND = CELLS

interface Opened {
  /** Two stores of one server, as two processes have them. Over memory twice the same store, because only one process has it. */
  readonly stores: () => readonly [Store, Store]
  open(): Promise<void>
  close(): Promise<void>
}

function onMemory(): Opened {
  const store = memoryStore()
  return { stores: () => [store, store], open: async () => {}, close: async () => {} }
}

function onRedis(): Opened {
  const client = new Redis(redis ?? '', { lazyConnect: true })
  const prefix = `many-cells-${process.pid}:`
  const open = (): Store => bareRedisStore({ client: ioredis(client), prefix })
  return {
    stores: () => [open(), open()],
    open: () => client.connect(),
    async close() {
      const names = await client.keys(`${prefix}*`)
      if (names.length > 0) await client.unlink(...names)
      await client.quit()
    },
  }
}

function onPostgres(): Opened {
  const own = ownStore(postgres, 8)
  return { stores: () => [own.store, own.store], open: own.open, close: own.close }
}

describe.each<[string, boolean, () => Opened]>([
  ['memory', true, onMemory],
  ['Redis', redis !== undefined, onRedis],
  ['PostgreSQL', postgres !== undefined, onPostgres],
])('a region with more than 4,000 keys of which units were sent, over %s', (_, isThere, opening) => {
  const server = opening()
  const weights = { eu: 500, us: 500 }
  const us = regionalStore({ store: memoryStore(), self: 'us', weights, mode: 'escrow' })
  let [eu, second]: RegionalStore[] = []
  const give = async (store: RegionalStore, index: number, to: string): Promise<boolean> =>
    (await (store.remote?.give(keyOf(index), to, 1) ?? store.give?.(keyOf(index), to, 1))) === true
  const unitsOf = async (store: RegionalStore, index: number): Promise<number | undefined> =>
    store.remote?.unitsOf(keyOf(index)) ?? store.unitsOf?.(keyOf(index))
  beforeAll(async () => {
    if (!isThere) return
    await server.open()
    const opened = server.stores().map((store) => regionalStore({ store, self: 'eu', weights, mode: 'escrow', maxCells: CELLS }))
    ;[eu, second] = opened[0]?.remote === undefined ? [opened[0], opened[0]] : opened
    const region = eu as RegionalStore
    await until('the regions are open', async () => {
      await exchangeRemote(region, us)
      return us.phase === 'open' && ((await region.remote?.status())?.phase ?? region.phase) === 'open'
    })
    let next = 0
    const giver = async (): Promise<void> => {
      while (next < CELLS) expect(await give(region, next++, 'us')).toBe(true)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, giver))
  }, 120_000)
  afterAll(async () => {
    if (isThere) await server.close()
  })

  it.skipIf(!isThere)('sends units of no further key, which keeps its weight', async () => {
    const region = eu as RegionalStore
    expect(await give(region, BEYOND, 'us')).toBe(false)
    expect([await unitsOf(region, BEYOND), await unitsOf(region, 0), await unitsOf(region, CELLS - 1)]).toEqual([500, 499, 499])
    // Nor does it receive any.
    expect(await give(us, BEYOND, 'eu')).toBe(true)
    await exchangeRemote(region, us)
    expect([await unitsOf(region, BEYOND), await unitsOf(us, BEYOND)]).toEqual([500, 499])
    // It still sends units of the keys that have rows.
    expect(await give(region, 0, 'us')).toBe(true)
    expect(await unitsOf(region, 0)).toBe(498)
    await exchangeRemote(region, us)
    expect([await unitsOf(us, 0), await unitsOf(us, CELLS - 1)]).toEqual([502, 501])
  })

  it.skipIf(!isThere)(
    'decides all of them at once by their shares, also in a process that knows of none',
    async () => {
      const groupsOf = (count: number, cost: number): CallGroup[] =>
        Array.from({ length: count }, (__, index) => ({ calls: [{ ...keyOf(CELLS - count + 1 + index), cost: cost * TOKEN, phase: 0 }] }))
      for (const store of [eu, second] as [RegionalStore, RegionalStore]) {
        // 4,000 calls of one cost are decided by one call of `buckets.lua` or `sluice_buckets`.
        for (const count of [4_000, CELLS + 1]) {
          const outcomesOf = async (cost: number): Promise<readonly unknown[]> =>
            (await store.decide(groupsOf(count, cost))).map(({ outcome, failure }) => failure ?? outcome)
          const few = await outcomesOf(1)
          expect(few.filter((outcome) => outcome !== 'allowed')).toEqual([])
          await until('the buckets are full', async () => {
            const [verdict] = await store.decide(groupsOf(1, 500), { charge: false })
            return verdict?.outcome === 'allowed'
          })
          const many = await outcomesOf(500)
          // Only the key that sent nothing has 500 tokens.
          expect(many.slice(0, -1).filter((outcome) => outcome !== 'denied')).toEqual([])
          expect(many.at(-1)).toBe('allowed')
        }
      }
    },
    120_000,
  )
})
