import { expect, it } from 'vitest'
import type { Decision } from '../../src/decision/decision.ts'
import { asRefused, headersOf, refusalFields } from '../../src/http/headers.ts'

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
const left = ({ limits: views }: Decision): number[] => views.map(({ remaining }) => remaining)

it('a refusal shows nothing left of the limits that refused, and only of those', () => {
  expect(left(asRefused(denied, options))).toEqual([0, 2, 7])
  const byEngine: Decision & { readonly violated: readonly string[] } = { ...denied, violated: ['a', 'b'] }
  expect(left(asRefused(byEngine, options))).toEqual([0, 0, 7])
  expect(denied.limits[0]?.remaining).toBe(3)
})

it('says why where there is a word for it', () => {
  expect(refusalFields(denied, options)).toEqual([['X-Why', 'used_up']])
  expect(refusalFields({ ...denied, reason: 'blocked' }, options)).toEqual([])
  expect(refusalFields({ outcome: 'allowed', allowed: true, limits, at: 0, atMicros: 0, source: 'store' }, options)).toEqual([])
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
