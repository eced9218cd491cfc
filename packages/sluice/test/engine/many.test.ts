import { describe, expect, it } from 'vitest'
import { LimiterError, memoryStore } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { manualClock } from '../../src/time/manual.ts'
import { remoteMemory } from '../remote-memory.ts'

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
  // The memory store as a remote store: it never decides at once. Its calls are counted.
  const store = remoteMemory(memory, {
    decide: (groups, options) => {
      count.calls += 1
      return memory.decide(groups, options)
    },
  })
  return createEngine({ policy: parsePolicy(POLICY), store, clock })
}
const of = (user: string, cost?: number) => ({
  method: 'GET',
  path: '/',
  headers: { 'x-user': user },
  ...(cost === undefined ? {} : { cost }),
})

describe('decideMany', () => {
  it('decides each request as if it were alone, in order, in one call of the store', async () => {
    const requests = [of('a', 2), of('b'), { key: 'a', limit: 'user', cost: 2 }, of('a'), of('a'), of('b', 4)]
    const [together, alone] = [{ calls: 0 }, { calls: 0 }]
    const many = await engineOver(together).decideMany(requests)
    const engine = engineOver(alone)
    const one = []
    for (const request of requests) one.push('key' in request ? await engine.decideKey(request) : await engine.decide(request))
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
    const requests = [of('a', 2), of('b'), { key: 'a', limit: 'user', cost: 2 }, of('a')]
    const many = await createEngine({ policy, store: memoryStore({ clock }), clock }).decideMany(requests)
    expect(many).toEqual(await engineOver({ calls: 0 }).decideMany(requests))
  })

  it('decides nothing for no requests, and calls no store', async () => {
    const count = { calls: 0 }
    expect(await engineOver(count).decideMany([])).toEqual([])
    expect(count.calls).toBe(0)
  })

  it.each([
    [{ key: 'a', limit: 'nothing' }, 'request 1: limit is "nothing", expected one of all, user, trial'],
    [{ key: '' }, 'request 1: engine: key is ""'],
    [of('a', -5), 'request 1: cost is -5'],
    [
      { method: 'GET', path: '/' } as never,
      'request 1: facts: headers is undefined, expected an object of header fields by lower-case name',
    ],
  ])('refuses %j by its index, and charges nothing', async (wrong, message) => {
    const engine = engineOver({ calls: 0 })
    const refused = await engine.decideMany([of('a', 3), wrong]).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(LimiterError)
    expect((refused as LimiterError).message).toContain(message)
    expect((await engine.decide(of('a', 3))).outcome).toBe('allowed')
  })
})
