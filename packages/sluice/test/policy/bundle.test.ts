import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import { config, message, read, refusal, rule } from './bundle-texts.ts'

const policy = (spec: object = {}, more: object = {}): object => ({
  id: 'p',
  spec: { selector: { pathPrefix: '/' }, rules: [rule()], ...spec },
  ...more,
})
const whole = (more: object = {}): object => ({ bundle_version: 1, policies: [policy()], ...more })
const namesOf = ({ rules }: Policy): string[] => rules.map(({ name }) => name)

describe("Fairvisor's Token Bucket is recognised by its shape", () => {
  const example = (name: string): string => readFileSync(new URL(`../fixtures/seed-001-${name}.json`, import.meta.url), 'utf8')

  it.each([
    ['a bare rule', rule(), ['a']],
    ['a bare list of rules', { rules: [rule(), rule({ name: 'b' })] }, ['a', 'b']],
    ['a bundle', whole(), ['p/a']],
    ['a bundle without policies', { bundle_version: 1, policies: [] }, []],
    ['the printed configuration', example('configuration'), ['default']],
    ['the printed variable cost', example('variable-cost'), ['default']],
    ['the printed rule', example('global'), ['global-rps']],
    ['the printed tiers', example('tiers'), ['enterprise', 'free']],
  ])('%s', (_, json, names) => {
    const found = read(json)
    expect(found).toMatchObject({ dialect: 'bundle', failure: { policy: 'allow' }, headers: { refusal: { field: 'X-Fairvisor-Reason' } } })
    expect(namesOf(found)).toEqual(names)
  })

  it('and the other dialects by theirs', () => {
    expect(parsePolicy('version: 1\nrules:\n  - { name: a, key: [], rate: 1/s, burst: 1 }').dialect).toBe('native')
    expect(parsePolicy('rate_limits:\n  global: { capacity: 1, refill_rate: 1 }').dialect).toBe('rate-limits')
    expect(message({ version: 1, rules: [{ name: 'a', limit_key: 'ip', config: {} }] })).toContain('rules[0].limit_key is unknown')
    expect(message({ rules: [{ action: 'rate_limit', params: { rate: 1, burst: 1 } }] })).toContain('rules[0].action is unknown')
  })

  it('also as YAML', () => {
    expect(
      namesOf(parsePolicy('name: a\nlimit_keys: []\nalgorithm: token_bucket\nalgorithm_config:\n  rps: 5 # each second\n  burst: 10\n')),
    ).toEqual(['a'])
  })
})

