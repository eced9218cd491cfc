import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { message, read, rule } from './bundle-texts.ts'
import { draws } from '../draws.ts'

describe('a rule', () => {
  it.each([
    [{ name: undefined }, 'rules[0].name is missing'],
    [{ name: '' }, 'rules[0].name is "": expected a text of 1 to 200 characters'],
    [{ name: 7 }, 'rules[0].name is 7: expected a text'],
    [{ name: 'x'.repeat(201) }, 'expected a text of 1 to 200 characters'],
    [{ name: '\ud800' }, 'expected a text of 1 to 200 characters'],
    [{ limit_keys: undefined }, 'rules[0].limit_keys is missing: expected a list of jwt:<name>'],
    [{ limit_keys: 'ip:address' }, 'rules[0].limit_keys is "ip:address": expected a list of'],
    [{ limit_keys: ['ip:addr'] }, 'rules[0].limit_keys[0] is "ip:addr": expected jwt:<name>'],
    [{ limit_keys: ['header:'] }, 'limit_keys[0] is "header:"'],
    [{ limit_keys: ['header:x y'] }, 'limit_keys[0] is "header:x y"'],
    [{ limit_keys: ['jwt:a.b'] }, 'limit_keys[0] is "jwt:a.b"'],
    [{ limit_keys: ['cookie:a'] }, 'limit_keys[0] is "cookie:a"'],
    [{ limit_keys: [5] }, 'limit_keys[0] is 5'],
    [{ algorithm: 'leaky' }, 'rules[0].algorithm is "leaky": expected token_bucket'],
    [{ algorithm: 5 }, 'rules[0].algorithm is 5: expected token_bucket'],
    [{ algorithm_config: undefined }, 'rules[0].algorithm_config is missing'],
    [{ algorithm_config: [] }, 'rules[0].algorithm_config is a list: expected a map'],
    [{ match: [] }, 'rules[0].match is a list: expected a map'],
    [{ match: { plan: 'x' } }, 'rules[0].match.plan is "plan": expected jwt:<name>'],
    [{ match: { 'jwt:plan': ['x'] } }, 'match["jwt:plan"] is a list: expected the text, number or truth value'],
  ])('with %j is refused', (more, text) => {
    expect(message({ rules: [rule(more)] })).toContain(text)
  })

  it.each([
    [{ burst: 10 }, 'algorithm_config has no rate: expected tokens_per_second or rps, a number above 0'],
    [{ tokens_per_second: 0, burst: 10 }, 'tokens_per_second is 0: expected a number above 0'],
    [{ tokens_per_second: -1, burst: 10 }, 'tokens_per_second is -1: expected a number above 0'],
    [{ rps: '5', burst: 10 }, 'rps is "5": expected a number above 0'],
    [
      { rps: 1e-400, burst: 10 },
      'rps is 0: expected a number above 0; more than six decimals are kept where the burst allows, else rounded down',
    ],
    [{ rps: 1e-9, burst: 10 }, 'the largest burst at this rate is 3'],
    [{ rps: 3.133581524376715e-8, burst: 1_000 }, 'the largest burst at this rate is'],
    [{ rps: 5 }, 'algorithm_config.burst is missing: expected a number above 0 with at most six decimals, at least the rate'],
    [{ rps: 5, burst: 0 }, 'burst is 0: expected a number above 0'],
    [{ rps: 5, burst: 0.5e-7 }, 'burst is 5e-8: expected a number above 0 with at most six decimals'],
    [{ tokens_per_second: 20, burst: 10 }, 'burst is 10: expected at least tokens_per_second, which is 20'],
    [{ rps: 10.000001, burst: 10 }, 'burst is 10: expected at least rps, which is 10.000001'],
    [{ rps: 5, burst: 10, cost_source: 'cookie:weight' }, 'cost_source is "cookie:weight": expected fixed, header:<name>, or query:<name>'],
    [{ rps: 5, burst: 10, cost_source: 'header:' }, 'cost_source is "header:": expected fixed'],
    [{ rps: 5, burst: 10, fixed_cost: 0 }, 'fixed_cost is 0: expected a number above 0'],
    [{ rps: 5, burst: 10, default_cost: -1 }, 'default_cost is -1: expected a number above 0'],
    [{ rps: 5, burst: 10, algorithm: 'cost_based' }, 'algorithm_config.algorithm is "cost_based": expected token_bucket'],
    [{ rps: 5, burst: 10, cost_source: 'query:n', min_cost: 5, max_cost: 2 }, 'expected min_cost 5 <= default_cost 1 <= max_cost 2'],
    [{ rps: 1, burst: 4e9 }, 'the largest burst at this rate is'],
  ])('with a configuration of %j is refused', (algorithm_config, text) => {
    expect(message({ rules: [rule({ algorithm_config })] })).toContain(text)
  })

  it.each([
    [{ rps: 15, burst: 15 }, 15],
    [{ tokens_per_second: 20, rps: 10, burst: 20 }, 20],
    [{ tokens_per_second: 0.000001, burst: 0.000001 }, 0.000001],
    [{ rps: 1e3, burst: 2e3 }, 1_000],
    [{ rps: 0.3333333333333333, burst: 1 }, 1 / 3],
    [{ rps: 1 / 60, burst: 1 }, 1 / 60],
    [{ rps: 1000 / 86_400, burst: 1 }, 1_000 / 86_400],
    [{ rps: 2.5, burst: 7.5, cost_source: 'header:X_Weight-1' }, 2.5],
    [{ rps: 2, burst: 7, cost_source: 'query:plan_tier' }, 2],
  ])('with a configuration of %j flows at %d a second', (algorithm_config, perSecond) => {
    const limit = read({ rules: [rule({ algorithm_config })] }).rules[0]?.tiers[0]?.limit
    const { n, m } = limit?.algorithm.envelope(limit.plan) ?? expect.fail('no limit')
    expect(n / m).toBeCloseTo(perSecond, 12)
  })

  it('finds a quotient again, exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 86_400 }), (tokens, seconds) => {
        const limit = read({ rules: [rule({ algorithm_config: { rps: tokens / seconds, burst: Math.ceil(tokens / seconds) } })] }).rules[0]
          ?.tiers[0]?.limit
        const { n, m } = limit?.algorithm.envelope(limit.plan) ?? expect.fail('no limit')
        // Micro-tokens per microsecond are tokens per second.
        expect(BigInt(n) * BigInt(seconds)).toBe(BigInt(m) * BigInt(tokens))
      }),
      { seed: 31, numRuns: draws(500, 30) },
    )
  })

  it('is warned of where its author probably meant something else', () => {
    const warned = (...rules: object[]): string[] =>
      read({ rules: rules.map((one, index) => rule({ name: `r${index}`, ...one })) }).warnings.map((line) =>
        line.replace(/^b\.json:1:\d+: /, ''),
      )
    expect(warned({ algorithm_config: { rps: 1, tokens_per_second: 2, burst: 2 } })).toEqual([
      'rules[0].algorithm_config: of tokens_per_second and rps the first is used',
    ])
    expect(warned({ algorithm_config: { rps: 1, burst: 2, fixed_cost: 3 } })).toEqual([
      'rules[0].algorithm_config: a cost of 3 is above the burst of 2: such requests are never admitted',
    ])
    expect(warned({ match: { 'header:x': '' } })).toContain('rules[0].match["header:x"] never holds: header:x is never ""')
    expect(warned({}, { match: { 'jwt:plan': 'x' } })).toContain(
      'rules[0]: r0 has no match and applies to requests of r1 as well; behind them it would be their else',
    )
    const fallback_limit = rule({ name: undefined, match: { 'jwt:plan': 'x' } })
    expect(read({ rules: [rule()], fallback_limit }).warnings.map((line) => line.replace(/^b\.json:1:\d+: /, ''))).toEqual([
      'fallback_limit.match is ignored: a fallback is for what no rule matches',
      'fallback_limit is never used: a rule without match leaves nothing over',
    ])
  })

  it('is read quickly, and its warnings are bounded, however many there are', () => {
    const many = Array.from({ length: draws(1_400, 300) }, (_, index) => ({
      name: `r${index}`,
      limit_keys: ['ip:address'],
      algorithm_config: { rps: '5', burst: 1 },
      ...(index % 2 === 0 ? { match: { 'jwt:a': 'b' } } : {}),
    }))
    expect(() => read({ rules: many })).toThrow('rps is "5"')
    const { warnings } = read({ rules: many.map((one) => ({ ...one, algorithm_config: { rps: 0.1234567890123, burst: 1 } })) })
    expect([warnings.length, warnings.at(-1)]).toEqual([101, 'b.json: there are more warnings'])
    expect(warnings.every((line) => line.length < 600)).toBe(true)
  })
})
