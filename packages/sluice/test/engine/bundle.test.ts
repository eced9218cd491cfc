import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import type { Engine } from '../../src/policy.ts'
import { requestOf, bare, bundle, bundleBench } from './bundle-bench.ts'

const SMALL = { rps: 1, burst: 1 }
const names = async (engine: Engine, facts: RequestFacts): Promise<string[]> => (await engine.decide(facts)).rules.map(({ name }) => name)
const pro = { claims: { plan: 'pro' } }

describe('policies of a bundle', () => {
  it('all apply that match, in the order of their ids, each rule of each', async () => {
    const { engine } = bundleBench(
      bundle({
        b: { rules: [bare(SMALL, { name: 'z' }), bare(SMALL, { name: 'y' })] },
        a: { selector: { pathExact: '/x' }, rules: [bare(SMALL)] },
        c: { selector: { pathPrefix: '/v1' }, rules: [bare(SMALL)] },
      }),
    )
    expect(await names(engine, requestOf())).toEqual(['a/r', 'b/z', 'b/y'])
    expect(await names(engine, requestOf({ path: '/v1/x' }))).toEqual(['b/z', 'b/y', 'c/r'])
  })

  it('with rules of one name share no counters', async () => {
    const { engine } = bundleBench(
      bundle({
        a: { selector: { pathPrefix: '/a' }, rules: [bare({ rps: 1, burst: 3 })] },
        b: { selector: { pathPrefix: '/b' }, rules: [bare({ rps: 1, burst: 3 })] },
      }),
    )
    const left = async (path: string): Promise<number | undefined> => (await engine.decide(requestOf({ path }))).limits[0]?.remaining
    expect([await left('/a/1'), await left('/a/1'), await left('/b/1'), await left('/a/1')]).toEqual([2, 1, 2, 0])
  })

  it('charge all or nothing: what one refuses costs the others nothing', async () => {
    const { engine } = bundleBench(bundle({ a: { rules: [bare({ rps: 1, burst: 9 })] }, b: { rules: [bare(SMALL)] } }))
    await engine.decide(requestOf())
    for (let index = 0; index < 3; index += 1) {
      const denied = await engine.decide(requestOf())
      expect(denied).toMatchObject({ outcome: 'denied', limitName: 'b/r', violated: ['b/r'] })
      expect(denied.limits.find(({ name }) => name === 'a/r')?.remaining).toBe(8)
    }
  })

  it('let everything pass where none matches', async () => {
    const { engine } = bundleBench(bundle({ a: { selector: { pathExact: '/only' }, rules: [bare(SMALL)] } }))
    expect(await engine.decide(requestOf())).toMatchObject({ outcome: 'allowed', rules: [], limits: [] })
  })

  it('without limit_keys have one bucket for everybody', async () => {
    const { engine } = bundleBench(bare({ rps: 1, burst: 2 }))
    const from = async (ip: string): Promise<boolean> => (await engine.decide(requestOf({ ip }))).allowed
    expect([await from('192.0.2.1'), await from('192.0.2.2'), await from('192.0.2.3')]).toEqual([true, true, false])
  })
})

