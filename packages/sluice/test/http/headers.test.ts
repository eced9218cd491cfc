import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jitteredSeconds } from '../../src/decision/jitter.ts'
import type { Decision, Denied, LimitView } from '../../src/decision/decision.ts'
import { headersOf, headerWriter } from '../../src/http/headers.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { headerChoice, type HeaderOptions } from '../../src/policy/model/header-choice.ts'
import { manualClock } from '../../src/time/manual.ts'
import { parseList } from './structured-field.ts'
import { draws } from '../draws.ts'
import { anyText } from '../any-text.ts'

const clock = manualClock()
const limits = { global: tokenBucket({ rate: '1000/s', burst: 1000 }), 'per "user"': tokenBucket({ rate: '10/s', burst: 20 }) }
const fields = (decision: Decision, options?: HeaderOptions): Record<string, string> =>
  Object.fromEntries(headersOf(decision, 'someone', options))
const view = (over: Partial<LimitView> = {}): LimitView => ({
  name: 'a',
  limit: 20,
  remaining: 7,
  replenishAfterMs: 100,
  resetAfterMs: 1_300,
  windowMs: 2_000,
  ...over,
})
const allowed = (...views: LimitView[]): Decision => ({
  outcome: 'allowed',
  allowed: true,
  limits: views,
  at: 1_700_000_000_000,
  atMicros: 1_700_000_000_000_000,
  source: 'store',
})
const denied = (retryAfterMs: number, reason: 'quota' | 'blocked' = 'quota'): Decision => ({
  outcome: 'denied',
  allowed: false,
  limitName: 'a',
  reason,
  retryAfterMs,
  limits: [view({ remaining: 0, replenishAfterMs: retryAfterMs }), view({ name: 'b', remaining: 3 })],
  at: 1_700_000_000_000,
  atMicros: 1_700_000_000_000_000,
  source: 'store',
})

/**
 * The header fields for one decision about two limits, in every dialect (revision of the fields). Of the limits, the second is closer to
 * exhaustion.
 */
const X = { 'X-RateLimit-Limit': '20', 'X-RateLimit-Remaining': '7' }
const TRIPLET = { 'RateLimit-Limit': '20', 'RateLimit-Remaining': '7', 'RateLimit-Reset': '1' }
const BY_DIALECT: [HeaderOptions, Record<string, string>][] = [
  [
    {},
    {
      'RateLimit-Policy': '"global";q=1000;w=1, "per \\"user\\"";q=20;w=2',
      RateLimit: '"global";r=987;t=1, "per \\"user\\"";r=7;t=1',
      ...TRIPLET,
      ...X,
    },
  ],
  [{ dialect: 'draft-7' }, { 'RateLimit-Policy': '1000;w=1, 20;w=2', RateLimit: 'limit=20, remaining=7, reset=1', ...X }],
  [{ dialect: 'draft-6' }, { 'RateLimit-Policy': '1000;w=1, 20;w=2', ...TRIPLET, ...X }],
  [
    { dialect: 'draft-6', legacy: 'delta' },
    { 'RateLimit-Policy': '1000;w=1, 20;w=2', ...TRIPLET, ...X, 'X-RateLimit-Reset': '1' },
  ],
  [{ dialect: 'off' }, {}],
  [{ dialect: 'off', limit: true }, { 'X-RateLimit-Limit': '20' }],
  [
    { dialect: 'off', legacy: 'delta' },
    { ...X, 'X-RateLimit-Reset': '1' },
  ],
  [
    { dialect: 'off', legacy: 'epoch' },
    { ...X, 'X-RateLimit-Reset': '1700000001' },
  ],
  [{ dialect: 'off', legacy: 'epoch', limit: false, remaining: false }, { 'X-RateLimit-Reset': '1700000001' }],
]

