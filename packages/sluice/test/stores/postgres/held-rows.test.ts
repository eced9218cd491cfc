import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { pg, postgresStore } from '../../../src/stores/postgres/index.ts'
import type { Call } from '../../../src/stores/store.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')
const bucket = tokenBucket({ rate: '1/day', burst: 10 })
const log = slidingWindowLog({ limit: 5, window: '1d' })
const call = (key: string, limit: Call['limit'] = bucket): Call => ({
  id: { scope: { text: 'h:' }, key },
  limit,
  cost: 1_000_000,
  phase: 0,
})
/** Far beyond what an answer takes; who waits for a held row waits for longer. */
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

  it('a look at one or at several waits for nobody', async () => {
    await store.consume([{ calls: [call('a')] }, { calls: [call('b'), call('c', log)] }])
    await whileHeld(['a', 'b', 'c'], async () => {
      const [one] = await store.peek([{ calls: [call('a')] }], patience())
      expect(one?.calls.map(({ remaining }) => remaining)).toEqual([9])
      const many = await store.peek([{ calls: [call('a')] }, { calls: [call('b'), call('c', log)] }], patience())
      expect(many.map(({ calls }) => calls.map(({ remaining }) => remaining))).toEqual([[9], [9, 4]])
    })
  })

  it('a caller that does not wait gets a failure, for one call and for several, and nothing is charged', async () => {
    const hasty = postgresStore({ client: pg(pool), onContention: 'fail', sweepEveryMs: 0 })
    const groups = [{ calls: [call('d')] }, { calls: [call('e'), call('f', log)] }]
    await store.consume(groups)
    await whileHeld(['e'], async () => {
      await expect(hasty.consume(groups, patience())).rejects.toMatchObject({ kind: 'contention', executed: 'no' })
      await expect(hasty.consume([{ calls: [call('e')] }], patience())).rejects.toMatchObject({ kind: 'contention', executed: 'no' })
    })
    const looks = await store.peek(groups)
    expect(looks.map(({ calls }) => calls.map(({ remaining }) => remaining))).toEqual([[9], [9, 4]])
  })
})
