import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { barePostgresStore } from '../../src/stores/postgres/index.ts'
import { bareRedisStore } from '../../src/stores/redis/index.ts'
import { type Call, type Store, StoreFailure } from '../../src/stores/store.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const ten = tokenBucket({ rate: '10/s', burst: 10 })

function call(limit: AnyLimit): Call {
  return { id: { scope: { text: 's:' }, key: 'k' }, limit, cost: 1_000_000, phase: 0 }
}

describe('a store with programs', () => {
  const now = 1_763_692_800_123_456
  const garbage: [string, unknown][] = [
    ['nothing', []],
    ['too little', [null]],
    ['too much', [null, now, 1, 0]],
    ['nulls', [null, null, null]],
    ['empty texts', ['', '', '']],
    ['truths', [true, true, true]],
    ['a time with a fraction', [null, now + 0.5, 1]],
    ['a time below zero', [null, -1, 1]],
    ['a time that is no number', [null, 'OK', 1]],
    ['more than a double holds', [null, '9007199254740993', 1]],
    ['more passed than was requested', [null, now, 2]],
    ['a denial that does not follow from the state', [null, now, 0]],
    ['a text', 'OK'],
    ['null', null],
    ['undefined', undefined],
    ['an object', { ok: 1 }],
  ]

  it.each(garbage)('makes %s a failure, never a denial', async (_, reply) => {
    const text = Array.isArray(reply) ? `{${reply.join(',')}}` : reply
    const redis = bareRedisStore({ client: { evalsha: async () => reply, eval: async () => reply } })
    const postgres = barePostgresStore({ client: { query: async () => [{ reply: text }], run: async () => {} } })
    const failure = async (store: Store): Promise<StoreFailure> => {
      const answer: unknown = await verbs.decide(store, [{ calls: [call(ten)] }]).catch((error: unknown) => error)
      if (answer instanceof StoreFailure) return answer
      throw new Error(`it was ${JSON.stringify(answer)}`)
    }
    expect(await failure(redis)).toMatchObject({ kind: 'protocol', executed: 'unknown' })
    // Where its function decided nothing, it says null.
    expect(await failure(postgres)).toMatchObject(reply === null ? { kind: 'contention', executed: 'no' } : { kind: 'protocol' })
  })
})
