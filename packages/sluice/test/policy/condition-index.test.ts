import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRequest, type Request, type RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { indexByCondition } from '../../src/policy/model/condition-index.ts'
import { indexRules, mismatch } from '../../src/policy/model/match.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { allHold, type Rule, type Tier } from '../../src/policy/model/rule.ts'
import { finish } from '../../src/policy/model/sliced.ts'
import { draws } from '../draws.ts'

const request = (facts: Partial<RequestFacts>): Request =>
  readRequest({ method: 'GET', path: '/', headers: {}, ip: '192.0.2.1', ...facts }, facts.claims, trustProxies([]))

describe('things that are found by their conditions', () => {
  it('are all that may hold, in their order, whatever the conditions and the request are', () => {
    const value = fc.constantFrom('a', 'b', '[a, b]')
    const source = fc.constantFrom('"header:x"', '"header:y"', '"query:q"', '"path:"', '"ip:address"')
    const text = (name: string, given: string): string => (name === '"ip:address"' ? '192.0.2.0/24' : name === '"path:"' ? '/a' : given)
    const when = fc
      .array(fc.tuple(source, value), { maxLength: 2 })
      .map((conditions) => [...new Map(conditions)].map(([name, given]) => `${name}: ${text(name, given)}`).join(', '))
    const header = fc.constantFrom(undefined, 'a', 'b', ['a', 'b'], ['a', 'a'])
    const requestFacts = fc.record({
      x: header,
      y: header,
      q: fc.constantFrom('', '?q=a', '?q=b', '?q=a&q=b', '?q=b;q=a'),
      ip: fc.constantFrom('192.0.2.1', '10.0.0.1'),
      path: fc.constantFrom('/a', '/b', '/a%2fb', '/%61/..;/a'),
    })
    fc.assert(
      fc.property(
        fc.array(when, { minLength: 8, maxLength: 20 }),
        fc.array(requestFacts, { minLength: 1, maxLength: 4 }),
        (whens, requests) => {
          const tiers = whens.map((one, index) => `{ when: { ${one} }, rate: 1/s, burst: ${index + 1} }`).join(', ')
          const [rule] = parsePolicy(`version: 1\nrules: [{ name: a, key: [], tiers: [${tiers}] }]\n`).rules as [Rule]
          const find = finish(indexByCondition(rule.tiers, (tier) => tier.when))
          for (const { x, y, q, ip, path } of requests) {
            const one = request({ path: path + q, ip, headers: { ...(x === undefined ? {} : { x }), ...(y === undefined ? {} : { y }) } })
            const may = (tier: Tier): boolean => allHold(tier.when, one) !== false
            expect(find(one).filter(may)).toEqual(rule.tiers.filter(may))
          }
        },
      ),
      { seed: 20_261_122, numRuns: draws(200, 40) },
    )
  })
})

describe('R13: a policy of many tenants', () => {
  const tenants = Array.from({ length: 1_000 }, (_, index) => `    t${index}: { capacity: 9, refill_rate: 3 }`)
  const { rules } = parsePolicy(
    [
      'rate_limits:',
      '  global: { capacity: 9, refill_rate: 3 }',
      '  endpoints:',
      '    /a: { capacity: 9, refill_rate: 3, cost: 2 }',
      '  tenants:',
      ...tenants,
    ].join('\n'),
  )

  it('finds the rules of a request without comparing each of them', () => {
    let reads = 0
    for (const source of new Set(rules.flatMap(({ match }) => match.when.map((condition) => condition.source)))) {
      const { read } = source
      Object.assign(source, {
        read: (requestFacts: Request) => {
          reads += 1
          return read(requestFacts)
        },
      })
    }
    const find = finish(indexRules(rules))
    for (const plan of ['t0', 't7', 't999', 'none']) {
      const one = request({ path: '/a', claims: { plan, tier: plan, tenant_tier: plan } })
      const expected = rules.filter(({ match }) => mismatch(match, one) === undefined)
      reads = 0
      expect(find(one)).toEqual(expected)
      expect(reads).toBeGreaterThan(0)
      expect(reads).toBeLessThan(10)
    }
    expect(find(request({ path: '/a', claims: { plan: 't7' } })).map(({ name }) => name)).toContain('tenant:t7')
  })
})
