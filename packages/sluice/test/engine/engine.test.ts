import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/engine/engine.ts'
import type { RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { type MemoryStore, memoryStore } from '../../src/stores/memory/memory-store.ts'
import { type Store, StoreFailure } from '../../src/stores/store.ts'
import { withFallback } from '../../src/stores/wrap/fallback.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

interface Bench {
  readonly engine: Engine
  readonly clock: ManualClock
  readonly store: MemoryStore
}

function bench(rules: string, options: Partial<EngineOptions> = {}, maxKeys = 1_000): Bench {
  const clock = manualClock()
  const store = memoryStore({ clock, maxKeys })
  return { engine: createEngine({ policy: parsePolicy(`version: 1\n${rules}`), store, clock, ...options }), clock, store }
}

const facts = (more: Partial<RequestFacts> = {}): RequestFacts => ({
  method: 'GET',
  path: '/api/items',
  headers: {},
  ip: '192.0.2.1',
  ...more,
})

const TWO = `
rules:
  - { name: global, key: [], rate: 100/s, burst: 10 }
  - { name: per-ip, key: ["ip:address"], rate: 1/s, burst: 3 }
`

describe('deciding', () => {
  it('charges all rules or none, and names those that deny', async () => {
    const { engine, clock } = bench(TWO)
    for (let left = 2; left >= 0; left -= 1) {
      expect(await engine.decide(facts())).toMatchObject({
        outcome: 'allowed',
        allowed: true,
        violated: [],
        shadow: [],
        rules: [
          { name: 'global', mode: 'enforce' },
          { name: 'per-ip', mode: 'enforce' },
        ],
        limits: [
          { name: 'per-ip', limit: 3, remaining: left },
          { name: 'global', remaining: 7 + left },
        ],
      })
    }
    const denied = { outcome: 'denied', limitName: 'per-ip', reason: 'quota', retryAfterMs: 1_000, violated: ['per-ip'] }
    expect(await engine.decide(facts())).toMatchObject({
      ...denied,
      limits: [
        { name: 'per-ip', remaining: 0 },
        { name: 'global', remaining: 7 },
      ],
    })
    expect(await engine.decide(facts({ ip: '192.0.2.2' }))).toMatchObject({
      outcome: 'allowed',
      limits: [{ remaining: 2 }, { remaining: 6 }],
    })
    clock.advance(999)
    expect((await engine.decide(facts())).allowed).toBe(false)
    clock.advance(1)
    expect((await engine.decide(facts())).allowed).toBe(true)
  })

  it('is exact under concurrency', async () => {
    const { engine } = bench(TWO)
    const decisions = await Promise.all(Array.from({ length: 100 }, (_, index) => engine.decide(facts({ ip: `192.0.2.${index % 50}` }))))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
  })

  it('orders limits by what they admit of this request: the most restrictive first', async () => {
    const { engine } = bench(`
rules:
  - { name: fast-but-dear, key: [], rate: 100/s, burst: 100, cost: 100 }
  - { name: slow, key: [], rate: 2/s, burst: 100 }
`)
    expect((await engine.decide(facts())).limits.map(({ name }) => name)).toEqual(['fast-but-dear', 'slow'])
  })

  it('calls a cost above the capacity impossible', async () => {
    const { engine } = bench(TWO)
    expect(await engine.decide(facts({ cost: 4 }))).toMatchObject({ outcome: 'impossible', limitName: 'per-ip', violated: ['per-ip'] })
    expect((await engine.decide(facts())).limits[0]?.remaining).toBe(2)
  })

  it('allows what no rule matches, inventing no limit', async () => {
    const { engine, clock, store } = bench('rules: [{ name: a, match: { path: /b }, key: [], rate: 1/s, burst: 1 }]')
    expect(await engine.decide(facts())).toMatchObject({ outcome: 'allowed', limits: [], rules: [], violated: [], at: clock.now() / 1_000 })
    expect(store.size).toBe(0)
  })

  it('does nothing by rules that are off', async () => {
    const { engine, store } = bench('rules: [{ name: a, key: [], rate: 1/s, burst: 1, mode: off }]')
    for (let call = 0; call < 3; call += 1) expect(await engine.decide(facts())).toMatchObject({ allowed: true, rules: [] })
    expect(store.size).toBe(0)
  })

  it('keeps rules in shadow out of the outcome, and charges each on its own', async () => {
    const { engine } = bench(`
rules:
  - { name: real, key: [], rate: 1/s, burst: 2 }
  - { name: tried, key: [], rate: 1/s, burst: 1, mode: shadow }
  - { name: wide, key: [], rate: 1/s, burst: 9, mode: shadow }
`)
    const shadow = (tried: string): object[] => [
      { rule: 'tried', outcome: tried },
      { rule: 'wide', outcome: 'allowed' },
    ]
    expect(await engine.decide(facts())).toMatchObject({ allowed: true, shadow: shadow('allowed'), limits: [{ name: 'real' }] })
    expect(await engine.decide(facts())).toMatchObject({ allowed: true, shadow: shadow('denied'), violated: [] })
    expect(await engine.decide(facts())).toMatchObject({ allowed: false, limitName: 'real', shadow: shadow('denied'), violated: ['real'] })
  })

  it('decides by shadows alone when nothing is enforced', async () => {
    const { engine } = bench('rules: [{ name: tried, key: [], rate: 1/s, burst: 1, mode: shadow }]')
    await engine.decide(facts())
    expect(await engine.decide(facts())).toMatchObject({ outcome: 'allowed', limits: [], shadow: [{ rule: 'tried', outcome: 'denied' }] })
  })

  it('takes the cost from the client within its bounds, or from the caller instead', async () => {
    const { engine } = bench('rules: [{ name: a, key: [], rate: 1/s, burst: 100, cost: { from: "header:x-weight", max: 10 } }]')
    // What is left after the call that is only looked at.
    const remaining = async (more: Partial<RequestFacts>): Promise<number | undefined> =>
      (await engine.peek(facts(more))).limits[0]?.remaining
    await engine.decide(facts({ headers: { 'x-weight': '7.5' } }))
    expect(await remaining({})).toBe(91)
    await engine.decide(facts({ headers: { 'x-weight': '-50' } }))
    await engine.decide(facts({ headers: { 'x-weight': '1e9' } }))
    expect(await remaining({})).toBe(89)
    await engine.decide(facts({ headers: { 'x-weight': '500' } }))
    expect(await remaining({})).toBe(79)
    await engine.decide(facts({ headers: { 'x-weight': '5' }, cost: 60 }))
    expect(await remaining({})).toBe(19)
  })

  it.each([-5, 0, Number.NaN, Number.POSITIVE_INFINITY, 0.0000001])('refuses a cost of %d before the store is asked', async (cost) => {
    const { engine, store } = bench(TWO)
    await expect(engine.decide(facts({ cost }))).rejects.toMatchObject({ code: 'INVALID_COST' })
    expect(store.size).toBe(0)
  })

  it('gives tiers of one rule buckets of their own', async () => {
    const { engine } = bench(`
rules:
  - name: a
    key: []
    tiers:
      - { when: { jwt:plan: pro }, rate: 1/s, burst: 2 }
      - { rate: 1/s, burst: 1 }
`)
    const plan = (name: string): Promise<{ allowed: boolean }> => engine.decide(facts({ claims: { plan: name } }))
    const allowed = [await plan('free'), await plan('free'), await plan('pro'), await plan('pro'), await plan('pro')].map(
      (decision) => decision.allowed,
    )
    expect(allowed).toEqual([true, false, true, true, false])
  })

  it('keeps keys apart that joined texts would mix up, and puts requests without the value together', async () => {
    const { engine } = bench('rules: [{ name: a, key: ["header:x", "header:y"], rate: 1/s, burst: 1 }]')
    const ask = async (x: string | undefined, y: string | undefined): Promise<boolean> =>
      (await engine.decide(facts({ headers: { x, y } }))).allowed
    expect([await ask('a:b', 'c'), await ask('a', 'b:c'), await ask('', ''), await ask(undefined, ''), await ask('', undefined)]).toEqual([
      true,
      true,
      true,
      true,
      true,
    ])
    expect([await ask(undefined, undefined), await ask(undefined, undefined), await ask('a:b', 'c')]).toEqual([true, false, false])
  })

  it.each(['//api//items/', '/API/Items', '/api/./x/../items', '/%61pi/items?y=1', 'http://elsewhere/api/items', '/api/items#f'])(
    '%s does not escape its rule',
    async (path) => {
      const { engine } = bench('rules: [{ name: a, match: { path: /api/items }, key: ["path:"], rate: 1/s, burst: 1 }]')
      expect((await engine.decide(facts())).allowed).toBe(true)
      expect((await engine.decide(facts({ path }))).allowed).toBe(false)
    },
  )
})

describe('who is asking', () => {
  const PER_IP = 'rules: [{ name: a, key: ["ip:address"], rate: 1/s, burst: 1 }]'
  const forwarded = (address: string, ip: string): RequestFacts =>
    facts({ ip, headers: { 'x-forwarded-for': address, forwarded: 'for=198.51.100.77' } })

  it('believes forwarding headers of trusted proxies only', async () => {
    const { engine } = bench(`trustedProxies: [10.0.0.0/8]\n${PER_IP}`)
    expect((await engine.decide(forwarded('203.0.113.1', '10.0.0.1'))).allowed).toBe(true)
    expect((await engine.decide(forwarded('9.9.9.9, 203.0.113.1', '10.0.0.1'))).allowed).toBe(false)
    expect((await engine.decide(forwarded('203.0.113.2', '10.0.0.1'))).allowed).toBe(true)
    expect((await engine.decide(forwarded('203.0.113.3', '198.51.100.1'))).allowed).toBe(true)
    expect((await engine.decide(forwarded('203.0.113.4', '198.51.100.1'))).allowed).toBe(false)
  })

  it('counts all addresses of one IPv6 network, and all spellings of one address, together', async () => {
    const { engine } = bench(PER_IP)
    const ask = async (ip: string): Promise<boolean> => (await engine.decide(facts({ ip }))).allowed
    expect([await ask('2001:db8:1:2::1'), await ask('2001:DB8:1:2:ffff::9'), await ask('2001:db8:1:3::1')]).toEqual([true, false, true])
    expect([await ask('192.0.2.7'), await ask('::ffff:192.0.2.7'), await ask('::ffff:c000:207')]).toEqual([true, false, false])
  })

  it('puts options above the policy, with another header where told to', async () => {
    const { engine } = bench(`trustedProxies: [10.0.0.0/8]\n${PER_IP}`, { trustedProxies: trustProxies(['loopback'], 'forwarded') })
    expect(await engine.explain(forwarded('203.0.113.1', '127.0.0.1'))).toMatchObject({ address: '198.51.100.77' })
    expect(await engine.explain(forwarded('203.0.113.1', '10.0.0.1'))).toMatchObject({ address: '10.0.0.1' })
    expect(() => bench(PER_IP, { trustedProxies: ['::ffff:10.0.0.0/8'] })).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS' }))
  })

  it('asks for claims where the facts bring none, and does without where they cannot be had', async () => {
    const claims = (given: RequestFacts): { sub: string } => {
      if (given.headers['authorization'] === undefined) throw new Error('no token')
      return { sub: 'user' }
    }
    const { engine } = bench('rules: [{ name: a, key: ["jwt:sub"], rate: 1/s, burst: 1 }]', { claims })
    const keys = async (more: Partial<RequestFacts>): Promise<unknown> => (await engine.explain(facts(more))).rules[0]?.key
    expect(await keys({ headers: { authorization: 'Bearer x' } })).toEqual([{ source: 'jwt:sub', value: 'user' }])
    expect(await keys({ claims: { sub: 'other' } })).toEqual([{ source: 'jwt:sub', value: 'other' }])
    expect(await keys({})).toEqual([{ source: 'jwt:sub', value: null }])
  })

  it('spreads retries by a hash that tells clients apart and names nobody', async () => {
    const { engine } = bench(PER_IP)
    const [one, same, other] = [await engine.decide(facts()), await engine.decide(facts()), await engine.decide(facts({ ip: '192.0.2.2' }))]
    expect(one.identity).toMatch(/^[\da-f]{8}$/)
    expect(same.identity).toBe(one.identity)
    expect(other.identity).not.toBe(one.identity)
  })
})

describe('looking without charging', () => {
  it('peeks', async () => {
    const { engine, store } = bench(TWO)
    expect(await engine.peek(facts())).toMatchObject({ allowed: true, limits: [{ remaining: 2 }, { remaining: 9 }] })
    expect(store.size).toBe(0)
  })

  it('explains which rules match, by which keys, and why the others do not', async () => {
    const { engine, store } = bench(`
rules:
  - { name: all, key: [], rate: 10/s, burst: 20 }
  - { name: one, match: { path: /api/** }, key: ["header:x-api-key", "ip:address"], rate: 1/s, burst: 2, cost: 2, mode: shadow }
  - { name: post, match: { method: POST }, key: [], rate: 1/s, burst: 2 }
  - { name: there, match: { host: b.example }, key: [], rate: 1/s, burst: 2 }
  - { name: gone, key: [], rate: 1/s, burst: 2, mode: off }
  - { name: tiers, key: [], tiers: [{ when: { jwt:plan: a }, rate: 1/s, burst: 1 }] }
`)
    expect(await engine.explain(facts({ headers: { host: 'A.example:80' } }))).toEqual({
      method: 'GET',
      path: '/api/items',
      host: 'a.example',
      address: '192.0.2.1',
      rules: [
        {
          name: 'all',
          mode: 'enforce',
          matches: true,
          key: [],
          tier: '',
          limit: { algorithm: 'token-bucket', capacity: 20, windowMs: 2_000 },
          cost: 1,
        },
        {
          name: 'one',
          mode: 'shadow',
          matches: true,
          key: [
            { source: 'header:x-api-key', value: null },
            { source: 'ip:address', value: '192.0.2.1' },
          ],
          tier: '',
          limit: { algorithm: 'token-bucket', capacity: 2, windowMs: 2_000 },
          cost: 2,
        },
        { name: 'post', mode: 'enforce', matches: false, why: 'method GET is not POST' },
        { name: 'there', mode: 'enforce', matches: false, why: 'host a.example is not b.example' },
        { name: 'gone', mode: 'off', matches: false, why: 'it is off' },
        { name: 'tiers', mode: 'enforce', matches: false, why: 'none of its tiers applies' },
      ],
    })
    expect(store.size).toBe(0)
  })
})

describe('deciding by a bare key', () => {
  const policy = readFileSync(new URL('../fixtures/seed-000.yaml', import.meta.url), 'utf8')

  it('charges the named rule, in the bucket of requests with this value', async () => {
    const { engine } = bench('rules:\n  - { name: k, match: { path: /a }, key: ["header:x-key", "ip:address"], rate: 1/s, burst: 2 }')
    const { ip: _, ...unknown } = facts({ path: '/a', headers: { 'x-key': 'me' } })
    expect(await engine.decide(unknown)).toMatchObject({ limits: [{ remaining: 1 }] })
    expect(await engine.decideKey({ key: 'me', limit: 'k' })).toMatchObject({ limits: [{ name: 'k', remaining: 0 }] })
    expect(await engine.decideKey({ key: 'me', limit: 'k' })).toMatchObject({ outcome: 'denied', violated: ['k'] })
    expect(await engine.decideKey({ key: 'me' })).toMatchObject({ allowed: true, limits: [] })
  })

  it('charges, with no rule named, those that ask nothing of a request', async () => {
    const clock = manualClock()
    const engine = createEngine({ policy: parsePolicy(policy), store: memoryStore({ clock }), clock })
    expect((await engine.decideKey({ key: 'user:42', cost: 3 })).limits).toMatchObject([
      { name: 'tenant:default', remaining: 97 },
      { name: 'global', remaining: 9_997 },
    ])
    expect((await engine.decideKey({ key: 'user:42', limit: 'tenant:premium' })).limits).toMatchObject([
      { name: 'tenant:premium', remaining: 999 },
    ])
  })

  it('refuses an empty key, a wrong cost and an unknown rule', async () => {
    const { engine } = bench(TWO)
    await expect(engine.decideKey({ key: '' })).rejects.toMatchObject({ code: 'INVALID_KEY' })
    await expect(engine.decideKey({ key: 'a', cost: -1 })).rejects.toMatchObject({ code: 'INVALID_COST' })
    await expect(engine.decideKey({ key: 'a', limit: 'nope' })).rejects.toThrow('limit is "nope", expected one of global, per-ip')
  })
})

describe("the template's policy at work", () => {
  const policy = parsePolicy(readFileSync(new URL('../fixtures/seed-000.yaml', import.meta.url), 'utf8'))

  it('charges a search five tokens at every level, and ten searches empty its bucket', async () => {
    const clock = manualClock()
    const engine = createEngine({ policy, store: memoryStore({ clock }), clock })
    const search = facts({ path: '/api/search?q=x' })
    expect((await engine.decide(search)).limits.map(({ name, limit, remaining, windowMs }) => [name, limit, remaining, windowMs])).toEqual([
      ['endpoint:/api/search', 50, 45, 10_000],
      ['tenant:default', 100, 95, 10_000],
      ['global', 10_000, 9_995, 1_000],
    ])
    for (let call = 0; call < 9; call += 1) expect((await engine.decide(search)).allowed).toBe(true)
    expect(await engine.decide(search)).toMatchObject({
      outcome: 'denied',
      limitName: 'endpoint:/api/search',
      retryAfterMs: 1_000,
      violated: ['endpoint:/api/search'],
    })
    expect((await engine.decide(facts({ path: '/api/data' }))).limits).toMatchObject([
      { name: 'tenant:default', remaining: 49 },
      { name: 'endpoint:/api/data' },
      { name: 'global' },
    ])
    expect((await engine.decide(facts({ path: '/api/search', claims: { sub: 'x', plan: 'premium' } }))).limits[0]?.remaining).toBe(45)
  })
})

describe('a store that cannot answer', () => {
  const rules = (...policies: string[]): string =>
    `rules:\n${policies.map((policy, index) => `  - { name: r${index}, key: ["ip:address"], rate: 1/s, burst: 1, onStoreFailure: ${policy} }`).join('\n')}`
  /** Full with another client's states, so that it must refuse a new one. */
  const full = async (text: string, options: Partial<EngineOptions> = {}): Promise<Engine> => {
    const { engine } = bench(text, options, 1)
    await engine.decideKey({ key: 'first', limit: 'r0' })
    return engine
  }

  it.each([
    [['allow'], true, 'fallback'],
    [['deny'], false, 'store'],
    [['local'], false, 'store'],
  ])('with %j is undecided, allowed %s', async (policies, allowed, source) => {
    const engine = await full(rules(...policies))
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'undecided',
      allowed,
      source,
      limits: [],
      violated: [],
      degraded: { kind: 'memory', executed: 'no' },
    })
  })

  it.each([
    [['allow', 'deny'], 'undecided', false],
    [['allow', 'local'], 'allowed', true],
    [['local', 'deny', 'allow'], 'undecided', false],
  ])('with rules of %j follows the strictest', async (policies, outcome, allowed) => {
    const local = memoryStore({ clock: manualClock() })
    const engine = await full(rules(...policies), { local })
    expect(await engine.decide(facts())).toMatchObject({ outcome, allowed, degraded: { kind: 'memory' } })
  })

  it('is stood in for by the local one, exactly and marked', async () => {
    const engine = await full(rules('local'), { local: memoryStore({ clock: manualClock() }) })
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'allowed',
      source: 'fallback',
      limits: [{ remaining: 0 }],
      degraded: { kind: 'memory' },
    })
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'denied',
      source: 'fallback',
      violated: ['r0'],
      degraded: { kind: 'memory' },
    })
  })

  it('may be wrapped outside: what the wrapper decided stands', async () => {
    const clock = manualClock()
    const gone: Store = { ...memoryStore({ clock }), consume: () => Promise.reject(new StoreFailure('connection', 'no', 'refused')) }
    const policy = parsePolicy(`version: 1\n${rules('local')}`)
    const wrapped = createEngine({ policy, clock, store: withFallback(gone, { local: memoryStore({ clock }) }) })
    expect(await wrapped.decide(facts())).toMatchObject({ outcome: 'allowed', source: 'fallback', degraded: { kind: 'connection' } })
    expect(await wrapped.decide(facts())).toMatchObject({ outcome: 'denied', source: 'fallback' })
    const bare = createEngine({ policy, clock, store: gone })
    expect(await bare.decide(facts())).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'connection' } })
  })

  it('leaves the enforced answer alone when only a shadow fails', async () => {
    const text = `rules:\n  - { name: r0, key: [], rate: 1/s, burst: 9 }\n  - { name: s, key: ["ip:address"], rate: 1/s, burst: 1, mode: shadow }`
    const engine = await full(text)
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'allowed',
      source: 'store',
      shadow: [{ rule: 's', outcome: 'undecided' }],
    })
  })

  it("is given the policy's deadline, or the call's, on a server's clock only", async () => {
    const clock = manualClock()
    const seen: unknown[] = []
    const memory = memoryStore({ clock })
    const watched = (kind: 'caller' | 'server'): Store => ({
      ...memory,
      capabilities: { ...memory.capabilities, clock: kind },
      consume: (groups, options) => {
        seen.push(options?.deadline)
        return memory.consume(groups, options)
      },
    })
    const policy = parsePolicy('version: 1\nfailure: { deadline: 20ms }\nrules: [{ name: a, key: [], rate: 1/s, burst: 9 }]')
    clock.advance(100)
    const remote = createEngine({ policy, clock, store: watched('server') })
    await remote.decide(facts())
    await remote.decide(facts(), { deadlineMs: 5 })
    await createEngine({ policy, clock, store: watched('caller') }).decide(facts())
    expect(seen).toEqual([120, 105, undefined])
  })
})

