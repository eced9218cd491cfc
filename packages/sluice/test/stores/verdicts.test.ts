import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { type CallGroup, type Store, StoreFailure } from '../../src/stores/store.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { readVerdicts } from '../../src/stores/verdicts.ts'

const limit = tokenBucket({ rate: '10/s', burst: 10 })
const call = { id: { scope: { text: 's:' }, key: 'k' }, limit, cost: 1_000_000, phase: 0 }
const one: CallGroup[] = [{ calls: [call] }]
const good: unknown[] = [0, 1_763_692_800_123_456, 0, 0, 9, 100_000, 100_000]

describe('readVerdicts', () => {
  it('reads numbers, and numbers as text, group by group', () => {
    const groups: CallGroup[] = [{ calls: [call, call] }, { calls: [] }, { calls: [call] }]
    const reply = [1, 7, 0, 0, 5, 6, 7, 1, 30, 0, 30, 40, 0, 7, 2, 7, 2, 0, 9, 1, 2]
    const expected = [
      {
        outcome: 'denied',
        allowed: false,
        at: 7,
        source: 'store',
        calls: [
          { outcome: 'allowed', retryAfter: 0, remaining: 5, replenishAfter: 6, resetAfter: 7 },
          { outcome: 'denied', retryAfter: 30, remaining: 0, replenishAfter: 30, resetAfter: 40 },
        ],
      },
      { outcome: 'allowed', allowed: true, at: 7, source: 'store', calls: [] },
      {
        outcome: 'impossible',
        allowed: false,
        at: 7,
        source: 'store',
        calls: [{ outcome: 'impossible', retryAfter: 0, remaining: 9, replenishAfter: 1, resetAfter: 2 }],
      },
    ]
    expect(readVerdicts(groups, reply)).toEqual(expected)
    expect(readVerdicts(groups, reply.map(String))).toEqual(expected)
    expect(readVerdicts([], [])).toEqual([])
  })

  const garbage: [string, readonly unknown[]][] = [
    ['nothing', []],
    ['too little', good.slice(1)],
    ['too much', [...good, 0]],
    ['nulls', good.map(() => null)],
    ['empty texts', good.map(() => '')],
    ['truths', good.map(() => true)],
    ['a fraction', good.with(4, 8.5)],
    ['a number below zero', good.with(3, -1)],
    ['what is no number', good.with(1, 'OK')],
    ['more than a double holds', good.with(1, '9007199254740993')],
    ['an outcome nobody knows', good.with(0, 3).with(2, 3)],
    ['a denial that no call made', good.with(0, 1)],
    ['an admission over a denial', good.with(2, 1)],
  ]

  it.each(garbage)('takes %s for no answer', (_, reply) => {
    expect(readVerdicts(one, reply)).toBeUndefined()
  })

  const other: [string, unknown][] = [
    ['a text', 'OK'],
    ['null', null],
    ['undefined', undefined],
    ['an object', { ok: 1 }],
  ]

  it.each([...garbage, ...other])('stores make %s a failure of kind protocol, never a denial', async (_, reply) => {
    const redis = redisStore({ client: { evalsha: async () => reply, eval: async () => reply } })
    const text = Array.isArray(reply) ? `{${reply.join(',')}}` : reply
    const postgres = postgresStore({ client: { query: async () => [{ reply: text }], run: async () => {} } })
    for (const store of [redis, postgres] as Store[]) {
      await expect(store.consume(one)).rejects.toSatisfy(
        (error) => error instanceof StoreFailure && error.kind === 'protocol' && error.executed === 'unknown',
      )
    }
  })
})
