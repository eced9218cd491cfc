import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { headersOf } from '../../src/http/headers.ts'
import { requestOf, bare, bundle, bundleBench } from '../engine/bundle-bench.ts'
import { message, read, rule } from './bundle-texts.ts'

const warnings = (json: unknown): string[] => read(json).warnings.map((line) => line.replace(/^b\.json:1:\d+: /, ''))
const configured = (algorithm_config: object, more: object = {}): object => ({ rules: [rule({ algorithm_config, ...more })] })
const rateOf = (rps: number, burst: number) => {
  const policy = read(configured({ rps, burst }))
  const limit = policy.rules[0]?.tiers[0]?.limit ?? expect.fail('no limit')
  return { envelope: limit.algorithm.envelope(limit.plan), warnings: policy.warnings }
}

describe('U11: what a move from Fairvisor meets is warned of', () => {
  it('a policy that means the same has no warning', () => {
    expect(warnings(configured({ rps: 5, burst: 10, cost_source: 'header:x-w', default_cost: 2, max_cost: 10 }))).toEqual([])
  })

  it('default_cost without cost_source, which is charged there and 1 here', async () => {
    const config = { rps: 1, burst: 100, default_cost: 7 }
    expect(warnings(configured(config))).toEqual([
      'rules[0].algorithm_config.default_cost is not charged without cost_source, and Fairvisor charges it: with fixed_cost it is charged here as well',
    ])
    expect((await bundleBench(bare(config)).engine.decide(requestOf())).limits[0]?.remaining).toBe(99)
    expect(warnings(configured({ ...config, cost_source: 'fixed' }))).toEqual([])
  })

  it('ua:bot, in keys and in match', () => {
    const text = (path: string) => `${path}: ua:bot knows other programs by name than Fairvisor's list does`
    expect(warnings({ rules: [rule({ limit_keys: ['ua:bot'] })] })).toEqual([text('rules[0].limit_keys[0]')])
    expect(warnings({ rules: [rule({ match: { 'ua:bot': true } })] })).toContain(text('rules[0].match["ua:bot"]'))
  })

  it('a rule without algorithm, which loads here only', () => {
    const { algorithm: _, ...rest } = rule() as { readonly algorithm: string }
    expect(warnings({ rules: [rest] })).toEqual(['rules[0].algorithm is missing and is read as token_bucket: Fairvisor drops such a rule'])
  })

  it.each(['global_shadow', 'kill_switch_override'])('%s without enabled, which loads here only', (name) => {
    const text = `${name} is empty and has no effect: Fairvisor refuses the bundle, expected { "enabled": false } or none`
    expect(warnings({ ...bundle({ p: { rules: [rule()] } }), [name]: {} })).toEqual([text])
    expect(warnings({ ...bundle({ p: { rules: [rule()] } }), [name]: { enabled: false } })).toEqual([])
  })

  it('{} where a list is expected', () => {
    expect(warnings({ rules: [rule({ limit_keys: {} })] })).toEqual([
      expect.stringMatching(/^rules\[0\]\.limit_keys is \{\} and is read as an empty list: expected a list of jwt:<name>/),
    ])
    expect(read({ rules: [rule({ limit_keys: {} })] }).rules[0]?.key).toEqual([])
    expect(warnings({ ...bundle({ p: { rules: [rule()] } }), kill_switches: {} })).toEqual([
      'kill_switches is {} and is read as an empty list: expected a list',
    ])
    expect(warnings(bundle({ p: { selector: { pathPrefix: '/', methods: {} }, rules: [rule()] } }))).toEqual([
      'policies[0].spec.selector.methods is {} and is read as an empty list: expected a list of methods such as GET',
      'policies[0].spec.selector.methods is empty: its rules never match',
    ])
    expect(message({ rules: [rule({ limit_keys: { a: 1 } })] })).toContain('limit_keys is a map: expected a list')
    expect(message({ rules: [rule({ limit_keys: {} })] }, { strict: true })).toContain('limit_keys is a map: expected a list')
  })

  it.each([
    [{ limit_keys: ['query:k'] }, 'rules[0].limit_keys[0]: query:k'],
    [{ match: { 'query:k': 1 } }, 'rules[0].match["query:k"]: query:k'],
    [{ algorithm_config: { rps: 1, burst: 9, cost_source: 'query:k', max_cost: 9 } }, 'rules[0].algorithm_config.cost_source: query:k'],
  ])('whose query is read: %j', (more, place) => {
    expect(warnings({ rules: [rule(more)] })).toContain(
      `${place} is read from X-Original-URI where a decision call has that, and Fairvisor reads the query of the call itself`,
    )
  })

  it('a cost that may be above the burst, which has no Retry-After, and a RateLimit-Reset of the next token, or 0 if the bucket is full', async () => {
    const config = { rps: 0.01, burst: 10, cost_source: 'header:w' }
    const text = /a client may say a cost above the burst of 10: it is refused without Retry-After, unless max_cost is at most the burst/
    expect(warnings(configured(config))).toEqual([expect.stringMatching(text)])
    expect(warnings(configured({ ...config, max_cost: 10.5 }))).toEqual([expect.stringMatching(text)])
    expect(warnings(configured({ ...config, max_cost: 10 }))).toEqual([])
    const { engine } = bundleBench(bare(config))
    const resets: (string | undefined)[] = []
    for (const w of ['11', '7', '11']) {
      const decision = await engine.decide(requestOf({ headers: { w } }))
      const headers = new Map(headersOf(decision, decision.identity, engine.headers))
      expect(headers.has('Retry-After')).toBe(false)
      if (w === '11') resets.push(headers.get('RateLimit-Reset'))
    }
    expect(resets).toEqual(['0', '100'])
  })
})