describe('a rule with a match', () => {
  it('compares texts, numbers and truth values as texts, and all must hold', async () => {
    const { engine } = bundleBench({ rules: [bare(SMALL, { match: { 'jwt:level': 3.0, 'jwt:beta': true, 'header:X_Plan': 'pro' } })] })
    const matching = async (claims: object, plan?: string): Promise<boolean> =>
      (await names(engine, requestOf({ claims: { ...claims }, headers: { 'x-plan': plan } }))).length === 1
    expect(await matching({ level: 3, beta: true }, 'pro')).toBe(true)
    expect(await matching({ level: '3', beta: 'true' }, 'pro')).toBe(true)
    expect(await matching({ level: 3.5, beta: true }, 'pro')).toBe(false)
    expect(await matching({ level: 3, beta: false }, 'pro')).toBe(false)
    expect(await matching({ level: 3, beta: true }, 'Pro')).toBe(false)
    expect(await matching({ level: 3, beta: true })).toBe(false)
    expect(await matching({ level: [3], beta: true }, 'pro')).toBe(false)
  })

  it('compares addresses as addresses, however they are written', async () => {
    const { engine } = bundleBench({ rules: [bare(SMALL, { match: { 'ip:address': '2001:DB8:0::1' } })] })
    expect(await names(engine, requestOf({ ip: '2001:db8::1' }))).toEqual(['r'])
    expect(await names(engine, requestOf({ ip: '192.0.2.1' }))).toEqual([])
  })

  it('applies together with its siblings that match', async () => {
    const { engine } = bundleBench({
      rules: [bare(SMALL, { name: 'a', match: { 'jwt:plan': 'pro' } }), bare(SMALL, { name: 'b', match: { 'query:big': '1' } })],
    })
    expect(await names(engine, requestOf({ path: '/x?big=1', ...pro }))).toEqual(['a', 'b'])
  })

  const key = { limit_keys: ['header:x-api-key'] }
  const conditional = (name: string, plan: string): object => bare(SMALL, { name, ...key, match: { 'jwt:plan': plan } })

  it('leaves to an unmatched one behind it, with the same keys, what it does not match', async () => {
    const rest = bare(SMALL, { name: 'rest', limit_keys: ['header:X_API_Key'] })
    const { engine } = bundleBench({ rules: [conditional('pro', 'pro'), conditional('team', 'team'), rest] })
    expect(await names(engine, requestOf(pro))).toEqual(['pro'])
    expect(await names(engine, requestOf({ claims: { plan: 'team' } }))).toEqual(['team'])
    expect(await names(engine, requestOf({ claims: { plan: 'free' } }))).toEqual(['rest'])
    expect(await names(engine, requestOf())).toEqual(['rest'])
    expect(engine.policy.warnings).toEqual([
      expect.stringContaining('requests without header:x-api-key share one bucket'),
      expect.stringContaining('no limit_keys name jwt:plan'),
      expect.stringContaining('rest has no match and follows pro or team with the same limit_keys, so it is read as their else'),
    ])
    expect((await engine.explain(requestOf(pro))).rules.map(({ matches, why }) => [matches, why])).toEqual([
      [true, undefined],
      [false, 'jwt:plan is not team'],
      [false, 'match of pro or team is not false'],
    ])
  })

  it.each([
    ['precedes it', [bare(SMALL, { name: 'all', ...key }), conditional('pro', 'pro')], ['all', 'pro']],
    ['has other keys', [conditional('pro', 'pro'), bare(SMALL, { name: 'all', limit_keys: ['ip:address'] })], ['pro', 'all']],
    [
      'has more keys',
      [conditional('pro', 'pro'), bare(SMALL, { name: 'all', limit_keys: ['header:x-api-key', 'ip:address'] })],
      ['pro', 'all'],
    ],
    ['has an empty match', [conditional('pro', 'pro'), bare(SMALL, { name: 'all', ...key, match: {} })], ['pro', 'all']],
    ['follows only ones without', [bare(SMALL, { name: 'pro', ...key }), bare(SMALL, { name: 'all', ...key })], ['pro', 'all']],
  ])('takes nothing from an unmatched one that %s', async (_, rules, applied) => {
    expect(await names(bundleBench({ rules }).engine, requestOf(pro))).toEqual(applied)
  })

  it('takes nothing from rules of another policy', async () => {
    const { engine } = bundleBench(
      bundle({ a: { rules: [conditional('pro', 'pro')] }, b: { rules: [bare(SMALL, { name: 'all', ...key })] } }),
    )
    expect(await names(engine, requestOf(pro))).toEqual(['a/pro', 'b/all'])
  })
})

describe('a fallback_limit', () => {
  const fallback_limit = { limit_keys: [], algorithm: 'token_bucket', algorithm_config: SMALL }

  it('applies where no rule of its policy matches, and only there', async () => {
    const rules = [bare(SMALL, { match: { 'jwt:plan': 'pro' } }), bare(SMALL, { name: 's', match: { 'query:s': '1' } })]
    const { engine } = bundleBench(bundle({ a: { rules, fallback_limit }, b: { rules: [bare(SMALL)] } }))
    expect(await names(engine, requestOf(pro))).toEqual(['a/r', 'b/r'])
    expect(await names(engine, requestOf({ path: '/x?s=1' }))).toEqual(['a/s', 'b/r'])
    expect(await names(engine, requestOf())).toEqual(['a/fallback_limit', 'b/r'])
  })

  it('is everything where there are no rules, nothing where one has no match, and may have a name', async () => {
    expect(await names(bundleBench(bundle({ a: { rules: [], fallback_limit } })).engine, requestOf())).toEqual(['a/fallback_limit'])
    expect(await names(bundleBench(bundle({ a: { rules: [bare(SMALL)], fallback_limit } })).engine, requestOf())).toEqual(['a/r'])
    expect(
      await names(bundleBench(bundle({ a: { rules: [], fallback_limit: { ...fallback_limit, name: 'rest' } } })).engine, requestOf()),
    ).toEqual(['a/rest'])
  })

  it('is not what replaces a rule that lacks its key', async () => {
    const rules = [bare(SMALL, { limit_keys: ['header:x-api-key'], match: { 'jwt:plan': 'pro' } })]
    expect(await names(bundleBench(bundle({ a: { rules, fallback_limit } })).engine, requestOf(pro))).toEqual(['a/r'])
  })
})

