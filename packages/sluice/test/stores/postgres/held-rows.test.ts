import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { pg, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { Call } from '../../../src/stores/store.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const bucket = tokenBucket({ rate: '1/day', burst: 10 })
const log = slidingWindowLog({ limit: 5, window: '1d' })
const call = (key: string, limit: Call['limit'] = bucket): Call => ({
  id: { scope: { text: 'h:' }, key },
  limit,
  cost: 1_000_000,
  phase: 0,
})
/** A deadline of 20 seconds. An answer takes far less, but a call that waits for a locked row may take long. */
const patience = () => ({ deadline: performance.now() + 20_000 })

describe.skipIf(url === undefined)('X7: rows that another transaction holds', () => {
  const { store, pool, open, close } = ownStore(url, 4)
  beforeAll(open)
  afterAll(close)

  async function whileHeld<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const holder = await pool.connect()
    await holder.query('begin')
    for (const key of keys) await holder.query('select from sluice_state where id = $1 for update', [digestOf(call(key).id)])
    try {
      return await work()
    } finally {
      await holder.query('rollback')
      holder.release()
    }
  }

  it('a peek at one or at several waits for nobody', async () => {
    await verbs.decide(store, [{ calls: [call('a')] }, { calls: [call('b'), call('c', log)] }])
    await whileHeld(['a', 'b', 'c'], async () => {
      const [one] = await verbs.peek(store, [{ calls: [call('a')] }], patience())
      expect(one?.calls.map(({ remaining }) => remaining)).toEqual([9])
      const many = await verbs.peek(store, [{ calls: [call('a')] }, { calls: [call('b'), call('c', log)] }], patience())
      expect(many.map(({ calls }) => calls.map(({ remaining }) => remaining))).toEqual([[9], [9, 4]])
    })
  })

  it('a caller that does not wait gets a failure for the groups of the row, and nothing is charged for them', async () => {
    const hasty = barePostgresStore({ client: pg(pool), onContention: 'fail', sweepEveryMs: 0 })
    const groups = [{ calls: [call('d')] }, { calls: [call('e'), call('f', log)] }]
    await verbs.decide(store, groups)
    const failed = { failure: { kind: 'contention', executed: 'no' } }
    await whileHeld(['e'], async () => {
      expect(await hasty.decide(groups, patience())).toMatchObject([{ outcome: 'allowed', calls: [{ remaining: 8 }] }, failed])
      expect(await hasty.decide([{ calls: [call('e')] }], patience())).toMatchObject([failed])
    })
    const views = await verbs.peek(store, groups)
    expect(views.map(({ calls }) => calls.map(({ remaining }) => remaining))).toEqual([[8], [9, 4]])
  })
})