describe('U11: every row of the table in docs/fairvisor.md that a bundle can meet has a warning, once for a bundle', () => {
  const key = (name: string, limit_keys: string[], more: object = {}): object => rule({ name, limit_keys, ...more })

  it('a key that may be missing', () => {
    for (const missing of ['header:x-api-key', 'jwt:org']) {
      const text = `rules[0].limit_keys[1]: requests without ${missing} share one bucket, and Fairvisor skips the rule for them`
      expect(warnings({ rules: [key('a', ['ip:address', missing])] })).toEqual([text])
    }
    expect(warnings({ rules: [key('a', ['header:x']), key('b', ['header:y', 'jwt:z']), key('c', ['ip:address'])] })).toEqual([
      'rules[0].limit_keys[0]: requests without header:x share one bucket, and Fairvisor skips the rule for them (and in 2 more places)',
    ])
    const fallback_limit = key('f', ['header:x'])
    expect(warnings({ rules: [rule({ match: { 'ip:address': '::1' }, limit_keys: ['ip:address'] })], fallback_limit })).toEqual([
      expect.stringMatching(/^fallback_limit\.limit_keys\[0\]: requests without header:x share/),
    ])
    expect(warnings(rule({ limit_keys: ['header:x'] }))).toEqual([
      expect.stringMatching(/^limit_keys\[0\]: requests without header:x share/),
    ])
  })

  it('pathExact and the query', () => {
    const found = warnings(
      bundle({ p: { selector: { pathExact: '/v1' }, rules: [rule()] }, q: { selector: { pathExact: '/' }, rules: [rule({ name: 'b' })] } }),
    )
    expect(found).toEqual([
      'policies[0].spec.selector.pathExact matches with any query, and Fairvisor compares the query as well (and in 1 more place)',
    ])
  })

  it('HEAD, which is GET here', () => {
    const methods = (...list: string[]) => warnings(bundle({ p: { selector: { pathPrefix: '/', methods: list }, rules: [rule()] } }))
    expect(methods('POST', 'GET')).toEqual(['policies[0].spec.selector.methods: GET limits HEAD as well, and in Fairvisor it does not'])
    expect([methods('GET', 'HEAD'), methods('POST')]).toEqual([[], []])
  })

  it('a policy in shadow, which no longer ends the evaluation', () => {
    const text = 'the policies after it limit as well, and Fairvisor ends the evaluation at a policy in shadow'
    const shadow = { mode: 'shadow', rules: [rule()] }
    const enforced = { rules: [rule({ name: 'b' })] }
    expect(warnings(bundle({ a: shadow, b: enforced }))).toEqual([`policies[0].spec.mode: ${text}`])
    expect(warnings(bundle({ z: enforced, a: shadow }))).toEqual([`policies[1].spec.mode: ${text}`])
    expect([warnings(bundle({ a: enforced, b: shadow })), warnings(bundle({ a: shadow }))]).toEqual([[], []])
  })

  it('a cost_source whose header has capital letters', () => {
    const config = { rps: 1, burst: 10, max_cost: 10, cost_source: 'header:X-Weight' }
    expect(warnings(configured(config))).toEqual([
      'rules[0].algorithm_config.cost_source: header:X-Weight finds the header, and in Fairvisor, where its letters must be small, nothing',
    ])
  })

  it('a match that no limit_keys name', () => {
    expect(
      warnings({ rules: [key('a', ['ip:address'], { match: { 'ua:bot': 'true' } }), key('b', ['ip:address'], { match: {} })] }),
    ).toContain('rules[0].match["ua:bot"] is compared here, and Fairvisor never applies the rule: no limit_keys name ua:bot')
    const named = warnings({ rules: [key('a', ['header:X_Plan'], { match: { 'header:x-plan': 'pro' } })] })
    expect(named.filter((line) => line.includes('never applies'))).toEqual([])
  })

  it('a rule name in two policies', () => {
    expect(warnings(bundle({ p: { rules: [rule()] }, q: { rules: [rule()] } }))).toEqual([
      'policies[1].spec.rules[0].name is that of policies[0].spec.rules[0], and they count apart: in Fairvisor they share counters',
    ])
  })

  it('and none stops a bundle that is read strictly', () => {
    expect(read({ rules: [key('a', ['header:x'])] }, { strict: true }).warnings).toHaveLength(1)
  })
})

