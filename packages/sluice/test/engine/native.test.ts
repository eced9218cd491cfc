import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { PolicyError } from '../../src/policy/document/policy-error.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { GOOD } from '../policy/corpus.ts'
import { mutations } from '../policy/mutations.ts'
import { bench, facts } from './bench.ts'
import { draws } from '../draws.ts'

const text = readFileSync(new URL('../fixtures/native.yaml', import.meta.url), 'utf8')
const pseudonym = (value: string): string => createHmac('sha256', 'secret').update(value).digest('hex')

describe('the policy of the manual, as it is printed', () => {
  const policy = parsePolicy(text)

  it('loads without a warning', () => {
    expect(policy.warnings).toEqual([])
    expect(policy.rules.map(({ name }) => name)).toEqual(['global', 'per-key', 'search'])
  })

  it('charges a search by key, by address and for everybody, each at its own cost', async () => {
    const clock = manualClock()
    const engine = createEngine({ policy, store: memoryStore({ clock }), clock, pseudonym })
    const search = facts({ path: '/api/search?q=x', headers: { 'x-api-key': 'k', 'x-request-weight': '3' } })
    const left = async (): Promise<Record<string, number>> =>
      Object.fromEntries((await engine.decide(search)).limits.map(({ name, remaining }) => [name, remaining]))
    expect(await left()).toEqual({ search: 95, 'per-key': 17, global: 9_999 })
    for (let call = 0; call < 5; call += 1) await engine.decide(search)
    expect(await engine.decide(search)).toMatchObject({ outcome: 'denied', limitName: 'per-key', retryAfterMs: 100, violated: ['per-key'] })
    expect(await engine.decide(facts({ path: '/api/x', headers: { 'x-api-key': 'k', 'x-request-weight': '50' } }))).toMatchObject({
      outcome: 'impossible',
      limitName: 'per-key',
    })
    const enterprise = { headers: { 'x-api-key': 'k', 'x-request-weight': '999' }, claims: { plan: 'enterprise' } }
    expect((await engine.decide(facts({ path: '/api/x', ...enterprise }))).limits).toContainEqual(
      expect.objectContaining({ name: 'per-key', limit: 2_000, remaining: 1_900 }),
    )
    clock.advance(100)
    expect(await engine.decide(search)).toMatchObject({ allowed: true })
  })
})

describe('a key that is given outright', () => {
  it('finds the bucket of requests with this value, however it is spelt', async () => {
    const { engine } = bench('rules: [{ name: a, key: ["ip:address"], rate: 1/s, burst: 5 }]')
    await engine.decide(facts({ ip: '2001:db8::1' }))
    expect((await engine.decideKey({ key: '2001:DB8:0::ffff', limit: 'a' })).limits[0]?.remaining).toBe(3)
    expect((await engine.decideKey({ key: '2001:db8::/64', limit: 'a' })).limits[0]?.remaining).toBe(2)
    expect((await engine.decideKey({ key: 'no address', limit: 'a' })).limits[0]?.remaining).toBe(4)
  })
})

describe('reloading', () => {
  it('of mutated policies under load fails no request, and keeps the last good one', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const engine = createEngine({ policy: parsePolicy(text), store, clock, pseudonym })
    let [reloaded, refused] = [0, 0]
    const pending: Promise<unknown>[] = []
    for (const mutant of fc.sample(mutations([text, ...GOOD]), { numRuns: draws(2_000, 100), seed: 20_261_120 })) {
      const before = engine.policy
      try {
        engine.reload(parsePolicy(mutant))
        reloaded += 1
      } catch (error) {
        if (!(error instanceof PolicyError)) expect(error).toMatchObject({ code: 'INVALID_OPTIONS' })
        expect(engine.policy).toBe(before)
        refused += 1
      }
      pending.push(engine.decide(facts({ path: '/api/search', headers: { 'x-api-key': `${reloaded}` } })))
    }
    const decisions = (await Promise.all(pending)) as { outcome: string }[]
    expect(decisions.every(({ outcome }) => ['allowed', 'denied', 'impossible'].includes(outcome))).toBe(true)
    expect(Math.min(reloaded, refused)).toBeGreaterThan(draws(20, 1))
  })
})
