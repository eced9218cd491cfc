import { expect, it } from 'vitest'
import type { Decision } from '../../src/decision/decision.ts'
import { headersOf } from '../../src/http/headers.ts'

const view = (name: string, remaining: number) => ({
  name,
  limit: 9,
  remaining,
  replenishAfterMs: 5_000,
  resetAfterMs: 9_000,
  windowMs: 9_000,
})
const limits = [view('a', 3), view('b', 2), view('c', 7)]
const denied = {
  outcome: 'denied',
  allowed: false,
  limitName: 'a',
  reason: 'quota',
  retryAfterMs: 5_000,
  limits,
  at: 0,
  atMicros: 0,
  source: 'store',
} as const
const options = { field: 'X-Why', reasons: { quota: 'used_up' }, remaining: 0 } as const
const sentFor = (decision: Decision): Map<string, string> => new Map(headersOf(decision, 'x', { refusal: options }))

it('a refusal shows nothing left of the limits that refused, and only of those', () => {
  const left = (decision: Decision): string | undefined => sentFor(decision).get('RateLimit')?.replace(/;t=5/g, '')
  expect(left(denied)).toBe('"a";r=0, "b";r=2, "c";r=7')
  const byEngine: Decision & { readonly violated: readonly string[] } = { ...denied, violated: ['a', 'b'] }
  expect(left(byEngine)).toBe('"a";r=0, "b";r=0, "c";r=7')
  expect(denied.limits[0]?.remaining).toBe(3)
})

it('says why where there is a word for it', () => {
  expect(sentFor(denied).get('X-Why')).toBe('used_up')
  expect(sentFor({ ...denied, reason: 'blocked' }).has('X-Why')).toBe(false)
  expect(sentFor({ outcome: 'allowed', allowed: true, limits, at: 0, atMicros: 0, source: 'store' }).has('X-Why')).toBe(false)
})

it('is sent only where the policy requires it', () => {
  const plain = new Map(headersOf(denied, 'x'))
  expect([plain.has('X-Why'), plain.get('RateLimit-Remaining')]).toEqual([false, '3'])
  const sent = new Map(headersOf(denied, 'x', { refusal: options }))
  expect([sent.get('X-Why'), sent.get('RateLimit-Remaining'), sent.get('RateLimit')]).toEqual([
    'used_up',
    '0',
    '"a";r=0;t=5, "b";r=2;t=5, "c";r=7;t=5',
  ])
  const allowed = { outcome: 'allowed', allowed: true, limits, at: 0, atMicros: 0, source: 'store' } as const
  expect(headersOf(allowed, 'x', { refusal: options })).toEqual(headersOf(allowed, 'x'))
})