describe('U11: a rate of more than six decimals', () => {
  it.each([
    [0.0166667, 10, 166_667, 10_000_000],
    [0.1234567, 10, 1_234_567, 10_000_000],
    [1.23456789, 2, 123_456_789, 100_000_000],
    [1e-7, 1, 1, 10_000_000],
    [2.5e-8, 1, 25, 1_000_000_000],
  ])('%d at a burst of %d is exact', (rps, burst, tokens, seconds) => {
    const { envelope, warnings: found } = rateOf(rps, burst)
    expect(found).toEqual([])
    expect(BigInt(envelope.n) * BigInt(seconds)).toBe(BigInt(envelope.m) * BigInt(tokens))
  })

  it('is rounded down where the bucket cannot count that far, with a warning', () => {
    const { envelope, warnings: found } = rateOf(0.1234567890123, 100_000)
    expect(found).toEqual([
      expect.stringMatching(/rps has more decimals than a bucket of this burst can count: it is rounded down to 0\.12345\d*$/),
    ])
    const used = envelope.n / envelope.m
    expect(used).toBeLessThan(0.1234567890123)
    expect(used).toBeGreaterThanOrEqual(0.123456)
    expect(() => tokenBucket({ rate: '0.123456/s', burst: 100_000 })).not.toThrow()
  })

  it('never gives more than it says', () => {
    for (let index = 1; index < 200; index += 1) {
      const rps = Math.sin(index) ** 2 / 10 ** (index % 3)
      const { envelope } = rateOf(rps, 1_000)
      expect([rps, envelope.n / envelope.m <= rps * (1 + 1e-15)]).toEqual([rps, true])
      expect([rps, envelope.n / envelope.m >= rps - 1e-6]).toEqual([rps, true])
    }
  })
})

describe('U10: costs are never lost in silence', () => {
  const cost = (more: object = {}) => {
    const { engine } = bundleBench(bare({ rps: 1_000, burst: 1_000_000, cost_source: 'header:w', default_cost: 3, ...more }))
    return async (w: string | readonly string[]) => (await engine.explain(requestOf({ headers: { w } }))).rules[0]?.cost
  }

  it.each([
    ['33.333333333333336', 33.333334],
    ['1.0000000', 1],
    ['2.00000000000000000000001', 2.000001],
    ['7.9999999', 8],
    ['10, 20', 20],
    ['20,10', 20],
    ['x, 20', 20],
    ['1, x', 3],
    [['10', '20'], 20],
    [['10, 30', '20'], 30],
  ])('%j costs %d', async (text, charged) => {
    expect(await cost()(text)).toBe(charged)
  })

  it.each(['+40', '50.', '.5', 'NaN', '1e309', '0x10', '-4', '-4.5', '1e3', ''])(
    '%j costs the default, as docs/fairvisor.md says',
    async (text) => {
      expect(await cost()(text)).toBe(3)
    },
  )

  it('and stays within its bounds', async () => {
    const bounded = cost({ min_cost: 2, max_cost: 5 })
    expect([await bounded('4.9999999'), await bounded('5.0000001'), await bounded('0.0000001'), await bounded('1, 9')]).toEqual([
      5, 5, 2, 5,
    ])
  })
})
