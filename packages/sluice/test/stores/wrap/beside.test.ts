import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Call, GroupVerdict, Store } from '../../../src/stores/store.ts'
import { beside, type Waits } from '../../../src/stores/wrap/beside.ts'
import { withCoalescing } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { heldStore, settle } from './held-store.ts'
import { draws } from '../../draws.ts'

const limit = tokenBucket({ rate: '1/h', burst: 3 })
const call = (key: string): Call => ({ id: { scope: { text: 'o:tb:' }, key }, limit, cost: 1_000_000, phase: 0 })
const keys = (from: number, count: number): string[] => Array.from({ length: count }, (_, index) => `k${from + index}`)

function bench() {
  const clock = manualClock()
  const held = heldStore(clock)
  const store = withCoalescing(held.store, { clock })
  const ask = (...of: string[]): Promise<unknown>[] => of.map((key) => store.consume([{ calls: [call(key)] }]))
  return { ...held, clock, store, ask, sent: () => held.calls.map((one) => one.keys) }
}

describe('calls beside one under way', () => {
  it('go out where there are sixteen that share no state with it, two at most at a time', async () => {
    const { ask, sent, calls } = bench()
    void ask('a')
    await settle()
    void ask(...keys(0, 15))
    await settle()
    expect(sent()).toEqual([['a']])
    void ask(...keys(15, 1))
    await settle()
    expect(sent()).toEqual([['a'], keys(0, 16)])
    void ask(...keys(16, 40))
    await settle()
    expect(calls).toHaveLength(2)
    await calls[1]?.answer()
    expect(sent()[2]).toEqual(keys(16, 40))
  })

  it('leave behind what shares one, and what shares one with that', async () => {
    const { ask, store, sent, answerAll } = bench()
    const first = ask('a')
    await settle()
    const both = store.consume([{ calls: [call('k0'), call('a')] }])
    const others = ask('k0', ...keys(1, 16))
    await settle()
    expect(sent()).toEqual([['a'], keys(1, 16)])
    await answerAll()
    expect(await both).toMatchObject([{ calls: [{ remaining: 2 }, { remaining: 1 }] }])
    expect(await others[0]).toMatchObject([{ calls: [{ remaining: 1 }] }])
    expect(await first[0]).toMatchObject([{ calls: [{ remaining: 2 }] }])
  })

  it('are looked for among so many only, and not behind a call that is full', () => {
    const looks: number[] = []
    const waits = (key: number): Waits => ({
      weight: 1,
      mark: (into) => into.add(`k${key}`),
      meets: (marked) => (looks.push(key), marked.has(`k${key}`)),
    })
    const many = Array.from({ length: 2_000 }, (_, key) => waits(key))
    const full = beside(many, [waits(0)], 100)
    expect([full.taken, full.left]).toEqual([many.slice(1, 101), [many[0], ...many.slice(101)]])
    expect(looks).toHaveLength(101)
    looks.length = 0
    const same = Array.from({ length: 2_000 }, () => waits(0))
    expect(beside(same, [waits(0)], 128)).toEqual({ taken: [], left: same })
    expect(looks).toHaveLength(512)
  })

  it('of one state wait for each other, and looking for others does not take longer the more there are', async () => {
    let looks = 0
    const one: Waits = { weight: 1, mark: (into) => into.add('a'), meets: (marked) => ((looks += 1), marked.has('a')) }
    expect(beside([one, one], [one], 128)).toEqual({ taken: [], left: [one, one] })
    expect(looks).toBe(2)
    const { ask, calls, answerAll } = bench()
    const answers: Promise<unknown>[] = []
    for (let caller = 0; caller < 1_000; caller += 1) {
      answers.push(...ask('a'))
      if (caller % 10 === 0) await settle()
    }
    expect(calls).toHaveLength(1)
    await answerAll()
    const verdicts = (await Promise.all(answers)) as GroupVerdict[][]
    expect(verdicts.map(([verdict]) => verdict?.allowed)).toEqual(answers.map((_, index) => index < 3))
  })

  it('find each state as they would one after the other, whatever is answered first', async () => {
    let abreast = 0
    const step = fc.record({
      of: fc.array(fc.nat(60), { minLength: 1, maxLength: 2 }),
      after: fc.constantFrom('next', 'next', 'next', 'next', 'next', 'tick', 'answer'),
      which: fc.nat(1),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 100, maxLength: 200 }), async (steps) => {
        const plain = memoryStore({ clock: manualClock() })
        const { store, calls, answerAll } = bench()
        const said = async (where: Store, of: readonly number[]): Promise<unknown> => {
          const [verdict] = await where.consume([{ calls: [...new Set(of)].map((key) => call(`k${key}`)) }])
          return [verdict?.outcome, ...(verdict?.calls ?? []).map(({ remaining }) => remaining)]
        }
        const answers: Promise<unknown>[] = []
        const expected: unknown[] = []
        for (const { of, after, which } of steps) {
          expected.push(await said(plain, of))
          answers.push(said(store, of))
          if (after === 'next') continue
          await settle()
          if (calls.length > 1) abreast += 1
          if (after === 'answer') await calls.splice(which % Math.max(1, calls.length), 1)[0]?.answer()
        }
        await answerAll()
        expect(await Promise.all(answers)).toEqual(expected)
      }),
      { seed: 20_261_121, numRuns: draws(100, 30) },
    )
    expect(abreast).toBeGreaterThan(draws(50, 20))
  })
})

describe('callers that were answered together', () => {
  it.each([
    ['a call takes no longer than they need to ask again', 0.05, [32]],
    ['a call takes longer', 1, [64]],
  ])('of one key travel in two calls only where %s', async (_, tookMs, lengths) => {
    const { store, calls, sent, clock } = bench()
    for (let caller = 0; caller < 64; caller += 1) {
      const again = (): unknown => store.consume([{ calls: [call('a')] }])
      void store.consume([{ calls: [call('a')] }]).then(again)
    }
    await settle()
    clock.advance(tookMs)
    await calls.shift()?.answer()
    for (let turn = 0; turn < 3; turn += 1) await settle()
    expect(sent().map(({ length }) => length)).toEqual(lengths)
  })

  it('and ask again at once travel in two calls from then on, half of them each', async () => {
    const { store, calls, sent } = bench()
    const state = { running: true }
    const caller = async (key: string): Promise<void> => {
      while (state.running) await store.consume([{ calls: [call(key)] }])
    }
    const done = keys(0, 64).map(caller)
    await settle()
    expect(sent().map(({ length }) => length)).toEqual([64])
    await calls.shift()?.answer()
    for (let turn = 0; turn < 3; turn += 1) await settle()
    expect(sent().map(({ length }) => length)).toEqual([32, 32])
    for (let round = 0; round < 4; round += 1) {
      await calls.shift()?.answer()
      for (let turn = 0; turn < 3; turn += 1) await settle()
    }
    expect(sent().map(({ length }) => length)).toEqual([32, 32])
    state.running = false
    while (calls.length > 0) {
      await calls.shift()?.answer()
      for (let turn = 0; turn < 3; turn += 1) await settle()
    }
    await Promise.all(done)
  })
})
