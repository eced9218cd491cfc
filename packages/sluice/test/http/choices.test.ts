import { describe, expect, it, vi } from 'vitest'
import type { Decision, LimitView } from '../../src/decision/decision.ts'
import { addressKeys } from '../../src/http/address-key.ts'
import { createGate, type RequestReader } from '../../src/http/gate.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import { headersOf } from '../../src/http/headers.ts'
import { limitTexts } from '../../src/http/limit-texts.ts'
import { mergedOptions } from '../../src/http/merged-options.ts'
import { concurrency, createLimiter } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'

const reader: RequestReader<object> = { method: () => 'GET', target: () => '/', headers: () => ({}) }
const view = (name: string, remaining: number, more: Partial<LimitView> = {}): LimitView => ({
  name,
  limit: 10,
  remaining,
  replenishAfterMs: 1_000,
  resetAfterMs: 2_000,
  windowMs: 60_000,
  ...more,
})
const BASE = { at: 0, atMicros: 0, source: 'store' } as const
const allowed = (...limits: readonly LimitView[]): Decision => ({ ...BASE, outcome: 'allowed', allowed: true, limits })
const fields = (decision: Decision, dialect: 'draft-7' | 'draft-6'): Readonly<Record<string, string>> =>
  Object.fromEntries(headersOf(decision, '', { dialect }))

describe('fields with one value', () => {
  it('describe the limit with the least left, wherever it stands', () => {
    for (const remaining of [
      [1, 5, 3],
      [5, 1, 3],
      [5, 3, 1],
    ])
      expect(fields(allowed(...remaining.map((left, index) => view(`l${index}`, left))), 'draft-6')['RateLimit-Remaining']).toBe('1')
  })

  it('have no reset for slots, which do not come back with time', () => {
    const slots = allowed(view('slots', 1, { unit: 'concurrent-requests' }))
    expect(fields(slots, 'draft-7')['RateLimit']).toBe('limit=10, remaining=1')
    expect(fields(allowed(view('tokens', 1)), 'draft-7')['RateLimit']).toBe('limit=10, remaining=1, reset=1')
    expect('RateLimit-Reset' in fields(slots, 'draft-6')).toBe(false)
  })

  it('have texts that are written once for each limit, and again when it has changed', () => {
    const texts = limitTexts()
    const [a, b] = [view('a', 1), view('b', 1)]
    const [first, other] = [texts(a), texts(b)]
    expect([texts(a) === first, texts(a) === first, texts(b) === other]).toEqual([true, true, true])
    for (const change of [{ limit: 11 }, { windowMs: 1 }, { unit: 'concurrent-requests' as const }]) {
      // The changed limit must get new texts in two cases: right after the same limit, and after another limit.
      expect(texts(view('b', 1, change))).toMatchObject(change)
      expect(texts(b)).toMatchObject({ limit: 10, windowMs: 60_000, unit: undefined })
      texts(a)
      expect(texts(view('b', 1, change))).toMatchObject(change)
      texts(a)
    }
  })
})

describe('keys by address', () => {
  it('read the headers of the first 1,000 requests, and of new peers, to find a proxy that is not named', () => {
    const headers = vi.fn<() => object>(() => ({}))
    const keyOf = addressKeys(undefined, undefined, () => {})
    const read = (count: number, peer: string): number => {
      headers.mockClear()
      for (let index = 0; index < count; index += 1) keyOf(peer, headers as never)
      return headers.mock.calls.length
    }
    // One more, because the peer is new.
    expect(read(999, '192.0.2.1')).toBe(1_000)
    expect([read(1, '192.0.2.1'), read(5, '192.0.2.1'), read(5, '192.0.2.2')]).toEqual([1, 0, 1])
  })
})

