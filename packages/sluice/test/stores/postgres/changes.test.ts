import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { type Concurrency, pg, type PostgresPort, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { Call, Change } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')
const START = 1_763_692_800_123_456
const bucket = tokenBucket({ rate: '1/day', burst: 10 })
const call = (key: string, limit: AnyLimit = bucket): Call => ({
  id: { scope: { text: 'change:' }, key },
  limit,
  cost: 1_000_000,
  phase: 0,
})
const adjust = (key: string, tokens: number): Change => ({ kind: 'adjust', call: call(key), amount: tokens * 1_000_000 })
const block = (key: string, micros: number): Change => ({ kind: 'block', id: call(key).id, micros })
const mark = (kind: 'unblock' | 'reset', key: string): Change => ({ kind, id: call(key).id })

/** A client that counts statements, and refuses one of them. */
function counting(port: PostgresPort): { port: PostgresPort; sent: string[]; refuse: { left: number } } {
  const sent: string[] = []
  const refuse = { left: 0 }
  const query: PostgresPort['query'] = async (statement, values) => {
    sent.push(statement)
    refuse.left -= 1
    if (refuse.left === 0) throw Object.assign(new Error('disk full'), { code: '53100' })
    return port.query(statement, values)
  }
  return { port: { ...port, query }, sent, refuse }
}

describe.skipIf(url === undefined).each<Concurrency>(['lock', 'compare-and-swap'])('changes: %s', (concurrency) => {
  const { pool, open, close } = ownStore(url, 2)
  const { port, sent, refuse } = counting(pg(pool))
  const store = barePostgresStore({ client: port, concurrency, sweepEveryMs: 0 })
  beforeAll(async () => {
    await open()
    await store.migrate()
  })
  afterAll(close)
  const remaining = async (key: string): Promise<unknown> =>
    (await verbs.peek(store, [{ calls: [call(key)] }], { now: START }))[0]?.calls[0]?.remaining
  const outcome = async (key: string, now = START): Promise<unknown> =>
    (await verbs.peek(store, [{ calls: [call(key)] }], { now }))[0]?.outcome

  it('can make every kind, and none at all', async () => {
    expect(store.capabilities.changes).toEqual(['adjust', 'leave', 'release', 'settle', 'extend', 'block', 'unblock', 'reset'])
    sent.length = 0
    expect(await store.change([])).toEqual([])
    expect(sent).toEqual([])
  })

  it('are made in order: what comes later finds what came before', async () => {
    const changes = [
      adjust('order', -4),
      adjust('order', 1),
      mark('reset', 'order'),
      adjust('order', -2),
      block('order', 5),
      mark('unblock', 'order'),
    ]
    expect(await store.change(changes, { now: START })).toEqual(changes.map(() => ({})))
    expect([await remaining('order'), await outcome('order')]).toEqual([8, 'allowed'])
    await store.change([mark('unblock', 'order'), block('order', 1_000), block('order', 2_000)], { now: START })
    expect([await outcome('order', START + 1_999), await outcome('order', START + 2_000)]).toEqual(['denied', 'allowed'])
  })

  it('of a block leave the state, and of a state the block', async () => {
    await store.change([adjust('both', -3), block('both', 1_000), mark('reset', 'both')], { now: START })
    expect(await outcome('both')).toBe('denied')
    await store.change([mark('unblock', 'both')], { now: START })
    expect([await outcome('both'), await remaining('both')]).toEqual(['allowed', 10])
    await store.change([adjust('both', -3), block('both', 1_000), mark('unblock', 'both')], { now: START })
    expect(await remaining('both')).toBe(7)
  })

  it('that give back with a receipt of 1970 give back nothing', async () => {
    const window = call('window', fixedWindow({ limit: 10, window: '1d' }))
    await verbs.decide(store, [{ calls: [window] }], { now: START })
    await store.change([{ kind: 'adjust', call: window, amount: 1_000_000, receipt: 0 }], { now: START })
    expect((await verbs.peek(store, [{ calls: [window] }], { now: START }))[0]?.calls[0]?.remaining).toBe(9)
  })

  it('next to each other and of one kind are one statement or attempt', async () => {
    const runs: readonly (readonly Change[])[] = [
      [adjust('a', -1), adjust('b', -1), adjust('a', 1)],
      [block('a', 1_000), block('b', 1_000)],
      [block('a', 2_000)],
      [mark('unblock', 'a'), mark('unblock', 'b')],
      [mark('reset', 'b')],
    ]
    sent.length = 0
    expect(await store.change(runs.flat(), { now: START })).toEqual(runs.flat().map(() => ({})))
    expect(sent).toHaveLength(concurrency === 'lock' ? runs.length : 2 * runs.length)
  })

  it('that fail take their neighbours of one kind with them, and no others', async () => {
    await store.change([mark('reset', 'a'), mark('reset', 'b')], { now: START })
    // The first run: one statement, or a read and a write.
    refuse.left = concurrency === 'lock' ? 1 : 2
    const results = await store.change([adjust('a', -1), adjust('b', -7), mark('unblock', 'a'), adjust('b', -1)], { now: START })
    const failed = { failure: { kind: 'memory', executed: 'no' } }
    expect(results).toMatchObject([failed, failed, {}, {}])
    expect([await remaining('a'), await remaining('b')]).toEqual([10, 9])
  })
})
