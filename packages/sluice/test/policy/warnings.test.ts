import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'

/** Returns the warnings of a rule with a burst of 20 and these fields, without file and line. */
function warningsOf(fields: string): string[] {
  const text = `version: 1\nrules:\n  - name: a\n    key: []\n    rate: 10/s\n    burst: 20\n${fields}`
  return parsePolicy(text).warnings.map((line) => line.replace(/^\S+ rules\[0\]\./, ''))
}

const template = (rest: string): readonly string[] =>
  parsePolicy(`rate_limits:\n  tenants: { default: { capacity: 20, refill_rate: 1 }, premium: { capacity: 90, refill_rate: 1 } }\n${rest}`)
    .warnings

describe('a length of time without a unit is warned of', () => {
  it.each([
    ['failure: { outage: 10 }', 'failure.outage: 10'],
    ['failure: { breaker: { window: 30, probe: 1s } }', 'failure.breaker.window: 30'],
    ['failure: { breaker: { probe: 5 } }', 'failure.breaker.probe: 5'],
    ['jwt: { secretFile: ./secret, leeway: 30 }', 'jwt.leeway: 30'],
  ])('%s', (section, place) => {
    const { warnings } = parsePolicy(`version: 1\n${section}\nrules: [{ name: a, key: [], rate: 1/s, burst: 1 }]`)
    expect(warnings).toEqual([expect.stringContaining(`${place} has no unit: write '`)])
  })

  it('but not one that is usually written in milliseconds', () => {
    const text = 'version: 1\nfailure: { deadline: 50, outage: 10s }\nrules: [{ name: a, key: [], rate: 1/s, burst: 1 }]'
    expect(parsePolicy(text).warnings).toEqual([])
  })
})

describe('U5: a cost above every burst is warned of', () => {
  const refusal = 'such a request is never admitted and gets no Retry-After; a max of 20 prevents it'

  it.each([
    ['{ from: header:w, max: 100 }', [`cost.max: a client may send a cost above every burst of this rule (20): ${refusal}`]],
    ['{ from: query:w }', [`cost: without max a client may send a cost above every burst of this rule (20): ${refusal}`]],
    ['{ from: header:w, max: 20 }', []],
    [
      '{ from: header:w, default: 30, max: 30 }',
      [
        'cost.default: a cost of 30 is above every burst of this rule (20): such requests are never admitted',
        `cost.max: a client may send a cost above every burst of this rule (20): ${refusal}`,
      ],
    ],
    [
      '{ endpoints: { /a: 5, /b: 21 } }',
      ['cost.endpoints["/b"]: a cost of 21 is above every burst of this rule (20): such requests are never admitted'],
    ],
    ['21', ['cost: a cost of 21 is above every burst of this rule (20): such requests are never admitted']],
  ])('%s', (cost, warnings) => {
    expect(warningsOf(`    cost: ${cost}\n`)).toEqual(warnings)
  })

  it('a cost that only some tiers admit', () => {
    expect(warningsOf('    cost: 25\n    tiers: [{ when: { header:t: b }, rate: 1/s, burst: 30 }]\n')).toEqual([
      'cost: a cost of 25 is above a burst of this rule (20): such requests are never admitted',
    ])
    expect(warningsOf('    cost: { from: header:w, max: 25 }\n    tiers: [{ when: { header:t: b }, rate: 1/s, burst: 30 }]\n')).toEqual([])
  })

  it.each([
    ['rate: 1/s, burst: 0.5', 0.5],
    ['algorithm: sliding-window-counter, limit: 0.5, window: 1m', 0.5],
    ['algorithm: sliding-window-log, limit: 0.999999, window: 1m', 0.999999],
    ['algorithm: concurrency, limit: 0.5, hold: 30s', 0.5],
  ])('the default cost of 1, above the limit: %s', (limit, burst) => {
    expect(parsePolicy(`version: 1\nrules: [{ name: a, key: [], ${limit} }]`).warnings).toEqual([
      `policy.yaml:2:9: rules[0]: a cost of 1, the default, is above every burst of this rule (${burst}): such requests are never admitted`,
    ])
    expect(parsePolicy(`version: 1\nrules: [{ name: a, key: [], cost: 0.5, ${limit} }]`).warnings).toEqual([])
  })

  it('an endpoint of the template whose cost another level never admits', () => {
    const found = template('  endpoints: { /big: { cost: 50 }, /small: { cost: 5 } }\ntrustedProxies: [loopback]\n')
    expect(found).toEqual([
      expect.stringMatching(/\/big.*: a cost of 50 is above the capacity of tenant:default: such requests are never admitted there$/),
    ])
  })

  it('explain says that such a request can never pass', async () => {
    const policy = parsePolicy(`version: 1
rules: [{ name: a, key: [], rate: 10/s, burst: 20, cost: { from: header:w, max: 100 } }]`)
    const engine = createEngine({ policy, store: memoryStore() })
    const explained = async (w: string) => (await engine.explain({ method: 'GET', path: '/', headers: { w } })).rules[0]
    expect(await explained('25')).toMatchObject({ cost: 25, impossible: true })
    expect(await explained('20')).not.toHaveProperty('impossible')
    expect(await engine.decide({ method: 'GET', path: '/', headers: { w: '25' } })).toMatchObject({
      outcome: 'impossible',
      reason: 'capacity',
    })
  })
})