describe('headers of an allowed answer', () => {
  it.each(BY_DIALECT)('%j', async (options, expected) => {
    const decision = await createLimiter({ limits, clock }).check('a', { cost: 13 })
    expect(fields(decision, options)).toEqual(expected)
  })

  it("are seed 001's for its rule", () => {
    const answer = fields(allowed(view({ name: 'per-org-rps', limit: 200, remaining: 87, replenishAfterMs: 10 })))
    expect(answer).toMatchObject({ RateLimit: '"per-org-rps";r=87;t=1', 'RateLimit-Policy': '"per-org-rps";q=200;w=2' })
    expect(answer).toMatchObject({ 'RateLimit-Limit': '200', 'RateLimit-Remaining': '87', 'RateLimit-Reset': '1' })
  })

  it('say nothing where no limit is known', () => {
    expect(fields(allowed())).toEqual({})
    expect(fields(allowed(), { dialect: 'draft-7', legacy: 'epoch' })).toEqual({})
  })

  it('follow a limit that changes, also under one name', () => {
    const write = headerWriter({ limit: false, remaining: false })
    const policies = [view(), view({ limit: 30 }), view({ windowMs: 60_000 }), view()].map((one) => {
      const seen = new Map<string, string>()
      write({ getHeader: () => undefined, setHeader: (name, value) => seen.set(name, value) }, allowed(one), '')
      return seen.get('RateLimit-Policy')
    })
    expect(policies).toEqual(['"a";q=20;w=2', '"a";q=30;w=2', '"a";q=20;w=60', '"a";q=20;w=2'])
  })

  it('are structured fields for every name and number', () => {
    const number = fc.oneof(fc.double({ noNaN: false }), fc.integer({ min: 0 }), fc.constantFrom(0, 87.4, 1e15, Infinity, -1, -0))
    const one = fc.record({
      name: anyText(),
      limit: number,
      remaining: number,
      replenishAfterMs: number,
      windowMs: number,
    })
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 4 }), fc.constantFrom('draft-11', 'draft-7', 'draft-6'), (views, dialect) => {
        const sent = fields(allowed(...views.map((each) => view(each))), { dialect: dialect as 'draft-7', legacy: 'delta' })
        const policy = parseList(sent['RateLimit-Policy'] ?? '')
        expect(policy.length).toBe(views.length)
        for (const { parameters } of policy) expect(parameters.get('w')).toBeGreaterThanOrEqual(1)
        if (dialect === 'draft-11') {
          expect(parseList(sent['RateLimit'] ?? '').map(({ parameters }) => [...parameters.keys()])).toEqual(views.map(() => ['r', 't']))
          expect(policy.every(({ value }) => typeof value === 'string')).toBe(true)
        }
        if (dialect === 'draft-7') expect(sent['RateLimit']).toMatch(/^limit=\d{1,15}, remaining=\d{1,15}, reset=\d{1,15}$/)
        for (const [name, value] of Object.entries(sent))
          if (/Limit-(?:Limit|Remaining|Reset)$/.test(name)) expect(value).toMatch(/^\d{1,15}$/)
      }),
      { seed: 20_261_121, numRuns: draws(500, 50) },
    )
  })

  it('name limits by legal strings, whatever is in a name', () => {
    const nameOf = (name: string): unknown => parseList(fields(allowed(view({ name })))['RateLimit'] ?? '')[0]?.value
    expect(['a;r=9', 'a"', 'a\\', 'é', 'x\r\nSet-Cookie: y', '\ud800'].map(nameOf)).toEqual([
      'a;r=9',
      'a"',
      'a\\',
      '%C3%A9',
      'x%0D%0ASet-Cookie: y',
      '%EF%BF%BD',
    ])
  })
})