describe('descriptors', () => {
  const keyOf = async (limitKey: string, facts: Partial<RequestFacts>): Promise<string | null | undefined> =>
    (await bundleBench(bare(SMALL, { limit_keys: [limitKey] })).engine.explain(requestOf(facts))).rules[0]?.key?.[0]?.value

  it.each([
    ['jwt:org', { claims: { org: 'acme' } }, 'acme'],
    ['jwt:level', { claims: { level: 42 } }, '42'],
    ['jwt:beta', { claims: { beta: true } }, 'true'],
    ['jwt:org', { claims: { org: { id: 1 } } }, null],
    ['jwt:org', { claims: { org: '' } }, null],
    ['jwt:org', {}, null],
    ['jwt:toString', { claims: {} }, null],
    ['header:X-Api-Key', { headers: { 'x-api-key': 'k' } }, 'k'],
    ['header:x_api_key', { headers: { 'x-api-key': 'k' } }, 'k'],
    ['header:x-api-key', { headers: { x_api_key: 'k' } }, 'k'],
    ['header:x-api-key', { headers: { x_api_key: 'other', 'x-api-key': 'k' } }, '(ambiguous)'],
    ['header:x-api-key', { headers: { 'x-api-key': ['first', 'second'] } }, '(ambiguous)'],
    ['header:x-api-key', { headers: { 'x-api-key': ['', 'second'] } }, '(ambiguous)'],
    ['header:x-api-key', { headers: { 'x-api-key': '' } }, null],
    ['header:__proto__', {}, null],
    ['query:k', { path: '/x?k=1&k=2' }, '(ambiguous)'],
    ['query:k', { path: '/x?K=1' }, null],
    ['query:k', { path: '/x?k=' }, null],
    ['query:k', { path: '/x?k=a%20b+c' }, 'a b c'],
    ['ua:bot', { headers: { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' } }, 'true'],
    ['ua:bot', { headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' } }, 'false'],
    ['ua:bot', {}, null],
    ['ip:address', {}, '192.0.2.1'],
    ['ip:address', { ip: '::ffff:192.0.2.7' }, '192.0.2.7'],
  ])('%s of %j is %j', async (limitKey, facts, value) => {
    expect(await keyOf(limitKey, facts)).toBe(value)
  })

  it('compose one key that no other values have', async () => {
    const { engine } = bundleBench(bare(SMALL, { limit_keys: ['header:a', 'header:b'] }))
    const passes = async (a?: string, b?: string): Promise<boolean> => (await engine.decide(requestOf({ headers: { a, b } }))).allowed
    const pairs: [string | undefined, string | undefined][] = [
      ['1|2', '3'],
      ['1', '2|3'],
      ['1:2', '3'],
      ['1', '2:3'],
      ['-', undefined],
      [undefined, '-'],
      [undefined, undefined],
    ]
    for (const [a, b] of pairs) expect([a, b, await passes(a, b), await passes(a, b)]).toEqual([a, b, true, false])
  })

  it('that are missing leave nobody out: such requests share a bucket', async () => {
    const { engine } = bundleBench(bare({ rps: 1, burst: 2 }, { limit_keys: ['header:x-api-key'] }))
    const passes = async (headers: RequestFacts['headers']): Promise<boolean> => (await engine.decide(requestOf({ headers }))).allowed
    expect([await passes({}), await passes({ 'x-api-key': '' }), await passes({})]).toEqual([true, true, false])
    expect(await passes({ 'x-api-key': 'k' })).toBe(true)
  })
})

describe('shadow', () => {
  const DRY = { mode: 'shadow', rules: [bare(SMALL)] }

  it('counts, reports, and stops nobody', async () => {
    const { engine } = bundleBench(bundle({ a: DRY }))
    const [first, second] = [await engine.decide(requestOf()), await engine.decide(requestOf())]
    expect(first).toMatchObject({ allowed: true, limits: [], shadow: [{ rule: 'a/r', outcome: 'allowed' }] })
    expect(second).toMatchObject({ outcome: 'allowed', limits: [], violated: [], shadow: [{ rule: 'a/r', outcome: 'denied' }] })
  })

  it('is no part of what is enforced with it, before or after', async () => {
    const { engine } = bundleBench(bundle({ a: DRY, b: { rules: [bare({ rps: 1, burst: 2 })] }, c: DRY }))
    const outcomes = [await engine.decide(requestOf()), await engine.decide(requestOf()), await engine.decide(requestOf())]
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'denied'])
    expect(outcomes[2]).toMatchObject({ limitName: 'b/r', violated: ['b/r'], shadow: [{ outcome: 'denied' }, { outcome: 'denied' }] })
  })
})

describe('a cost', () => {
  const costs = (algorithm_config: object) => {
    const { engine } = bundleBench(bare({ rps: 1_000, burst: 1_000_000, ...algorithm_config }))
    return async (facts: Partial<RequestFacts>) => (await engine.explain(requestOf(facts))).rules[0]?.cost
  }

  it('is fixed', async () => {
    expect(await costs({})({})).toBe(1)
    expect(await costs({ fixed_cost: 10 })({})).toBe(10)
    expect(await costs({ cost_source: 'fixed', fixed_cost: 0.5 })({})).toBe(0.5)
    expect(await costs({ cost_source: 'fixed', default_cost: 9 })({ headers: { fixed: '7' } })).toBe(1)
  })

  it.each([
    ['5', 5],
    ['5.25', 5.25],
    ['1000000', 1_000_000],
    [undefined, 3],
    ['', 3],
    ['abc', 3],
    ['0', 3],
    ['0.000000', 3],
    ['-5', 3],
    ['0x2', 3],
    [' 1e1 ', 3],
    ['1e1', 3],
    ['inf', 3],
    ['nan', 3],
    ['NaN', 3],
    ['Infinity', 3],
    ['1e309', 3],
    ['5 ', 3],
    ['1.0000001', 1.000001],
    ['0.0001', 1],
    [['2', '7', 'x'], 7],
    ['9'.repeat(40), 9_007_199_254],
  ])('said in a header as %j is %d', async (weight, cost) => {
    const cost3 = costs({ cost_source: 'header:X-Weight', default_cost: 3 })
    expect(await cost3({ headers: { 'x-weight': weight } })).toBe(cost)
    expect(await cost3({ headers: { x_weight: weight } })).toBe(cost)
  })

  it('is said in a query', async () => {
    const cost = costs({ cost_source: 'query:weight' })
    expect([await cost({ path: '/x?weight=7' }), await cost({ path: '/x' }), await cost({ path: '/x?weight=2&weight=4' })]).toEqual([
      7, 1, 4,
    ])
  })

  it('has bounds', async () => {
    const bounded = costs({ cost_source: 'header:w', default_cost: 2, min_cost: 1.5, max_cost: 10 })
    const say = (w?: string) => bounded({ headers: { w } })
    expect([await say('1'), await say('3'), await say('11'), await say()]).toEqual([1.5, 3, 10, 2])
    const cheap = costs({ cost_source: 'header:w', default_cost: 0.1 })
    expect([await cheap({}), await cheap({ headers: { w: '0.01' } })]).toEqual([0.1, 0.1])
  })

  it('above the burst is impossible, and takes nothing', async () => {
    const { engine } = bundleBench(bare({ rps: 10, burst: 100, cost_source: 'header:w' }))
    const impossible = await engine.decide(requestOf({ headers: { w: '150' } }))
    expect(impossible).toMatchObject({ outcome: 'impossible', reason: 'capacity', limitName: 'r' })
    expect(impossible.retryAfterMs).toBeUndefined()
    expect((await engine.decide(requestOf())).limits[0]?.remaining).toBe(99)
  })
})
