import { describe, expect, it } from 'vitest'
import type { GroupVerdict } from '../../../src/stores/store.ts'
import { settle } from './held-store.ts'
import { type Asked, call, groups, keys, ringBench } from './ring-bench.ts'

/** A verdict by which a test knows the key that it belongs to: its `at` is the number in the key. */
const verdictOf = (key: string): GroupVerdict => ({ outcome: 'allowed', at: Number(key.replace(/\D/g, '')), calls: [] })

describe('callers take turns', () => {
  it('with eight lists of 1,000 on their way, every single call is in one of the next two batches', async () => {
    const { ring, ask, calls, sent } = ringBench()
    const state = { open: 8 }
    const lists = Array.from({ length: 8 }, (_, index) =>
      ring.decide(groups(keys(`l${'abcdefgh'.charAt(index)}`, 1_000)), { deadline: 10_000 }).finally(() => (state.open -= 1)),
    )
    await settle()
    let [batches, singles] = [2, 0]
    expect(sent()).toHaveLength(2)
    while (state.open > 0) {
      const key = `s${singles}`
      const arrived: Asked[] = [ask(key, { deadline: 10_000 }), ask(`t${singles}`, { deadline: 10_000 })]
      singles += 1
      const before = calls.length
      const seen: string[] = []
      // Two batches are in flight. The older one is answered, twice, so two more batches are sent.
      for (let answered = 0; answered < 2; answered += 1) {
        const held = calls.shift()
        await held?.answerWith(held.keys.map(verdictOf))
        seen.push(...(sent().at(-1) ?? []))
        batches += 1
      }
      if (calls.length < before) break
      expect(seen).toContain(key)
      expect(seen).toContain(`t${singles - 1}`)
      expect(arrived.map(({ outcomes }) => outcomes)).toEqual(['waits', 'waits'])
    }
    while (calls.length > 0) {
      const held = calls.shift()
      await held?.answerWith(held.keys.map(verdictOf))
    }
    expect(singles).toBeGreaterThan(25)
    // Batches are full while lists wait.
    expect(batches).toBeLessThan((8_000 + 2 * singles) / (0.8 * 128))
    for (const list of lists) expect((await list).map((verdict) => verdict.outcome && verdict.at)).toEqual(keys('', 1_000).map(Number))
  })

  it('lists advance alike, whoever came first', async () => {
    const { ask, calls, sent } = ringBench({ batching: { maxCalls: 100 } })
    const lists = ['a', 'b', 'c', 'd'].map((name) => ask(keys(name, 500), { deadline: 10_000 }))
    await settle()
    const taken = new Map<string, number>()
    for (let batch = 0; batch < 10; batch += 1) {
      for (const key of sent()[0] ?? []) taken.set(key.charAt(0), (taken.get(key.charAt(0)) ?? 0) + 1)
      await calls.shift()?.answer()
    }
    expect([...taken.values()]).toEqual([250, 250, 250, 250])
    while (calls.length > 0) await calls.shift()?.answer()
    expect(lists.map(({ outcomes }) => outcomes?.length)).toEqual([500, 500, 500, 500])
  })

  it('groups of many calls do not push out single ones, nor are they pushed out', async () => {
    const { ring, ask, calls, sent } = ringBench({ batching: { maxCalls: 8 } })
    const wide = { calls: keys('w', 5).map((key) => call(key)) }
    const list = ring.decide(Array.from({ length: 6 }, () => wide))
    const singles = keys('s', 12).map((key) => ask(key))
    await settle()
    const batches: number[] = []
    while (calls.length > 0) {
      batches.push((sent()[0] ?? []).filter((key) => key.startsWith('s')).length)
      await calls.shift()?.answer()
    }
    expect(await list).toHaveLength(6)
    expect(singles.map(({ outcomes }) => outcomes)).toEqual(singles.map(() => ['allowed']))
    expect(batches.reduce((sum, count) => sum + count)).toBe(12)
    expect(batches.slice(0, 3).every((count) => count > 0)).toBe(true)
  })

  it('a list longer than the queue may be is refused as a whole, and takes no room', async () => {
    const { ask, answerAll } = ringBench({ batching: { maxQueued: 1_000 } })
    const [long, fits] = [ask(keys('a', 1_001)), ask(keys('b', 1_000))]
    await answerAll()
    expect(new Set(long.outcomes)).toEqual(new Set(['overload no']))
    expect(long.outcomes).toHaveLength(1_001)
    expect(new Set(fits.outcomes)).toEqual(new Set(['allowed']))
    const again = ask(keys('c', 1_000))
    await answerAll()
    expect(new Set(again.outcomes)).toEqual(new Set(['allowed']))
  })

  it('a refusal names the calls that wait, the calls of the list, and the bound', async () => {
    const { ring, ask, answerAll } = ringBench({ batching: { maxQueued: 5 } })
    const refused = async (count: number): Promise<unknown> => (await ring.decide(groups(keys('a', count))))[0]?.failure?.message
    expect(await refused(6)).toBe('held: 0 calls wait, and 6 more would be above batching.maxQueued, 5')
    ask('sent')
    await settle()
    ask(['b', 'c', 'd'])
    const third = refused(3)
    await answerAll()
    expect(await third).toBe('held: 3 calls wait, and 3 more would be above batching.maxQueued, 5')
  })

  it('where too much waits, those with most of their time left go first, so that some are answered at all', async () => {
    const { ask, calls, sent, pass } = ringBench({ batching: { maxCalls: 1 } })
    ask('slow', { deadline: 1_000 })
    await pass(1)
    ask('slow too', { deadline: 1_000 })
    await pass(2)
    const old = [ask('old', { deadline: 50 }), ask('older', { deadline: 40 })]
    await pass(40)
    const young = ask('young', { deadline: 93 })
    await settle()
    await calls.shift()?.answer()
    expect(sent()).toEqual([['slow too'], ['young']])
    expect([...old, young].map(({ outcomes }) => outcomes)).toEqual(['waits', ['timeout no'], 'waits'])
  })
})
