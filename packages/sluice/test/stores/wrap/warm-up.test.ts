import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type CallOptions, type GroupVerdict, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { withWarmUp } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'

const groups = [
  { calls: [{ id: { scope: { text: 'w:' }, key: 'k' }, limit: tokenBucket({ rate: '1/s', burst: 5 }), cost: 1_000_000, phase: 0 }] },
]

/** A store over a wire that says which deadlines it was given, and answers when it is told to. */
function slow(clock = manualClock()) {
  const seen: (number | undefined)[] = []
  const pending: { answer(): void; fail(): void }[] = []
  const inner = memoryStore({ clock })
  const asked = (options: CallOptions | undefined): Promise<readonly GroupVerdict[]> => {
    seen.push(options?.deadline)
    return new Promise((resolve, reject) =>
      pending.push({
        answer: () => void inner.consume(groups).then(resolve),
        fail: () => reject(new StoreFailure('connection', 'no', 'gone')),
      }),
    )
  }
  const far: Store = {
    ...inner,
    capabilities: { ...inner.capabilities, clock: 'server', sync: false },
    consume: (_, options) => asked(options),
    peek: (_, options) => asked(options),
  }
  return { clock, seen, pending, store: withWarmUp(far, { graceMs: 1_000, clock }) }
}

describe('withWarmUp', () => {
  it('gives calls until the first answer as long as the grace, and not a moment more', async () => {
    const { clock, seen, pending, store } = slow()
    clock.advance(100)
    const first = store.consume(groups, { deadline: 150 })
    clock.advance(400)
    const second = store.peek(groups, { deadline: 550 })
    const patient = store.consume(groups, { deadline: 5_000 })
    for (const { answer } of pending) answer()
    await Promise.all([first, second, patient])
    void store.consume(groups, { deadline: 560 })
    expect(seen).toEqual([1_100, 1_100, 5_000, 560])
  })

  it('ends with the first failure, so that a store which is away costs the grace once', async () => {
    const { seen, pending, store } = slow()
    const first = store.consume(groups, { deadline: 50 })
    pending[0]?.fail()
    await expect(first).rejects.toThrow('gone')
    void store.consume(groups, { deadline: 60 })
    expect(seen).toEqual([1_000, 60])
  })

  it('brings no deadline back that has passed, and makes none', () => {
    const { clock, seen, store } = slow()
    clock.advance(100)
    void store.consume(groups, { deadline: 100 })
    void store.consume(groups)
    expect(seen).toEqual([100, undefined])
  })

  it('leaves a store in this process as it is', () => {
    const store = memoryStore()
    expect(withWarmUp(store)).toBe(store)
    expect(() => withWarmUp(store, { graceMs: 0 })).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