describe('the life of an engine', () => {
  it('reloads as one step, and keys keep what they had', async () => {
    const { engine, clock } = bench('rules: [{ name: a, key: [], rate: 1/day, burst: 10 }]')
    await engine.decide(facts({ cost: 8 }))
    const next = parsePolicy('version: 1\nrules: [{ name: a, key: [], rate: 1/s, burst: 100 }, { name: b, key: [], rate: 1/s, burst: 5 }]')
    engine.reload(next)
    expect(engine.policy).toBe(next)
    expect((await engine.decide(facts())).limits.map(({ name, remaining }) => [name, remaining])).toEqual([
      ['a', 1],
      ['b', 4],
    ])
    clock.advance(2_000)
    expect((await engine.peek(facts())).limits[0]?.remaining).toBe(2)
    expect(() => engine.reload(undefined as unknown as typeof next)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
    expect(engine.policy).toBe(next)
  })

  it('tells observers each decision with its route, and survives them', async () => {
    const events: DecisionEvent[] = []
    const broken = {
      decided() {
        throw new Error('broken')
      },
    }
    const { engine } = bench(TWO, { observers: [broken, { decided: (event) => events.push(event) }] })
    const decision = await engine.decide(facts({ route: '/api/:kind' }))
    await engine.peek(facts())
    await engine.decide(facts())
    expect(events.map(({ limiter, route }) => [limiter, route])).toEqual([
      ['policy', '/api/:kind'],
      ['policy', undefined],
    ])
    expect(events[0]?.decision).toBe(decision)
  })

  it('is closed for good, and leaves the store open', async () => {
    const { engine, store } = bench(TWO)
    await engine.decide(facts())
    await engine.close()
    expect(store.size).toBe(2)
    await expect(engine.decide(facts())).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(engine.decideKey({ key: 'a' })).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('refuses unknown options, and a missing store or policy', () => {
    const good = { policy: parsePolicy(`version: 1\n${TWO}`), store: memoryStore() }
    const build =
      (options: object): (() => Engine) =>
      () =>
        createEngine(options as EngineOptions)
    expect(build({ ...good, stroe: 1 })).toThrow(/unknown option stroe; known are policy, store/)
    expect(build({ policy: good.policy })).toThrow(/store is missing/)
    expect(build({ store: good.store })).toThrow(/policy is missing/)
  })
})
