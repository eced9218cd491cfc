import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { topKeys } from '../../src/observe/top-keys.ts'
import { bench, facts } from '../engine/bench.ts'
import { failingStore } from '../remote-memory.ts'

describe('top keys', () => {
  it('counts every key exactly while there is room', () => {
    const keys = topKeys(3)
    for (const [key, allowed] of [
      ['a', true],
      ['b', true],
      ['a', false],
      ['c', true],
      ['a', false],
    ] as const)
      keys.onCharge({ rule: 'r', key, allowed })
    expect(keys.top(2)[0]).toEqual({ rule: 'r', key: 'a', requests: 3, error: 0, refused: 2 })
    expect(keys.top(9)).toHaveLength(3)
    expect([keys.top(0), keys.floor]).toEqual([[], 1])
  })

  it('keeps the same key under two rules apart', () => {
    const keys = topKeys(9)
    for (const rule of ['r', 's', 's']) keys.onCharge({ rule, key: 'a', allowed: true })
    expect(keys.top(9).map(({ rule, requests }) => [rule, requests])).toEqual([
      ['s', 2],
      ['r', 1],
    ])
  })

  it('keeps its promises over every stream: counts never too low, never too high by more than they say, no frequent key missing', () => {
    const streams = fc.array(
      fc.integer({ min: 0, max: 30 }).map((n) => Math.floor(n ** 2 / 31)),
      { maxLength: 400 },
    )
    fc.assert(
      fc.property(streams, fc.integer({ min: 1, max: 12 }), (stream, capacity) => {
        const keys = topKeys(capacity)
        const exact = new Map<string, number>()
        for (const number of stream) {
          const key = String(number)
          keys.onCharge({ rule: 'r', key, allowed: number % 2 === 0 })
          exact.set(key, (exact.get(key) ?? 0) + 1)
        }
        const top = keys.top(Infinity)
        expect(top.length).toBe(Math.min(capacity, exact.size))
        expect(top.map(({ requests }) => requests)).toEqual(top.map(({ requests }) => requests).toSorted((a, b) => b - a))
        expect(top.reduce((sum, { requests }) => sum + requests, 0)).toBe(stream.length)
        for (const { key, requests, error, refused } of top) {
          const truth = exact.get(key) ?? 0
          expect(requests).toBeGreaterThanOrEqual(truth)
          expect(requests - error).toBeLessThanOrEqual(truth)
          expect(refused).toBeLessThanOrEqual(Number(key) % 2 === 0 ? 0 : truth)
        }
        const kept = new Set(top.map(({ key }) => key))
        for (const [key, count] of exact) {
          if (!kept.has(key)) expect(count).toBeLessThanOrEqual(keys.floor)
          if (count * capacity > stream.length) expect(kept).toContain(key)
        }
      }),
      { seed: 20_051_021, numRuns: 300 },
    )
  })
})

describe('keys that an engine reports to observers', () => {
  const RULES = `
rules:
  - { name: all, key: [], rate: 1/s, burst: 9 }
  - { name: user, key: ["header:x-key"], rate: 1/s, burst: 2 }
  - { name: seen, key: ["header:x-key", "method:"], rate: 1/s, burst: 1, mode: shadow }
`
  const by = (key: string) => facts({ headers: { 'x-key': key } })

  it('are pseudonyms, and say what each rule did', async () => {
    const keys = topKeys()
    const { engine } = bench(RULES, { observers: [keys] })
    for (const key of ['alice', 'alice', 'alice', 'bob']) await engine.decide(by(key))
    await engine.peek(by('bob'))
    const top = keys.top(9)
    const reported = top.map(({ rule, requests, refused }) => `${rule} ${requests} ${refused}`)
    expect(reported.toSorted()).toEqual(['seen 1 0', 'seen 3 2', 'user 1 0', 'user 3 1'])
    for (const { key } of top) expect(key).toMatch(/^[\da-f]{16}$/)
    expect(new Set(top.map(({ key }) => key)).size).toBe(4)
  })

  it.each([
    ['allow', 0],
    ['deny', 2],
  ])('are refused only if the request is, when the store fails: %s', async (policy, refused) => {
    const keys = topKeys()
    const { engine } = bench(`failure: { policy: ${policy} }\n${RULES}`, { observers: [keys], store: failingStore() })
    for (let turn = 0; turn < 2; turn += 1) await engine.decide(by('alice'))
    expect(keys.top(9).map(({ rule, requests, refused: of }) => ({ rule, requests, refused: of }))).toEqual([
      { rule: 'user', requests: 2, refused },
      { rule: 'seen', requests: 2, refused: 0 },
    ])
  })

  it('are those of the store where the policy requires pseudonyms', async () => {
    const keys = topKeys()
    const pseudonym = (text: string): string => `hidden-${text.length}-${text.codePointAt(text.length - 1)}`
    const { engine } = bench(`identifiers: { mode: hmac, secretFile: ./s }\n${RULES}`, { observers: [keys], pseudonym })
    await engine.decide(by('alice'))
    const [state] = await engine.inspectKey({ key: 'alice', limit: 'user' })
    expect(state?.state.endsWith(`:tb:${keys.top(9).find(({ rule }) => rule === 'user')?.key}`)).toBe(true)
    expect(JSON.stringify(keys.top(9))).not.toContain('alice')
  })

  it('cost nothing where no observer needs them', async () => {
    let named = 0
    const hashKeys = (text: string): string => `${(named += 1)}${text}`
    const { engine } = bench(RULES, { observers: [{ onDecision: () => {} }], hashKeys })
    await engine.decide(by('alice'))
    expect(named).toBe(0)
  })
})
