import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import type { Call } from '../../../src/stores/store.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import { idleLimit } from '../families/idle-window.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '1/day', burst: 9 }),
  fixedWindow({ limit: 9, window: '1h' }),
  slidingWindowCounter({ limit: 9, window: '1h' }),
  slidingWindowLog({ limit: 9, window: '1h' }),
]

describe.skipIf(url === undefined)('a state of a kind that this version does not know', () => {
  const { store, pool, open, close } = ownStore(url, 2)
  beforeAll(open)
  afterAll(close)

  const call = (key: string, limit: AnyLimit): Call => ({
    id: { scope: { text: `newer:${limit.algorithm.tag}:` }, key },
    limit,
    cost: 1_000_000,
    phase: 0,
  })
  const rows = async (): Promise<unknown[]> => (await pool.query('select * from sluice_state order by id')).rows

  it.each(LIMITS.map((limit) => [limit.algorithm.name, limit] as const))('%s: setup, and nothing is charged', async (_, limit) => {
    const [newer, other, fresh] = ['newer', 'other', 'fresh'].map((key) => call(key, limit)) as [Call, Call, Call]
    await verbs.decide(store, [{ calls: [newer] }, { calls: [other] }])
    await pool.query('update sluice_state set kind = 9 where id = $1', [digestOf(newer.id)])
    const before = await rows()
    const setup = { name: 'StoreFailure', kind: 'setup', executed: 'no', message: expect.stringMatching(/kind 9.*update this one/) }
    await expect(verbs.decide(store, [{ calls: [newer] }])).rejects.toMatchObject(setup)
    await expect(verbs.decide(store, [{ calls: [newer] }, { calls: [newer] }])).rejects.toMatchObject(setup)
    await expect(verbs.decide(store, [{ calls: [other] }, { calls: [newer] }])).rejects.toMatchObject(setup)
    await expect(verbs.decide(store, [{ calls: [fresh, newer, other] }])).rejects.toMatchObject(setup)
    // By compare-and-swap.
    await expect(verbs.decide(store, [{ calls: [call('other', idleLimit(9, 60)), newer] }])).rejects.toMatchObject(setup)
    await expect(verbs.peek(store, [{ calls: [newer] }])).rejects.toMatchObject(setup)
    await expect(verbs.adjust(store, [newer], [1_000_000])).rejects.toMatchObject(setup)
    expect(await rows()).toEqual(before)
    expect((await verbs.decide(store, [{ calls: [other] }]))[0]?.calls[0]?.remaining).toBe(7)
  })

  it('is not swept, and goes when it is reset', async () => {
    await pool.query('update sluice_state set kind = 9')
    expect(await store.sweep()).toBe(0)
    const ids = LIMITS.map((limit) => call('newer', limit).id)
    await verbs.reset(store, ids)
    expect((await pool.query('select from sluice_state where id = any($1::uuid[])', [ids.map(digestOf)])).rowCount).toBe(0)
  })
})
