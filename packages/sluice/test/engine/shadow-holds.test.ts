import { describe, expect, it } from 'vitest'
import { memoryStore, type Store, StoreFailure } from '../../src/index.ts'
import type { Engine } from '../../src/policy.ts'
import { changedStates } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { bench, facts } from './bench.ts'

const SHADOWS = `
  - { name: at-once, key: ["ip:address"], algorithm: concurrency, limit: 1, hold: 60s, mode: shadow }
  - { name: tokens, key: ["ip:address"], rate: 1/h, burst: 10, mode: shadow }
`
const RULES = `
rules:
  - { name: budget, key: ["ip:address"], rate: 1/h, burst: 20 }
${SHADOWS}`

/** The outcomes that the shadow rules would have for a request of this cost. */
const shadowOf = async (engine: Engine, cost = 1): Promise<readonly string[]> =>
  (await engine.peek(facts({ cost }))).shadow.map(({ outcome }) => outcome)

describe('rules in shadow of a reservation', () => {
  it('are settled with it: their slots are free again, and their tokens come back', async () => {
    const { engine } = bench(RULES)
    const { decision, id } = await engine.reserve(facts(), { holdMs: 30_000 })
    expect(decision.shadow.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed'])
    expect(await shadowOf(engine)).toEqual(['denied', 'allowed'])
    expect(await engine.settle(facts(), id)).toMatchObject({ status: 'settled', limits: [{ name: 'budget' }] })
    expect(await shadowOf(engine)).toEqual(['allowed', 'allowed'])
    const second = await engine.reserve(facts({ cost: 1 }), { holdMs: 30_000 })
    await engine.cancel(facts(), second.id)
    expect([await shadowOf(engine), (await engine.peek(facts({ cost: 9 }))).shadow[1]]).toEqual([
      ['allowed', 'allowed'],
      { rule: 'tokens', outcome: 'allowed' },
    ])
  })

  it('leave nothing under way if the options of a settlement are wrong', async () => {
    const { engine } = bench(RULES)
    const { id } = await engine.reserve(facts())
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    try {
      await expect(engine.settle(facts(), id, 1, { deadlineMs: -5 })).rejects.toThrow('deadlineMs')
      await expect(engine.extend(facts(), id, 1_000, { deadlineMs: -5 })).rejects.toThrow('deadlineMs')
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
    }
    expect((await engine.settle(facts(), id, 1)).status).toBe('settled')
  })

  it('count what was used', async () => {
    const { engine } = bench(`rules:\n  - { name: tokens, key: [], rate: 1/h, burst: 10, mode: shadow }\n`)
    const { id } = await engine.reserve(facts({ cost: 6 }))
    expect(await engine.settle(facts(), id, 1)).toMatchObject({ status: 'unknown', limits: [] })
    expect([await shadowOf(engine, 9), await shadowOf(engine, 9.5)]).toEqual([['allowed'], ['denied']])
  })

  it('hold their slots as long as it is extended', async () => {
    const { engine, clock } = bench(RULES)
    const { id } = await engine.reserve(facts(), { holdMs: 5_000 })
    clock.advance(4_000)
    await engine.extend(facts(), id, 10_000)
    clock.advance(9_999)
    expect(await shadowOf(engine)).toEqual(['denied', 'allowed'])
    clock.advance(1)
    expect(await shadowOf(engine)).toEqual(['allowed', 'allowed'])
  })

  it('hold no slot if it is refused, and count it as `decide` does', async () => {
    const { engine } = bench(RULES)
    const first = await engine.reserve(facts({ cost: 20 }))
    await engine.settle(facts(), first.id)
    const { decision } = await engine.reserve(facts({ cost: 1 }))
    expect([decision.outcome, await shadowOf(engine)]).toEqual(['denied', ['allowed', 'allowed']])
    expect([await shadowOf(engine, 9), await shadowOf(engine, 10)]).toEqual([
      ['impossible', 'allowed'],
      ['impossible', 'denied'],
    ])
  })

  it('are charged once for one id, also where nothing else is charged', async () => {
    const { engine } = bench(`rules:\n${SHADOWS}`)
    for (let turn = 0; turn < 3; turn += 1) expect((await engine.reserve(facts(), { id: 'a' })).decision.outcome).toBe('allowed')
    expect(await shadowOf(engine, 9)).toEqual(['impossible', 'allowed'])
    await engine.cancel(facts(), 'a')
    expect([await shadowOf(engine), await shadowOf(engine, 10)]).toEqual([
      ['allowed', 'allowed'],
      ['impossible', 'allowed'],
    ])
    // Rules in shadow refuse nobody, so they refuse no id either.
    expect((await engine.reserve(facts(), { id: 'a' })).decision.outcome).toBe('allowed')
  })

  it('that cannot be charged or settled change no answer', async () => {
    const clock = manualClock()
    const memory = memoryStore({ clock })
    const isShadow = (text: string): boolean => text.includes('at-once') || text.includes('tokens')
    const { decideNow: _, ...rest } = memory
    const lost = new StoreFailure('timeout', 'unknown', 'lost')
    const store: Store = {
      ...rest,
      capabilities: { ...memory.capabilities, sync: false },
      decide: async (groups, options) => {
        const verdicts = await memory.decide(groups, options)
        return groups.map(({ calls }, index) =>
          calls.some(({ id }) => isShadow(id.scope.text)) ? { failure: lost } : (verdicts[index] as never),
        )
      },
      change: async (changes, options) => {
        const results = await memory.change(changes, options)
        if (changes.some((one) => changedStates(one).some(({ scope }) => isShadow(scope.text)))) throw lost
        return results
      },
    }
    const { engine } = bench(RULES, { store, clock })
    const { decision, id } = await engine.reserve(facts({ cost: 6 }))
    expect([decision.outcome, decision.shadow[0]?.outcome]).toEqual(['allowed', 'undecided'])
    expect(await engine.extend(facts(), id, 90_000)).toMatchObject({ status: 'open' })
    expect(await engine.settle(facts(), id, 2)).toMatchObject({ status: 'settled', repeated: false, limits: [{ held: 6, charged: 2 }] })
  })
})
