import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Call, Store } from '../../../src/stores/store.ts'
import { withCoalescing } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { heldStore, settle } from './held-store.ts'
import { draws } from '../../draws.ts'

const limit = tokenBucket({ rate: '1/h', burst: 20 })
const call = (key: string): Call => ({ id: { scope: { text: 'o:tb:' }, key }, limit, cost: 1_000_000, phase: 0 })

/** One verb on some keys, and what it says in the end. */
const verbs = {
  consume: async (store: Store, keys: readonly string[]) => said(await store.consume([{ calls: keys.map(call) }])),
  peek: async (store: Store, keys: readonly string[]) => said(await store.peek([{ calls: keys.map(call) }])),
  give: async (store: Store, keys: readonly string[]) =>
    void (await store.adjust?.(
      keys.map(call),
      keys.map(() => 2_000_000),
    )),
  take: async (store: Store, keys: readonly string[]) =>
    void (await store.adjust?.(
      keys.map(call),
      keys.map(() => -3_000_000),
    )),
  block: async (store: Store, keys: readonly string[]) =>
    void (await store.block?.(
      keys.map((key) => call(key).id),
      1_000_000,
    )),
  lift: async (store: Store, keys: readonly string[]) =>
    void (await store.block?.(
      keys.map((key) => call(key).id),
      null,
    )),
  reset: async (store: Store, keys: readonly string[]) => void (await store.reset(keys.map((key) => call(key).id))),
}

function said(verdicts: readonly { outcome: string; calls: readonly { remaining: number }[] }[]): unknown {
  return verdicts.map(({ outcome, calls }) => [outcome, ...calls.map(({ remaining }) => remaining)])
}

const step = fc.record({
  verb: fc.constantFrom<keyof typeof verbs>('consume', 'consume', 'consume', 'consume', 'peek', 'give', 'take', 'block', 'lift', 'reset'),
  keys: fc.constantFrom(['a'], ['a'], ['b'], ['c'], ['a', 'b'], ['b', 'c']),
  /** What happens between this one and the next: nothing, a tick, or an answer to one of those under way. */
  after: fc.constantFrom('next', 'next', 'tick', 'answer', 'answer'),
  which: fc.nat(9),
})

describe('verbs among joint calls', () => {
  it('find each state as they would one after the other, whatever the store answers first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 60 }), async (steps) => {
        const clock = manualClock()
        const plain = memoryStore({ clock })
        const { store: far, calls, answerAll } = heldStore(clock)
        const store = withCoalescing(far, { clock, maxCalls: 5 })
        const answers: Promise<unknown>[] = []
        const expected: unknown[] = []
        for (const { verb, keys, after, which } of steps) {
          expected.push(await verbs[verb](plain, keys))
          answers.push(verbs[verb](store, keys))
          if (after !== 'next') await settle()
          // The store decides when it answers, in any order: only what may overlap may be under way together.
          if (after === 'answer') await calls.splice(which % Math.max(1, calls.length), 1)[0]?.answer()
        }
        await answerAll()
        expect(await Promise.all(answers)).toEqual(expected)
      }),
      { seed: 20_261_121, numRuns: draws(400, 100) },
    )
  })

  it('wait for what was asked of their state and for nothing else', async () => {
    const clock = manualClock()
    const { store: far, calls, answerAll } = heldStore(clock)
    const store = withCoalescing(far, { clock })
    const answers: Promise<unknown>[] = [store.consume([{ calls: [call('a')] }])]
    await settle()
    answers.push(store.reset([call('a').id]), store.peek([{ calls: [call('b')] }]), store.consume([{ calls: [call('a')] }]))
    answers.push(store.consume([{ calls: [call('b')] }]), store.consume([{ calls: [call('c')] }]))
    await settle()
    const sent = (): unknown[] => calls.map(({ verb, keys }) => [verb, ...keys])
    expect(sent()).toEqual([
      ['consume', 'a'],
      ['peek', 'b'],
    ])
    await calls.shift()?.answer()
    expect(sent()).toEqual([
      ['peek', 'b'],
      ['reset', 'a'],
      ['consume', 'c'],
    ])
    await answerAll()
    await Promise.all(answers)
  })

  it('hand on deadline and signal, and are told apart from what was sent', async () => {
    const clock = manualClock()
    const { store: far, calls, answerAll } = heldStore(clock)
    const store = withCoalescing(far, { clock })
    const [leaving, staying] = [new AbortController(), new AbortController()]
    const first = store.consume([{ calls: [call('a')] }])
    await settle()
    const waiting = store.reset([call('a').id], { signal: leaving.signal })
    const late = store.peek([{ calls: [call('a')] }], { deadline: 10 })
    const running = store.block?.([call('b').id], 5, { signal: staying.signal, deadline: 20 })
    await settle()
    expect(calls[1]).toMatchObject({ verb: 'block', options: { deadline: 20, signal: staying.signal } })
    leaving.abort()
    await expect(waiting).rejects.toMatchObject({ kind: 'aborted', executed: 'no' })
    clock.advance(10)
    await expect(late).rejects.toMatchObject({ kind: 'timeout', executed: 'no' })
    await calls[1]?.fail(new Error('theirs'))
    await expect(running).rejects.toThrow('theirs')
    calls.splice(1, 1)
    await answerAll()
    await first
    const after = store.consume([{ calls: [call('a')] }])
    await answerAll()
    expect((await after)[0]?.calls[0]?.remaining).toBe(18)
  })
})
