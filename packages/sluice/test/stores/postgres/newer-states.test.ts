import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { concurrency, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import type { Call, Change } from '../../../src/stores/store.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import { idleLimit } from '../families/idle-window.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const MINUTE = 60_000_000
const SETUP = {
  name: 'StoreFailure',
  kind: 'setup',
  executed: 'no',
  message: expect.stringMatching(/kind 1?\d.*update this one/) as string,
}
/** No window of these begins while the test runs. */
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '1/day', burst: 9 }),
  fixedWindow({ limit: 9, window: '300d' }),
  slidingWindowCounter({ limit: 9, window: '300d' }),
  slidingWindowLog({ limit: 9, window: '300d' }),
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
    await expect(verbs.decide(store, [{ calls: [newer] }])).rejects.toMatchObject(SETUP)
    await expect(verbs.decide(store, [{ calls: [newer] }, { calls: [newer] }])).rejects.toMatchObject(SETUP)
    await expect(verbs.decide(store, [{ calls: [fresh, newer, other] }])).rejects.toMatchObject(SETUP)
    // By compare-and-swap.
    await expect(verbs.decide(store, [{ calls: [call('other', idleLimit(9, 60)), newer] }])).rejects.toMatchObject(SETUP)
    await expect(verbs.peek(store, [{ calls: [newer] }])).rejects.toMatchObject(SETUP)
    await expect(verbs.adjust(store, [newer], [1_000_000])).rejects.toMatchObject(SETUP)
    expect(await rows()).toEqual(before)
    expect((await verbs.decide(store, [{ calls: [other] }]))[0]?.calls[0]?.remaining).toBe(7)
  })

  it.each(LIMITS.map((limit) => [limit.algorithm.name, limit] as const))(
    '%s: fails only its own group of a batch, and the others are charged once',
    async (_name, limit) => {
      const keys = Array.from({ length: 9 }, (_, index) => `batch${index}`)
      const groups = keys.map((key) => ({ calls: [call(key, limit)] }))
      const newer = new Set(['batch3', 'batch4', 'batch8'])
      await verbs.decide(store, groups)
      const ids = [...newer].map((key) => digestOf(call(key, limit).id))
      await pool.query('update sluice_state set kind = 9 where id = any($1)', [ids])
      const verdicts = await store.decide([...groups, { calls: [call('batch0', limit)] }])
      expect(verdicts.map(({ calls, failure }) => failure?.kind ?? calls?.[0]?.remaining)).toEqual([
        ...keys.map((key) => (newer.has(key) ? 'setup' : 7)),
        6,
      ])
    },
  )

  it.each(['record', 'bucket', 'window', 'slot'] as const)(
    'fails holds of which it is the %s, and nothing of them is changed',
    async (which) => {
      const limits = [...LIMITS.slice(0, 2), concurrency({ limit: 2, holdMs: MINUTE / 1_000 })]
      const calls = limits.map((limit) => call(which, limit)) as unknown as readonly [Call, Call, Call]
      const [bucket, window, slot] = calls
      const record = recordOf(which, 'a')
      const held = heldGroup(calls, 'a', MINUTE)
      expect(await store.decide([held])).toMatchObject([{ outcome: 'allowed' }])
      const newer = digestOf({ record, bucket: bucket.id, window: window.id, slot: slot.id }[which])
      await pool.query('update sluice_state set kind = kind + 10 where id = $1', [newer])
      const before = await rows()
      const extension: Change = { kind: 'extend', id: record, calls, holder: 'a', micros: 2 * MINUTE }
      const settlements = [undefined, 0, 2_000_000].map((used) => settlementOf(calls, 'a', used))
      for (const change of [extension, ...settlements]) expect(await store.change([change])).toMatchObject([{ failure: SETUP }])
      if (which === 'slot') expect(await store.change([{ kind: 'release', call: slot, holder: 'a' }])).toMatchObject([{ failure: SETUP }])
      await expect(verbs.decide(store, [held])).rejects.toMatchObject(SETUP)
      expect(await rows()).toEqual(before)
      await pool.query('update sluice_state set kind = kind - 10 where id = $1', [newer])
      expect(await store.change([extension])).toMatchObject([{ hold: { status: 'open' } }])
      expect(await store.change([settlementOf(calls, 'a', 0)])).toMatchObject([{ hold: { status: 'settled' } }])
      const [verdict] = await verbs.peek(store, [{ calls }])
      expect(verdict?.calls.map(({ remaining }) => remaining)).toEqual([9, 9, 2])
    },
  )

  it('is not swept, and goes when it is reset', async () => {
    await pool.query('update sluice_state set kind = 9')
    expect(await store.sweep()).toBe(0)
    const ids = LIMITS.map((limit) => call('newer', limit).id)
    await verbs.reset(store, ids)
    expect((await pool.query('select from sluice_state where id = any($1::uuid[])', [ids.map(digestOf)])).rowCount).toBe(0)
  })
})
