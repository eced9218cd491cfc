import { describe, expect, it } from 'vitest'
import type { Denied } from '../../src/decision/decision.ts'
import { problemOf } from '../../src/http/problem.ts'

const TYPES = 'https://iana.org/assignments/http-problem-types#'
const base = { allowed: false, limits: [], at: 0, atMicros: 0, source: 'store' } as const
const denied = (reason: Denied['reason']): Denied => ({ ...base, outcome: 'denied', limitName: 'per-key', reason, retryAfterMs: 1_000 })

describe('problem bodies', () => {
  it.each([
    ['quota', 'quota-exceeded', 'Quota Exceeded', 'is used up'],
    ['overflow', 'quota-exceeded', 'Quota Exceeded', 'is used up'],
    ['blocked', 'abnormal-usage-detected', 'Abnormal Usage Detected', 'are blocked'],
  ] as const)('a denial by %s is 429 %s', (reason, type, title, detail) => {
    expect(problemOf(denied(reason))).toEqual({
      type: TYPES + type,
      title,
      status: 429,
      detail: expect.stringContaining(detail),
      reason,
      'violated-policies': ['per-key'],
    })
  })

  it('U5: a cost above the capacity is 429 with its reason, and says that waiting does not help', () => {
    expect(problemOf({ ...base, outcome: 'impossible', limitName: 'per-key', reason: 'capacity' })).toMatchObject({
      type: `${TYPES}quota-exceeded`,
      status: 429,
      reason: 'capacity',
      detail: expect.stringContaining('waiting does not help'),
    })
  })

  it('a limiter that cannot answer is 503 and blames nobody', () => {
    const degraded = { kind: 'timeout', executed: 'unknown', message: 'redis://secret@host' } as const
    const problem = problemOf({ ...base, outcome: 'undecided', degraded })
    expect(problem).toMatchObject({ type: `${TYPES}temporary-reduced-capacity`, status: 503 })
    expect(Object.keys(problem)).toEqual(['type', 'title', 'status', 'detail'])
    expect(JSON.stringify(problem)).not.toContain('secret')
  })

  it('names every rule that refused where a policy says so', () => {
    expect(problemOf(denied('quota'), ['a', 'b'])).toMatchObject({ 'violated-policies': ['a', 'b'] })
  })
})