describe('U5: a tier that no request reaches is warned of', () => {
  const unused = 'this tier is never used: '

  it.each([
    [
      '{ when: { header:a: x }, %l }, { when: { header:a: x, header:b: y }, %l }',
      'each request that it matches gets the earlier tier header:a=x',
    ],
    [
      '{ when: { header:a: [x, y] }, %l }, { when: { header:a: y }, %l }',
      'each request that it matches gets the earlier tier header:a=x or y',
    ],
    [
      '{ when: { ip:address: 10.0.0.0/8 }, %l }, { when: { ip:address: 10.0.0.0/8 }, %l }',
      'each request that it matches gets the earlier tier ip:address=10.0.0.0/8',
    ],
  ])('%s', (tiers, why) => {
    const list = tiers.replaceAll('%l', 'rate: 1/s, burst: 1')
    expect(warningsOf(`    tiers: [${list}]\n`)).toEqual([`tiers[1]: ${unused}${why}`])
  })

  it('a tier of a method that the rule does not match', () => {
    const tiers =
      '    match: { method: [GET, PUT] }\n    tiers: [{ when: { "method:": POST }, rate: 1/s, burst: 1 }, { when: { "method:": PUT }, rate: 1/s, burst: 1 }]\n'
    expect(warningsOf(tiers)).toEqual([`tiers[0]: ${unused}the match of its rule excludes its method`])
  })

  it.each([
    ['HEAD', 'HEAD'],
    ['HEAD', 'GET'],
    ['GET', 'HEAD'],
  ])('not a rule for %s with a tier for %s, because a tier sees HEAD as GET', (method, when) => {
    const tiers = `tiers: [{ when: { "method:": ${when} }, rate: 1/s, burst: 1 }]`
    expect(warningsOf(`    match: { method: ${method} }\n    ${tiers}\n`)).toEqual([])
  })

  it.each([
    '{ when: { header:a: x }, %l }, { when: { header:a: y }, %l }',
    '{ when: { header:a: x }, %l }, { when: { header:b: x }, %l }',
    '{ when: { header:a: x, header:b: y }, %l }, { when: { header:a: x }, %l }',
    '{ when: { header:a: x }, %l }, { when: { header:a: [x, y] }, %l }',
  ])('not %s', (tiers) => {
    expect(warningsOf(`    tiers: [${tiers.replaceAll('%l', 'rate: 1/s, burst: 1')}]\n`)).toEqual([])
  })

  it('a tenant of the template that nothing names', () => {
    const what = expect.stringMatching(
      /tenants\.premium: no request reaches this tenant: identity\.tiers does not name it, and the policy has neither jwt nor trustedProxies$/,
    )
    expect(template('')).toEqual([what])
    expect(template('identity: { header: x-api-key, tiers: { partner: default } }\n')).toEqual([what])
    expect(template('identity: { header: x-api-key, tiers: { partner: premium } }\n')).toEqual([])
    expect(template('trustedProxies: [loopback]\n')).toEqual([])
    expect(template('jwt: { verified: upstream }\n')).toEqual([])
  })
})

