import { memoryStore, type Store, tokenBucket } from 'sluice'
import { expect, test } from 'vitest'
import { surrounded } from '../src/stores/around.ts'

const group = {
  calls: [{ id: { scope: { text: 'a:tb:' }, key: 'k' }, limit: tokenBucket({ rate: '1/s', burst: 9 }), cost: 1_000_000, phase: 0 }],
}

function far(atomicBatch: 'any' | 'same-slot', deadlines: number[] = []): Store {
  const { consumeSync: _, ...memory } = memoryStore()
  return {
    ...memory,
    capabilities: { ...memory.capabilities, clock: 'server', atomicBatch, sync: false },
    lease: async () => [],
    consume: (groups, options) => {
      deadlines.push(options?.deadline ?? Number.NaN)
      return memory.consume(groups)
    },
  }
}

test('a store in this process has nothing around it', () => {
  const store = memoryStore()
  expect(surrounded(store, 'memory:', 50)).toEqual({ store, says: 'asked directly' })
})

test('what stands around a store over a wire is said, leases where the states of a request lie on several nodes', () => {
  expect(surrounded(far('any'), 'redis://127.0.0.1', 50).says).toBe(
    'calls joined, denials remembered for up to 1 s, a breaker, a deadline of 50 ms; over-grant 0 while redis decides',
  )
  expect(surrounded(far('same-slot'), 'redis+cluster://127.0.0.1', 50).says).toContain('busy token buckets leased')
})

test('the deadline of a question is its own, also where a reloaded policy gives more time than the first', async () => {
  const deadlines: number[] = []
  const { store } = surrounded(far('any', deadlines), 'redis://127.0.0.1', 50)
  // The first call has a second in any case.
  await store.consume([group])
  for (const ms of [20, 5_000]) {
    const asked = performance.now() + ms
    await store.consume([group], { deadline: asked })
    expect(deadlines.at(-1)).toBe(asked)
  }
})
