import { describe, expect, it } from 'vitest'
import { jitteredSeconds } from '../../src/decision/jitter.ts'
import { headersOf } from '../../src/http/headers.ts'
import { mergeHeaders } from '../../src/http/merge.ts'
import { problemOf } from '../../src/http/problem.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'

const clock = manualClock()
const limits = { global: tokenBucket({ rate: '1000/s', burst: 1000 }), 'per "user"': tokenBucket({ rate: '10/s', burst: 20 }) }

describe('headers', () => {
  it('an allowed answer', async () => {
    const limiter = createLimiter({ limits, clock })
    expect(Object.fromEntries(headersOf(await limiter.check('a', { cost: 13 }), 'a'))).toEqual({
      'RateLimit-Policy': '"global";q=1000;w=1, "per \\"user\\"";q=20;w=2',
      RateLimit: '"global";r=987;t=1, "per \\"user\\"";r=7;t=1',
      'RateLimit-Limit': '20',
      'RateLimit-Remaining': '7',
      'RateLimit-Reset': '1',
      'X-RateLimit-Limit': '20',
      'X-RateLimit-Remaining': '7',
    })
  })

  it('a denial has Retry-After, never early, at most half and a second more, and is not stored', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/min', burst: 1 }), clock })
    await limiter.check('a')
    const denied = await limiter.check('a')
    const seen = new Set<number>()
    for (let client = 0; client < 500; client += 1) {
      const headers = new Map(headersOf(denied, `client ${client}`, { legacy: 'delta' }))
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(headers.get('RateLimit')).toBe('"default";r=0;t=60')
      expect(headers.get('X-RateLimit-Reset')).toBe('60')
      seen.add(Number(headers.get('Retry-After')))
    }
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(60)
    expect(Math.max(...seen)).toBeLessThanOrEqual(90)
    expect(seen.size).toBeGreaterThan(20)
  })

  it('spreads a wait of one second over one and two', () => {
    const seen = new Set(Array.from({ length: 100 }, (_, client) => jitteredSeconds(1, `c${client}`)))
    expect(seen).toEqual(new Set([1, 2]))
  })

  it('what can never pass has no Retry-After; what is not known has no quota', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), clock })
    const impossible = await limiter.check('a', { cost: 2 })
    expect(new Map(headersOf(impossible, 'a')).has('Retry-After')).toBe(false)
    const degraded = { kind: 'timeout', executed: 'unknown', message: '' } as const
    const undecided = { outcome: 'undecided', allowed: false, limits: [], at: 0, source: 'fallback', degraded } as const
    expect(headersOf(undecided, 'a').map(([name]) => name)).toEqual(['Retry-After', 'Cache-Control'])
    expect(problemOf(undecided)).toMatchObject({ status: 503 })
    expect(problemOf(impossible as never)).toMatchObject({ status: 429, 'violated-policies': ['default'] })
  })

  it('can be turned off, one by one', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 9 }), clock })
    const decision = await limiter.check('a')
    expect(headersOf(decision, 'a', { dialect: 'off', limit: false })).toEqual([['X-RateLimit-Remaining', '8']])
    expect(headersOf(decision, 'a', { dialect: 'off', limit: false, remaining: false, legacy: 'epoch' })).toEqual([
      ['X-RateLimit-Reset', '1700000001'],
    ])
  })

  it('stand beside those of an outer limiter', () => {
    const sent = new Map([
      ['RateLimit', '"outer";r=5;t=1'],
      ['X-RateLimit-Remaining', '5'],
    ])
    const sink = { getHeader: (name: string) => sent.get(name), setHeader: (name: string, value: string) => sent.set(name, value) }
    mergeHeaders(
      sink,
      [
        ['RateLimit', '"inner";r=9;t=1'],
        ['X-RateLimit-Remaining', '9'],
      ],
      false,
    )
    expect(Object.fromEntries(sent)).toEqual({ RateLimit: '"outer";r=5;t=1, "inner";r=9;t=1', 'X-RateLimit-Remaining': '5' })
    mergeHeaders(sink, [['X-RateLimit-Remaining', '2']], false)
    expect(sent.get('X-RateLimit-Remaining')).toBe('2')
  })
})
