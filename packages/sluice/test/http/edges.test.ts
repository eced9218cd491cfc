import { describe, expect, it } from 'vitest'
import type { Decision, Denied } from '../../src/decision/decision.ts'
import { createGate, type Passage, type RequestReader } from '../../src/http/gate.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import { headersOf } from '../../src/http/headers.ts'
import { problemOf } from '../../src/http/problem.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'

type Plain = Readonly<Record<string, string>>
const reader: RequestReader<Plain> = { method: () => 'GET', target: () => '/', headers: (headers) => headers }
const limiter = (burst = 3) => createLimiter({ limit: tokenBucket({ rate: '1/h', burst }), clock: manualClock() })
const gate = (options: GateOptions<Plain>) => createGate(options, reader)
const view = { name: 'a', limit: 20, remaining: 3, replenishAfterMs: 1_000, resetAfterMs: 9_000, windowMs: 2_000 }
const base = (at: number, given = view) => ({ limits: [given], at, atMicros: at * 1_000, source: 'store' }) as const
const allowed = (at: number, given = view): Decision => ({ ...base(at, given), outcome: 'allowed', allowed: true })

describe('X7: what a gate takes', () => {
  it.each([Infinity, -Infinity, Number.NaN, 0, -1, '2' as unknown as number])('refuses a cost of %s when it is made', (cost) => {
    expect(() => gate({ limiter: limiter(), cost })).toThrow(expect.objectContaining({ code: 'INVALID_COST' }))
  })

  it.each([0.000001, 1, 2 ** 40])('takes a cost of %s', (cost) => {
    expect(() => gate({ limiter: limiter(), cost })).not.toThrow()
  })

  it('answers at once also after a wrong key', () => {
    const limitedGate = gate({ limiter: limiter(), key: ({ key = '' }) => key })
    expect(() => limitedGate.check({ key: '' }, undefined)).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }))
    const passage = limitedGate.check({ key: 'a' }, undefined)
    expect(passage).not.toBeInstanceOf(Promise)
    expect((passage as Passage).decision?.outcome).toBe('allowed')
  })
})

describe('X7: the response to a client', () => {
  it.each([
    [1_700_000_000_000, '1700000001'],
    [1_700_000_000_001, '1700000002'],
    [1_700_000_000_999, '1700000002'],
  ])('at %i ms, a reset that is never too early', (at, reset) => {
    expect(new Map(headersOf(allowed(at), '', { dialect: 'off', legacy: 'epoch' })).get('X-RateLimit-Reset')).toBe(reset)
  })

  it('a count below 1, or one that is not a number, is left out', () => {
    for (const remaining of [0.5, -1, Number.NaN])
      expect(new Map(headersOf(allowed(0, { ...view, remaining }), '')).get('RateLimit-Remaining')).toBe('0')
    expect(new Map(headersOf(allowed(0, { ...view, remaining: 2 ** 52 }), '')).get('RateLimit-Remaining')).toBe('999999999999999')
  })

  it('of a time in Retry-After only where there is one', () => {
    const denied: Denied = { ...base(0), outcome: 'denied', allowed: false, limitName: 'a', reason: 'quota' }
    expect(problemOf({ ...denied, retryAfterMs: 1_000 }).detail).toBe('The limit a is used up; try again after the time in Retry-After.')
    expect(problemOf(denied).detail).toBe('The limit a is used up.')
    const blocked: Denied = { ...denied, reason: 'blocked' }
    expect(problemOf({ ...blocked, retryAfterMs: 1 }).detail).toBe(
      'Requests to the limit a are blocked; try again after the time in Retry-After.',
    )
    expect(problemOf(blocked).detail).toBe('Requests to the limit a are blocked.')
    expect(new Map(headersOf(denied, '')).has('Retry-After')).toBe(false)
    expect(Number(new Map(headersOf({ ...denied, retryAfterMs: 1 }, '')).get('Retry-After'))).toBeGreaterThanOrEqual(1)
  })
})