describe('an override that changes nothing, or admits nothing, is warned of', () => {
  const now = Date.parse('2026-07-01T00:00:00Z')
  const LIST = (fields: string): string => `overrides: [{ rule: R, key: k, rate: 1/s, burst: 9, ${fields} }]\n`
  const NATIVE = 'version: 1\nrules: [{ name: R, key: [header:x], rate: 1/s, burst: 20, cost: 5 }]\n'
  const warned = (text: string): readonly string[] => parsePolicy(text, { now }).warnings
  const past = (until: string): string => `${until} is past: this override has ended and changes nothing`

  it.each(['2026-06-30T23:59:59Z', '2026-07-01T00:00:00Z', '2026-07-01T01:00:00+01:00'])('ended: %s', (until) => {
    expect(warned(NATIVE + LIST(`until: ${until}`))).toEqual([`policy.yaml:3:60: overrides[0].until: ${past(until)}`])
  })

  it('not one that ends later', () => expect(warned(NATIVE + LIST('until: 2026-07-01T00:00:01Z'))).toEqual([]))

  it('ended, in the other dialects', () => {
    const bucket = 'rate_limits: { global: { capacity: 9, refill_rate: 1 } }\n'
    const ended = 'overrides: [{ rule: R, key: [], rate: 1/s, burst: 9, until: 2026-01-01T00:00:00Z }]\n'
    expect(warned(bucket + ended.replace('R', 'global'))).toEqual([expect.stringContaining(past('2026-01-01T00:00:00Z'))])
    const rule = { name: 'R', limit_keys: [], algorithm: 'token_bucket', algorithm_config: { rps: 1, burst: 9 } }
    expect(warned(`rules: [${JSON.stringify(rule)}]\n${ended}`)).toEqual([expect.stringContaining(past('2026-01-01T00:00:00Z'))])
  })

  it.each([
    ['cost: 5', 4, "the rule's cost of 5 is above the limit of this override (4): such requests are never admitted"],
    [
      'cost: 5, sample: 3',
      4,
      "the rule's cost of 5 is above the limit of this override (4): those of them that are counted, one in 3, are never admitted",
    ],
    [
      'cost: 2, sample: 3',
      4,
      'one request in 3 would be charged 6, above the limit of this override (4): it is charged 4, so this key may get more than the limit',
    ],
  ])('%s, with a limit of %d', (cost, burst, warning) => {
    const text = NATIVE.replace('burst: 20', 'burst: 60').replace('cost: 5', cost) + LIST('').replace('burst: 9', `burst: ${burst}`)
    expect(warned(text)).toEqual([`policy.yaml:3:13: overrides[0]: ${warning}`])
  })

  it.each([
    ['cost: 5', 5],
    ['cost: 2, sample: 3', 6],
  ])('not %s with a limit of %d', (cost, burst) => {
    expect(warned(NATIVE.replace('cost: 5', cost) + LIST('').replace('burst: 9', `burst: ${burst}`))).toEqual([])
  })

  it('admits the counted request of a sampled rule if its cost is within the limit', async () => {
    const policy = parsePolicy(NATIVE.replace('cost: 5', 'cost: 2, sample: 3') + LIST('').replace('burst: 9', 'burst: 4'), { now })
    const engine = createEngine({ policy, store: memoryStore(), random: () => 0 })
    const decision = await engine.decide({ method: 'GET', path: '/', headers: { x: 'k' } })
    expect(decision).toMatchObject({ outcome: 'allowed', probabilistic: true, limits: [{ limit: 4, remaining: 0 }] })
  })
})