describe('options of a route', () => {
  const [limiter, engine] = [{ of: 'limiter' }, { of: 'engine' }] as never[]
  const key = (): string => 'k'
  const onDenied = (): void => {}
  const waits = { onDenied: 'wait', maxWaitMs: 5, maxWaiting: 2 }
  const counts = { countWhen: 'failure', actualCost: () => 1, holdMs: 5 }
  const by = { key, trustedProxies: [], ipv6Prefix: 56 }

  it.each([
    ['nothing', { limiter, ...waits }, {}, { limiter, ...waits }],
    ['onDenied', { limiter, ...waits }, { onDenied }, { limiter, onDenied }],
    ['an engine', { limiter, limit: key, ...by, ...waits }, { engine }, { engine }],
    ['an engine, where nothing waits', { limiter, onDenied }, { engine }, { engine, onDenied }],
    ['a limiter', { engine, limit: key }, { limiter }, { limiter }],
    ['a key', { limiter, ipv6Prefix: 56 }, { key }, { limiter, key }],
    ['a prefix', { limiter, key }, { ipv6Prefix: 48 }, { limiter, ipv6Prefix: 48 }],
    ['a key, where all have proxies', { limiter, trustedProxies: [], onWarning: onDenied }, { key }, { limiter, key }],
    ['proxies', { limiter, key }, { trustedProxies: [] }, { limiter, trustedProxies: [] }],
    ['an engine, where all have a warning', { limiter, onWarning: onDenied }, { engine }, { engine }],
    ['a key that counts', { limiter, onWarning: onDenied, ...counts }, { key }, { limiter, key, onWarning: onDenied, ...counts }],
    ['a key that no longer counts', { limiter, key, onWarning: onDenied, ...counts }, waits, { limiter, key, ...waits }],
    ['another cost for addresses', { limiter, onWarning: onDenied }, { cost: 2 }, { limiter, onWarning: onDenied, cost: 2 }],
    ['a warning of its own without use', { limiter, key }, { onWarning: onDenied }, { limiter, key, onWarning: onDenied }],
    ['what counts', { limiter, ...waits }, counts, { limiter, ...counts }],
    ['waits', { limiter, ...counts }, waits, { limiter, ...waits }],
    ['holdMs', { limiter, ...counts }, { holdMs: 6 }, { limiter, ...counts, holdMs: 6 }],
    [
      'undefined options',
      { limiter, key, ...counts },
      { key: undefined, cost: undefined, countWhen: undefined },
      { limiter, key, ...counts },
    ],
    ['another cost', { limiter, ...counts }, { cost: 2 }, { limiter, ...counts, cost: 2 }],
  ] as unknown as [string, Partial<GateOptions<never, never>>, object, object][])(
    'with %s replace those of all',
    (_what, all, route, merged) => {
      expect(mergedOptions(all, route)).toEqual(merged)
    },
  )

  it('that are undefined replace none of all', () => {
    const all = { limiter, key, ...counts } as unknown as Partial<GateOptions<never, never>>
    const route = { key: undefined, cost: undefined, countWhen: undefined } as object
    expect(mergedOptions(all, route)).toStrictEqual(all)
  })
})

describe('a passage', () => {
  it('of an engine that names no rule names the limit that denied', async () => {
    const limits = [view('tokens', 0)]
    const denied: Decision = { ...BASE, outcome: 'denied', allowed: false, limits, limitName: 'tokens', reason: 'quota', retryAfterMs: 5 }
    const policies = async (violated: readonly string[]): Promise<unknown> => {
      const engine = { decide: async () => ({ ...denied, identity: 'i', violated }) }
      return (await createGate({ engine }, reader).check({}, undefined)).answer?.problem['violated-policies']
    }
    expect([await policies([]), await policies(['one', 'two'])]).toEqual([['tokens'], ['one', 'two']])
  })

  it('gives back its slots once; that it could not is no error', async () => {
    const limiter = createLimiter({ limit: concurrency({ limit: 1, holdMs: 60_000 }), clock: manualClock() })
    const release = vi.fn<typeof limiter.release>(() => Promise.reject(new Error('lost')))
    const passage = await createGate({ limiter: { ...limiter, release }, key: () => 'k' }, reader).check({}, undefined)
    for (let turn = 0; turn < 3; turn += 1) passage.release?.()
    await new Promise((resolve) => setImmediate(resolve))
    expect(release.mock.calls).toEqual([['k', passage.decision?.hold?.id]])
  })
})
