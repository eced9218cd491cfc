import { describe, expect, it } from 'vitest'
import { LimiterError, memoryStore, type Store } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { manualClock } from '../../src/time/manual.ts'

const POLICY = `
version: 1
rules:
  - { name: all, key: [], rate: 1/h, burst: 100 }
  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 3 }
  - { name: trial, key: ["header:x-user"], rate: 1/h, burst: 1, mode: shadow }
`

function engineOver(count: { calls: number }) {
  const clock = manualClock()
  const memory = memoryStore({ clock })
  // The very store as one that is asked over a network, with its calls counted.
  const { consumeSync: _, ...asynchronous } = memory
  const store: Store = {
    ...asynchronous,
    capabilities: { ...memory.capabilities, sync: false },
    consume: (groups, options) => {
      count.calls += 1
      return memory.consume(groups, options)
    },
  }
  return createEngine({ policy: parsePolicy(POLICY), store, clock })
}
const of = (user: string, cost?: number) => ({
  method: 'GET',
  path: '/',
  headers: { 'x-user': user },
  ...(cost === undefined ? {} : { cost }),
})

describe('decideMany', () => {
  it('answers each question as it would have been answered alone, in order, in one call of the store', async () => {
    const questions = [of('a', 2), of('b'), { key: 'a', limit: 'user', cost: 2 }, of('a'), of('a'), of('b', 4)]
    const [together, alone] = [{ calls: 0 }, { calls: 0 }]
    const many = await engineOver(together).decideMany(questions)
    const engine = engineOver(alone)
    const one = []
    for (const question of questions) one.push('key' in question ? await engine.decideKey(question) : await engine.decide(question))
    expect(many).toEqual(one)
    expect(many.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'denied', 'allowed', 'denied', 'impossible'])
    expect(many.map(({ shadow }) => shadow.map(({ outcome }) => outcome).join())).toEqual([
      'impossible',
      'allowed',
      '',
      'allowed',
      'denied',
      'impossible',
    ])
    expect([together.calls, alone.calls]).toEqual([1, 6])
  })

  it('answers the same from a store that can do so at once', async () => {
    const [clock, policy] = [manualClock(), parsePolicy(POLICY)]
    const questions = [of('a', 2), of('b'), { key: 'a', limit: 'user', cost: 2 }, of('a')]
    const many = await createEngine({ policy, store: memoryStore({ clock }), clock }).decideMany(questions)
    expect(many).toEqual(await engineOver({ calls: 0 }).decideMany(questions))
  })

  it('answers nothing to no questions, and asks no store', async () => {
    const count = { calls: 0 }
    expect(await engineOver(count).decideMany([])).toEqual([])
    expect(count.calls).toBe(0)
  })

  it.each([
    [{ key: 'a', limit: 'nothing' }, 'question 1: limit is "nothing", expected one of all, user, trial'],
    [{ key: '' }, 'question 1: engine: key is ""'],
    [of('a', -5), 'question 1: cost is -5'],
    [
      { method: 'GET', path: '/' } as never,
      'question 1: facts: headers is undefined, expected an object of header fields by lower-case name',
    ],
  ])('refuses %j by its place, and charges nothing', async (wrong, message) => {
    const engine = engineOver({ calls: 0 })
    const refused = await engine.decideMany([of('a', 3), wrong]).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(LimiterError)
    expect((refused as LimiterError).message).toContain(message)
    expect((await engine.decide(of('a', 3))).outcome).toBe('allowed')
  })
})
