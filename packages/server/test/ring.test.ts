import { memoryStore, type Store, StoreFailure, tokenBucket } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { surrounded } from '../src/stores/ring.ts'

const group = {
  calls: [{ id: { scope: { text: 'a:tb:' }, key: 'k' }, limit: tokenBucket({ rate: '1/s', burst: 9 }), cost: 1_000_000, phase: 0 }],
}
const FAILURE = { deadlineMs: 50, policy: 'deny' } as const

function remote(atomicBatch: 'any' | 'same-slot', deadlines: number[] = []): Store {
  const { decideNow: _, ...memory } = memoryStore()
  return {
    ...memory,
    capabilities: { ...memory.capabilities, clock: 'server', atomicBatch, sync: false },
    lease: async () => [],
    decide: (groups, options) => {
      deadlines.push(options?.deadline ?? Number.NaN)
      return memory.decide(groups)
    },
  }
}

test('a store in this process has nothing around it', () => {
  const store = memoryStore()
  expect(surrounded(store, 'memory:', FAILURE)).toEqual({ store, around: 'called directly' })
})

test('the ring around a remote store is described; it leases where the states of a request lie on several nodes', () => {
  expect(surrounded(remote('any'), 'redis://127.0.0.1', FAILURE).around).toBe(
    'batching, denials cached for up to 1 s, a breaker, a deadline of 50 ms; over-grant 0 while redis decides',
  )
  expect(surrounded(remote('same-slot'), 'redis+cluster://127.0.0.1', FAILURE).around).toContain('busy token buckets leased')
  const { lease: _, ...without } = remote('same-slot')
  expect(surrounded(without, 'redis+cluster://127.0.0.1', FAILURE).around).not.toContain('leased')
})

test('the deadline of a call is its own, also if a reloaded policy gives more time than the first', async () => {
  const deadlines: number[] = []
  const { store } = surrounded(remote('any', deadlines), 'redis://127.0.0.1', { ...FAILURE, deadlineMs: 20_000 })
  for (const ms of [10_000, 50_000]) {
    const deadline = performance.now() + ms
    await store.decide([group], { deadline })
    expect(deadlines.at(-1)).toBe(deadline)
  }
})

test('failure.breaker of the policy says when the breaker opens', async () => {
  for (const [failures, state] of [
    [1, 'open'],
    [2, 'closed'],
  ] as const) {
    const decide = async (): Promise<never> => {
      throw new StoreFailure('connection', 'no', 'gone')
    }
    const { store, ring } = surrounded({ ...remote('any'), decide }, 'redis://h', { ...FAILURE, breaker: { failures } })
    onTestFinished(() => store.close())
    await store.decide([group], { deadline: performance.now() + 20 })
    expect(ring?.breakerState).toBe(state)
  }
})