describe('a bundle', () => {
  it('says where requests come through and where states are kept, in addition to its own fields', () => {
    const found = read(whole({ store: 'memory:', trustedProxies: ['10.0.0.0/8'], issued_at: '2026-01-01T00:00:00Z' }))
    expect(found).toMatchObject({ store: 'memory:', warnings: [] })
    expect(read(whole({ jwt: { verified: 'upstream' }, identifiers: { mode: 'plain' } }))).toMatchObject({
      jwt: { by: 'upstream' },
      identifiers: { mode: 'plain' },
      warnings: [],
    })
    expect(found.trustedProxies?.source).toBe('x-forwarded-for')
    expect(read({ rules: [rule()], trustedProxies: ['loopback'] }).trustedProxies).toBeDefined()
  })

  it('is read in the order of policy ids, and within a policy in the order of its rules, the fallback last', () => {
    const rules = [rule({ name: 'z' }), rule({ name: 'y' })]
    const policies = [
      policy({ rules, fallback_limit: { limit_keys: [], algorithm: 'token_bucket', algorithm_config: config } }, { id: 'b' }),
      policy({}, { id: 'B' }),
      policy({}, { id: 'a' }),
    ]
    expect(namesOf(read({ bundle_version: 1.5, policies }))).toEqual(['B/a', 'a/a', 'b/z', 'b/y', 'b/fallback_limit'])
  })

  it('scopes names by policy, so that no two rules meet', () => {
    const policies = [
      policy({ rules: [rule({ name: 'b/c' })] }, { id: 'a' }),
      policy({ rules: [rule({ name: 'c' })] }, { id: 'a/b' }),
      policy({ rules: [rule({ name: 'per org: 5 #1 %' }), rule({ name: 'é' })] }, { id: 'x' }),
    ]
    expect(namesOf(read({ bundle_version: 1, policies }))).toEqual(['a/b%2Fc', 'a%2Fb/c', 'x/per%20org:%205%20%231%20%25', 'x/%C3%A9'])
  })

  it('has modes', () => {
    const modes = (mode: object): (string | undefined)[] => read(whole({ policies: [policy(mode)] })).rules.map((one) => one.mode)
    expect([modes({}), modes({ mode: 'enforce' }), modes({ mode: 'shadow' })]).toEqual([['enforce'], ['enforce'], ['shadow']])
    expect(message(whole({ policies: [policy({ mode: 'dry' })] }))).toContain('policies[0].spec.mode is "dry": expected enforce, shadow')
    expect(read({ rules: [rule()], mode: 'shadow' }).rules[0]?.mode).toBe('shadow')
  })

  it('warns of unknown fields, and refuses them where configured', () => {
    const json = {
      ...whole({ policies: [{ ...policy({ rules: [rule({ nmae: 1, algorithm_config: { ...config, brust: 1 } })] }), x: 1 }] }),
      comment: 'c',
    }
    expect(read(json).warnings.map((line) => line.replace(/^b\.json:1:\d+: | known are .*/g, ''))).toEqual([
      'comment is unknown and has no effect:',
      'policies[0].x is unknown and has no effect:',
      'policies[0].spec.rules[0].nmae is unknown and has no effect: did you mean name?',
      'policies[0].spec.rules[0].algorithm_config.brust is unknown and has no effect: did you mean burst?',
    ])
    const refused = refusal(json, { strict: true })
    expect(refused.issues.map(({ path }) => path).sort()).toEqual([
      'comment',
      'policies[0].spec.rules[0].algorithm_config.brust',
      'policies[0].spec.rules[0].nmae',
      'policies[0].x',
    ])
    expect(read(whole(), { strict: true }).warnings).toEqual([])
  })

  it('of two policies of one id uses the last, and warns', () => {
    const json = whole({ policies: [policy(), policy({ rules: [rule({ name: 'b' })] })] })
    const found = read(json)
    expect(namesOf(found)).toEqual(['p/b'])
    expect(found.warnings).toEqual([expect.stringContaining('policies[1].id is "p", and an earlier policy has it: the last one is used')])
    expect(message(json, { strict: true })).toContain('policies[1].id is "p"')
  })

  it('that has expired is refused', () => {
    const json = whole({ expires_at: '2026-01-31T00:00:00Z' })
    const at = Date.parse('2026-01-31T00:00:00Z')
    expect(namesOf(read(json, { now: at - 1 }))).toEqual(['p/a'])
    expect(message(json, { now: at })).toContain('expires_at is "2026-01-31T00:00:00Z": expected a time to come: the bundle has expired')
    expect(() => parsePolicy(JSON.stringify(whole({ expires_at: '2001-01-01T00:00:00Z' })))).toThrow('has expired')
  })

  it.each([
    [{ bundle_version: 0 }, 'bundle_version is 0: expected a number above 0'],
    [{ bundle_version: '1' }, 'bundle_version is "1": expected a number above 0'],
    [{ bundle_version: undefined }, 'bundle_version is missing'],
    [{ policies: undefined }, 'policies is missing: expected a list of policies'],
    [{ policies: {} }, 'policies is a map: expected a list of policies'],
    [{ policies: [1] }, 'policies[0] is 1: expected a map'],
    [{ issued_at: 'yesterday' }, 'issued_at is "yesterday": expected a time such as'],
    [{ expires_at: '2026-02-30T00:00:00Z' }, 'expires_at is "2026-02-30T00:00:00Z": expected a time such as'],
    [{ policies: [policy({}, { id: undefined })] }, 'policies[0].id is missing'],
    [{ policies: [policy({}, { id: '' })] }, 'policies[0].id is "": expected a text'],
    [{ policies: [policy({}, { spec: undefined })] }, 'policies[0].spec is missing'],
    [{ policies: [policy({ selector: undefined })] }, 'policies[0].spec.selector is missing'],
    [{ policies: [policy({ rules: undefined })] }, 'policies[0].spec.rules is missing: expected a list of rules'],
    [{ policies: [policy({ rules: {} })] }, 'policies[0].spec.rules is a map: expected a list of rules'],
    [{ policies: [policy({ fallback_limit: [] })] }, 'policies[0].spec.fallback_limit is a list: expected a map'],
    [
      { policies: [policy({ rules: [rule(), rule()] })] },
      'rules[1].name is "a": expected a name of its own, policies[0].spec.rules[0] has it',
    ],
    [{ store: 'http://u:secret@h' }, 'store is not the URL of a store'],
  ])('with %j is refused', (more, text) => {
    expect(message(whole(more))).toContain(text)
  })

  it('refuses by name what it does not carry out yet', () => {
    const override = { enabled: true, reason: 'r', expires_at: '2030-01-01T00:00:00Z' }
    const text = JSON.stringify(
      whole({
        kill_switches: [{ scope_key: 'ip:address' }],
        global_shadow: override,
        kill_switch_override: override,
        policies: [
          policy({
            loop_detection: { enabled: true },
            circuit_breaker: { spend_rate_threshold_per_minute: 5 },
            rules: [
              rule({ name: 'b', algorithm: 'cost_based' }),
              rule({ name: 'c', algorithm: 'token_bucket_llm' }),
              rule({ limit_keys: ['ip:country', 'ip:asn'] }),
            ],
          }),
        ],
      }),
      undefined,
      1,
    )
    expect(
      message(text)
        .split('\n')
        .map((line) => line.replace(/: expected .*/, '')),
    ).toEqual([
      'b.json:14:20: policies[0].spec.rules[0].algorithm cost_based is not yet supported',
      'b.json:23:20: policies[0].spec.rules[1].algorithm token_bucket_llm is not yet supported',
      'b.json:32:8: policies[0].spec.rules[2].limit_keys[0] ip:country is not yet supported',
      'b.json:33:8: policies[0].spec.rules[2].limit_keys[1] ip:asn is not yet supported',
      'b.json:42:23: policies[0].spec.loop_detection is not yet supported, and is a map',
      'b.json:45:24: policies[0].spec.circuit_breaker is not yet supported, and is a map',
      'b.json:51:19: kill_switches is not yet supported, and is a list',
      'b.json:56:19: global_shadow is not yet supported, and is a map',
      'b.json:61:26: kill_switch_override is not yet supported, and is a map',
    ])
    expect(refusal(text).issues[0]).toEqual({
      file: 'b.json',
      line: 14,
      column: 20,
      path: 'policies[0].spec.rules[0].algorithm',
      value: '"cost_based"',
      allowed: 'token_bucket',
      message: 'policies[0].spec.rules[0].algorithm cost_based is not yet supported: expected token_bucket',
    })
    expect(refusal(text).issues.every(({ value, allowed }) => value !== undefined && allowed !== undefined)).toBe(true)
  })

  it('accepts these sections where they do nothing', () => {
    const off = { enabled: false }
    const json = whole({
      kill_switches: [],
      global_shadow: off,
      kill_switch_override: off,
      policies: [policy({ loop_detection: off, circuit_breaker: {} })],
    })
    expect(read(json).warnings).toEqual([])
    expect(read(whole({ defaults: { a: 1 } })).warnings).toEqual([expect.stringContaining('defaults has no effect')])
  })

  it('with a signature is refused', () => {
    const signed = `${'A'.repeat(43)}=\n${JSON.stringify(whole())}`
    expect(message(signed)).toBe(
      'b.json:1:1: a signed bundle is not yet supported: expected the JSON alone, without the line of its signature',
    )
    expect(() => parsePolicy(signed)).toThrow('a signed bundle is not yet supported')
  })
})
