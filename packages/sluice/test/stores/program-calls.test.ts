import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { type ProgramForm, programCalls } from '../../src/stores/program-calls.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import type { Call, CallGroup, Store } from '../../src/stores/store.ts'

const ten = tokenBucket({ rate: '10/s', burst: 10 })
const odd = tokenBucket({ rate: '3/s', burst: '2.5' })
const stranger = { ...ten, algorithm: { ...ten.algorithm, name: 'sliding-window', tag: 'sw' } } as unknown as AnyLimit

function call(key: string, limit: AnyLimit = ten, cost = 1): Call {
  return { id: { scope: { text: 's:' }, key }, limit, cost: cost * 1_000_000, phase: 0 }
}

describe('programCalls', () => {
  const groups: CallGroup[] = [{ calls: [call('b'), call('a', odd, 0.1)] }, { calls: [] }, { calls: [call('B'), call('b', ten, 2)] }]
  const form: ProgramForm = { store: 'aStore', tags: ['tb'], order: 'appearance' }
  const numbersOf = (b: number, a: number, upper: number): number[][] => [
    [b, 1_000_000, 10, 1, 10_000_000, a, 100_000, 3, 1, 2_500_000],
    [],
    [upper, 1_000_000, 10, 1, 10_000_000, b, 2_000_000, 10, 1, 10_000_000],
  ]

  it('names each state once, in the order of appearance', () => {
    expect(programCalls(groups, form)).toEqual({ ids: ['s:b', 's:a', 's:B'], numbers: numbersOf(1, 2, 3) })
  })

  it('or in the order of bytes, which is that of locks', () => {
    expect(programCalls(groups, { ...form, order: 'bytes' })).toEqual({ ids: ['s:B', 's:a', 's:b'], numbers: numbersOf(3, 2, 1) })
  })

  it('is empty for no group', () => {
    expect(programCalls([], form)).toEqual({ ids: [], numbers: [] })
  })

  it('refuses a limit of an algorithm that the program does not know', () => {
    expect(() => programCalls([{ calls: [call('a'), call('b', stranger)] }], form)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('aStore: cannot decide a limit of sliding-window (sw), only of tb'),
      }),
    )
  })
})

describe('a store with a program', () => {
  const sent: unknown[] = []
  const send = async (...asked: unknown[]): Promise<never> => {
    sent.push(asked)
    throw new Error('was sent')
  }
  const stores: [string, Store][] = [
    ['redisStore', redisStore({ client: { evalsha: send, eval: send } })],
    ['postgresStore', postgresStore({ client: { query: send, run: send } })],
  ]

  it.each(stores)('%s sends nothing of a limit that it cannot decide', async (name, store) => {
    for (const verb of ['consume', 'peek'] as const) {
      await expect(store[verb]([{ calls: [call('a', stranger)] }])).rejects.toMatchObject({
        name: 'LimiterError',
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(`${name}: cannot decide a limit of sliding-window (sw)`),
      })
    }
    expect(sent).toEqual([])
  })
})