describe('headers of a denial', () => {
  it.each([
    [{}, { RateLimit: '"a";r=0;t=60, "b";r=3;t=1', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '60', 'X-RateLimit-Remaining': '0' }],
    [
      { dialect: 'draft-7', legacy: 'delta' },
      { RateLimit: 'limit=20, remaining=0, reset=60', 'X-RateLimit-Reset': '60' },
    ],
    [
      { dialect: 'draft-6', legacy: 'epoch' },
      { 'RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1700000060' },
    ],
    [{ dialect: 'off' }, {}],
  ] as [HeaderOptions, Record<string, string>][])('%j: the denying limit, its exact wait, every limit in lists', (options, expected) => {
    const sent = fields(denied(60_000), options)
    expect(sent).toMatchObject({ ...expected, 'Cache-Control': 'no-store' })
    expect(Number(sent['Retry-After'])).toBeGreaterThanOrEqual(60)
  })

  it('Retry-After is never early, at most half and a second more, the same for one client, spread over many', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/min', burst: 1 }), clock })
    await limiter.check('a')
    const answer = await limiter.check('a')
    const waits = Array.from({ length: 500 }, (_, client) => Number(new Map(headersOf(answer, `client ${client}`)).get('Retry-After')))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(60)
    expect(Math.max(...waits)).toBeLessThanOrEqual(90)
    expect(new Set(waits).size).toBeGreaterThan(20)
    expect(fields(answer)).toEqual(fields(answer))
  })

  it('spreads a wait of one second over one and two', () => {
    const seen = new Set(Array.from({ length: 100 }, (_, client) => jitteredSeconds(1, `c${client}`)))
    expect(seen).toEqual(new Set([1, 2]))
  })

  it('rounds a wait up, never down, and never promises one without an end', () => {
    for (const wait of [1, 999, 1_000, 1_001])
      expect(Number(fields(denied(wait))['Retry-After'])).toBeGreaterThanOrEqual(Math.ceil(wait / 1_000))
    expect(fields(denied(Infinity, 'blocked'))).not.toHaveProperty('Retry-After')
    expect(fields(denied(5_000), { retryAfter: false })).not.toHaveProperty('Retry-After')
  })

  it('what can never pass has no Retry-After; what is not known has no quota', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), clock })
    const impossible = fields(await limiter.check('a', { cost: 2 }))
    expect(impossible).not.toHaveProperty('Retry-After')
    expect(impossible).toMatchObject({ 'Cache-Control': 'no-store', RateLimit: '"default";r=1;t=0' })
    const degraded = { kind: 'timeout', executed: 'unknown', message: '' } as const
    const undecided: Decision = { outcome: 'undecided', allowed: false, limits: [], at: 0, atMicros: 0, source: 'fallback', degraded }
    expect(Object.keys(fields(undecided))).toEqual(['Retry-After', 'Cache-Control'])
    expect(fields({ ...undecided, allowed: true })).toEqual({})
  })
})

