import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { memoryStore, slidingWindowLog, type Store, tokenBucket } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import type { Decided } from '../../src/stores/store.ts'
import type { Micros } from '../../src/time/micros.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

/**
 * The numbers of the article about rate limiting in Clojure and Redis Lua, without that article's faults. They run on a memory store and on
 * Redis.
 */
const START: Micros = 1_763_692_800_000_000
const MS = 1_000
const TEN = tokenBucket({ rate: '10/10s', burst: 10 })
const { redis: url } = inject('engines')
const prefix = `clojure-${process.pid}:`

interface Place {
  readonly name: string
  readonly missing: boolean
  open(): Promise<{ store: Store; close(): Promise<void> }>
}

const places: readonly Place[] = [
  { name: 'in this process', missing: false, open: async () => ({ store: memoryStore(), close: async () => {} }) },
  {
    name: 'in Redis',
    missing: url === undefined,
    async open() {
      const client = new Redis(url ?? '', { lazyConnect: true })
      return { store: bareRedisStore({ client: ioredis(client), prefix }), close: async () => void (await client.quit()) }
    },
  },
]

describe.each(places.filter(({ missing }) => !missing))('the token bucket $name', ({ open }) => {
  let store: Store
  let close: () => Promise<void>
  let made = 0
  beforeAll(async () => ({ store, close } = await open()))
  afterAll(() => close())

  /** Makes a function that calls one key of its own at an instant, and returns whether the call passes. */
  function decider(limit: AnyLimit = TEN): (now: Micros, tokens?: number) => Promise<Decided> {
    const id = { scope: { text: `clojure:${limit.algorithm.tag}:` }, key: `key${(made += 1)}` }
    return async (now, tokens = 1) => {
      const [verdict] = await verbs.decide(store, [{ calls: [{ id, limit, cost: tokens * 1e6, phase: 0 }] }], { now })
      return verdict as Decided
    }
  }

  it('lets ten of ten pass at once, and refuses the eleventh', async () => {
    const decide = decider()
    const passed: boolean[] = []
    for (let index = 0; index < 11; index += 1) passed.push((await decide(START)).outcome === 'allowed')
    expect(passed).toEqual([...Array<boolean>(10).fill(true), false])
    expect((await decide(START + 10_000 * MS)).outcome).toBe('allowed')
  })

  it('gives no token for half of one', async () => {
    const decide = decider()
    await decide(START, 10)
    for (const early of [500 * MS, 999 * MS, 1_000 * MS - 1]) expect((await decide(START + early)).outcome).toBe('denied')
    expect((await decide(START + 1_000 * MS)).outcome).toBe('allowed')
    expect((await decide(START + 1_500 * MS)).outcome).toBe('denied')
  })

  it('leaves the bucket as it was where it refuses, so that calling often starves nobody', async () => {
    const [decide, untouched] = [decider(), decider()]
    for (const each of [decide, untouched]) await each(START, 10)
    for (let at = 0; at < 1_000 * MS; at += 10 * MS) expect((await decide(START + at)).outcome).toBe('denied')
    const numbers = async (one: typeof decide): Promise<unknown> => (await one(START + 2_500 * MS, 2)).calls
    expect(await numbers(decide)).toEqual(await numbers(untouched))
  })

  it('mints nothing from timestamps that arrive out of order', async () => {
    const decide = decider()
    let passed = 0
    // Two callers in turn, one of them five seconds behind.
    for (let index = 0; index < 200; index += 1) {
      const at = START + index * 100 * MS - (index % 2) * 5_000 * MS
      if ((await decide(at)).outcome === 'allowed') passed += 1
    }
    // The latest instant is 19.8 s after the first. So ten tokens pass from the full bucket, and one for each of 19 whole seconds.
    expect(passed).toBe(10 + 19)
  })

  it('holds what is taken at once and after a pause to the bucket: idling saves up no more than ten', async () => {
    const decide = decider()
    await decide(START, 3)
    let passed = 0
    for (let index = 0; index < 20; index += 1) if ((await decide(START + 3_600_000 * MS)).outcome === 'allowed') passed += 1
    expect(passed).toBe(10)
  })
})

describe('the queue of instants', () => {
  it('is exact where the counter of minutes lets twenty pass within two seconds', async () => {
    const store = memoryStore()
    const limit = slidingWindowLog({ limit: 10, window: '10s' })
    const id = { scope: { text: 'clojure:sl:' }, key: 'queue' }
    const decide = async (now: Micros): Promise<boolean> =>
      (await verbs.decide(store, [{ calls: [{ id, limit, cost: 1e6, phase: 0 }] }], { now }))[0]?.outcome === 'allowed'
    const minute = START + 60_000 * MS
    for (let index = 0; index < 10; index += 1) expect(await decide(minute - 1_000 * MS)).toBe(true)
    for (const later of [0, 1_000 * MS, 9_000 * MS - 1]) expect(await decide(minute + later)).toBe(false)
    // A call that is exactly one window old no longer counts, as in the article.
    expect(await decide(minute + 9_000 * MS)).toBe(true)
  })
})
