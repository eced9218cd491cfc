import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'

const read = (more: string): ReturnType<typeof parsePolicy> => parsePolicy(`version: 1\nrules: []\n${more}\n`)

describe('what a policy says in addition to its rules', () => {
  it.each([
    ['jwt: { secretFile: ./s }', { by: 'secret', file: './s', algorithms: ['HS256', 'HS384', 'HS512'], leewayMs: 0 }],
    [
      'jwt: { secretFile: s, algorithms: HS256, issuer: i, audience: a, leeway: 30s }',
      { algorithms: ['HS256'], issuer: 'i', audience: ['a'], leewayMs: 30_000 },
    ],
    [
      'jwt: { jwksFile: k.json, algorithms: [ES256, EdDSA], audience: [a, b] }',
      { by: 'jwks', file: 'k.json', algorithms: ['ES256', 'EdDSA'], audience: ['a', 'b'] },
    ],
    [
      'jwt: { jwksUrl: "https://id.example/.well-known/jwks.json?v=1", issuer: i }',
      { by: 'url', url: 'https://id.example/.well-known/jwks.json?v=1', issuer: 'i' },
    ],
    ['jwt: { jwksUrl: "http://127.0.0.1:9000/keys" }', { by: 'url', url: 'http://127.0.0.1:9000/keys' }],
    ['jwt: { jwksUrl: "http://[::1]:9000/keys" }', { by: 'url', url: 'http://[::1]:9000/keys' }],
    ['jwt: { verified: upstream }', { by: 'upstream' }],
  ])('%s', (text, expected) => {
    expect(read(text).jwt).toMatchObject(expected)
  })

  it('has pseudonyms, bounds of the deployment and no defaults that are not said', () => {
    expect(read('identifiers: { mode: hmac, secretFile: ./s }').identifiers).toEqual({ mode: 'hmac', secretFile: './s' })
    expect(read('identifiers: { mode: plain }').identifiers).toEqual({ mode: 'plain' })
    expect(read('failure: { processes: 3, outage: 2m }').failure).toEqual({
      deadlineMs: 50,
      defaultDeadline: true,
      policy: 'deny',
      processes: 3,
      outageMs: 120_000,
    })
    expect(read('failure: { breaker: { failures: 5, window: 1s, probe: 500ms } }').failure).toEqual({
      deadlineMs: 50,
      defaultDeadline: true,
      policy: 'deny',
      breaker: { failures: 5, windowMs: 1_000, probeMs: 500 },
    })
    expect(read('failure: { deadline: 50ms }').failure).toEqual({ deadlineMs: 50, policy: 'deny' })
    expect(read('failure: { breaker: {} }').failure.breaker).toEqual({})
    expect(Object.keys(read('')).sort()).toEqual(['boundOf', 'dialect', 'failure', 'hash', 'headers', 'rules', 'warnings'])
  })

  it('is the same in the template of Rate Limiting at Scale, sampled levels included', () => {
    const policy = parsePolicy(`
rate_limits:
  global: { capacity: 100, refill_rate: 10, sample: 5 }
  tenants:
    default: { capacity: 10, refill_rate: 1 }
store: redis://h
jwt: { verified: upstream }
identifiers: { mode: hmac, secretFile: ./s }
exempt: [{ path: /health }]
overrides: [{ rule: "tenant:default", key: [user-7, null], rate: 5/s, burst: 50 }]
`)
    expect(policy).toMatchObject({
      dialect: 'rate-limits',
      storeUrl: { scheme: 'redis' },
      jwt: { by: 'upstream' },
      identifiers: { mode: 'hmac' },
      exempt: [{ text: 'path /health' }],
      overrides: [{ rule: 'tenant:default', values: ['user-7', undefined], limit: { capacity: 50 } }],
      rules: [{ name: 'global', sample: 5 }, { name: 'tenant:default' }],
    })
    expect(() => parsePolicy('rate_limits:\n  global: { capacity: 4, refill_rate: 10, sample: 5 }\n')).toThrow(
      'sample of global: one request in 5 is charged 5 times up to 1, above the capacity 4',
    )
    expect(() =>
      parsePolicy('rate_limits:\n  global: { capacity: 40, refill_rate: 10, sample: 5 }\n  endpoints:\n    /a: { cost: 9 }\n'),
    ).toThrow('is charged 5 times up to 9, above the capacity 40')
  })
})