describe('next to headers that are there', () => {
  const mergedInto = (before: Record<string, string>, decision: Decision, options?: HeaderOptions): Record<string, string> => {
    const sent = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]))
    const sink = {
      getHeader: (name: string) => sent.get(name.toLowerCase()),
      setHeader: (name: string, value: string) => sent.set(name.toLowerCase(), value),
      removeHeader: (name: string) => sent.delete(name.toLowerCase()),
    }
    headerWriter(options)(sink, decision, 'someone')
    return Object.fromEntries(sent)
  }

  it('lists grow, and single values are of the limit closer to exhaustion', () => {
    const outer = { RateLimit: '"outer";r=5;t=1', 'RateLimit-Remaining': '5', 'RateLimit-Limit': '50' }
    expect(mergedInto(outer, allowed(view()))).toMatchObject({
      ratelimit: '"outer";r=5;t=1, "a";r=7;t=1',
      'ratelimit-policy': '"a";q=20;w=2',
      'ratelimit-remaining': '5',
      'ratelimit-limit': '50',
    })
    expect(mergedInto(outer, allowed(view({ remaining: 2 })))).toMatchObject({ 'ratelimit-remaining': '2', 'ratelimit-limit': '20' })
    expect(mergedInto(outer, denied(1_000))).toMatchObject({
      ratelimit: '"outer";r=5;t=1, "a";r=0;t=1, "b";r=3;t=1',
      'ratelimit-remaining': '0',
    })
  })

  it('single values are of the limit that denied, also where another has less left, and of the nearer route where both have as much', () => {
    const outer = { 'RateLimit-Remaining': '0', 'RateLimit-Limit': '50' }
    const costly: Decision = { ...(denied(1_000) as Denied), limits: [view({ remaining: 3 })] }
    expect(mergedInto(outer, costly)).toMatchObject({ 'ratelimit-remaining': '3', 'ratelimit-limit': '20' })
    expect(mergedInto(outer, allowed(view({ remaining: 0 })))).toMatchObject({ 'ratelimit-limit': '20' })
  })

  it('draft-7 and draft-6 do the same with what they have', () => {
    const outer = { RateLimit: 'limit=50, remaining=5, reset=1', 'RateLimit-Policy': '50;w=1' }
    const options: HeaderOptions = { dialect: 'draft-7', remaining: false, limit: false }
    expect(mergedInto(outer, allowed(view()), options)).toEqual({ ratelimit: outer.RateLimit, 'ratelimit-policy': '50;w=1, 20;w=2' })
    expect(mergedInto(outer, allowed(view({ remaining: 2 })), options)['ratelimit']).toBe('limit=20, remaining=2, reset=1')
  })

  it('two forms are never mixed in one field: the one that is there stays, until a denial', () => {
    const outer = { RateLimit: 'limit=50, remaining=5, reset=1', 'RateLimit-Policy': '50;w=1' }
    expect(mergedInto(outer, allowed(view({ remaining: 1 })))).toMatchObject({ ratelimit: outer.RateLimit, 'ratelimit-policy': '50;w=1' })
    expect(mergedInto(outer, denied(1_000))).toMatchObject({
      ratelimit: '"a";r=0;t=1, "b";r=3;t=1',
      'ratelimit-policy': '"a";q=20;w=2, "b";q=20;w=2',
    })
  })

  it('the reset is of the limit whose other values are sent: slots have none', () => {
    const slots = view({ name: 'slots', limit: 5, remaining: 1, unit: 'concurrent-requests' })
    for (const [options, family] of [
      [{}, 'ratelimit'],
      [{ dialect: 'off', legacy: 'delta' }, 'x-ratelimit'],
      [{ dialect: 'off', legacy: 'epoch', remaining: true, limit: false }, 'x-ratelimit'],
    ] as const) {
      const after = (...views: LimitView[]): (string | undefined)[] => {
        const sent = views.reduce<Record<string, string>>((before, one) => mergedInto(before, allowed(one), options), {})
        return [sent[`${family}-remaining`], sent[`${family}-reset`]]
      }
      const reset = after(view())[1]
      expect(reset).toMatch(/^\d+$/)
      expect([after(view(), slots), after(slots, view())]).toEqual([
        ['1', undefined],
        ['1', undefined],
      ])
      expect([after(view({ remaining: 0 }), slots), after(slots, view({ remaining: 0 }))]).toEqual([
        ['0', reset],
        ['0', reset],
      ])
    }
  })

  it("the application's own stay, but a denial is never stored", () => {
    const own = { Vary: 'Origin', 'Cache-Control': 'public, max-age=60', 'X-Powered-By': 'x', 'X-RateLimit-Remaining': 'plenty' }
    expect(mergedInto(own, allowed(view()))).toMatchObject({
      vary: 'Origin',
      'cache-control': 'public, max-age=60',
      'x-ratelimit-remaining': 'plenty',
    })
    expect(mergedInto(own, denied(1_000))).toMatchObject({ vary: 'Origin', 'cache-control': 'no-store', 'x-powered-by': 'x' })
  })
})

describe('a choice of headers', () => {
  it.each([
    [{ dialect: 'draft-12' }, 'dialect is "draft-12", expected draft-11, draft-7, draft-6 or off'],
    [{ legacy: true }, 'legacy is true, expected off, delta or epoch'],
    [{ limit: 'yes' }, 'limit is "yes", expected true or false'],
    [{ dialekt: 'off' }, 'unknown option dialekt'],
    ['off', 'options are "off", expected an object'],
  ])('%j is refused', (options, message) => {
    expect(() => headerChoice(options as never)).toThrow(message)
    expect(() => headerWriter(options as never)).toThrow(message)
  })
})
